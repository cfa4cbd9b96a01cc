import { chmod, link, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { change } from '../../src/patch/change.ts';
import { miniServer } from '../support/mini-engine.ts';
import { agree, contentHash, miniScene, session, snapshot, type TestScene } from '../support/patch-scene.ts';
import { isFull } from '../support/full.ts';

/** A web_server.py as it may lie on a disk: any line end, mark, end of file, and somebody's own lines. */
const serverBytes = fc
  .record({
    eol: fc.constantFrom('\n', '\r\n', 'mixed'),
    bom: fc.boolean(),
    final: fc.boolean(),
    top: fc.constantFrom('', '# -*- coding: utf-8 -*-\n', 'X = "é — 日本 🜁"\n'),
    above: fc.constantFrom('', '\n\n\n', '# note of mine\n'),
    comment: fc.constantFrom('', '  # noqa', ' # hermes', '  \t'),
    tail: fc.constantFrom(
      '',
      '\n\n',
      'Y = """\nmount_spa(app)\n"""\n',
      'if __name__ == "__main__":\n    start_server()\n',
    ),
  })
  .map((shape) => {
    const text = `${shape.top}${miniServer}${shape.tail}`
      .replace('# Mount plugin', `${shape.above}# Mount plugin`)
      .replace('ENABLED = embedded_chat\n', `ENABLED = embedded_chat${shape.comment}\n`)
      .replace('\n_mount_plugin_api_routes()\n', `\n_mount_plugin_api_routes()${shape.comment}\n`);
    const lines = text.split('\n');
    const eolOf = (index: number): string =>
      shape.eol === 'mixed' ? (index % 3 === 0 ? '\r\n' : '\n') : shape.eol;
    const joined = lines
      .map((line, index) => (index === lines.length - 1 ? line : line + eolOf(index)))
      .join('');
    const ended = shape.final ? joined : joined.replace(/[\r\n]+$/, '');
    return Buffer.from((shape.bom ? '\uFEFF' : '') + ended, 'utf8');
  });

/** Lines of somebody else, far from ours. */
const foreign = fc.constantFrom('', '# somebody was here\n', 'Z = 1\n');

const config = fc.constantFrom(
  null,
  '',
  '# c\nmodel: x\n',
  'plugins:\n  enabled: [a, b] # keep\nz: 1',
  '\uFEFFmodel: x\r\nplugins:\r\n   disabled: []\r\n',
  'plugins:\n  enabled:\n  - "a"\n  - b # two\n\n# end\n',
);

const place = fc.record({
  carrier: fc.constantFrom('overlay' as const, 'source' as const),
  patches: fc.constantFrom(
    ['embedded-chat'],
    ['model-library'],
    ['embedded-chat', 'model-library'],
    ['model-library', 'embedded-chat'],
  ),
  mode: fc.constantFrom(0o644, 0o600, 0o755, 0o664, 0o440),
  kind: fc.constantFrom('plain', 'symlink', 'hard link'),
});

interface Shape {
  bytes: Buffer;
  config: string | null;
  place: { carrier: 'overlay' | 'source'; patches: readonly string[]; mode: number; kind: string };
  before: string;
  after: string;
}

async function build({
  bytes,
  config: text,
  place: { mode, kind },
  before,
}: Shape): Promise<{ scene: TestScene; server: string; other: string }> {
  const scene = await miniScene(Buffer.concat([bytes, Buffer.from(before === '' ? '' : `\n${before}`)]));
  // Compiling is tried elsewhere, on real Pythons.
  scene.install.interpreter = { path: '/bin/true', version: null };
  const server = join(scene.install.packageDir, 'web_server.py');
  const other = join(scene.folder, 'site-packages', 'other.py');
  await chmod(server, mode);
  if (kind === 'symlink') {
    await rename(server, other);
    await symlink('../other.py', server);
  }
  if (kind === 'hard link') await link(server, other);
  if (text !== null) await writeFile(join(scene.home.path, 'config.yaml'), text, { mode: 0o640 });
  return { scene, server, other };
}

describe('on the disk', () => {
  test(
    'apply twice is apply once; revert gives every byte, mode, link and foreign line back',
    { timeout: 300_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.record({ bytes: serverBytes, config, place, before: foreign, after: foreign }),
          async (shape) => {
            const { scene, server, other } = await build(shape);
            try {
              const { carrier, kind } = shape.place;
              const patches = [...shape.place.patches];
              const original = await snapshot(scene.folder);
              const old = await readFile(server);
              const linked = kind === 'hard link' ? await readFile(other) : null;
              await change(await session(scene), agree({ patches, carrier }));
              const once = await snapshot(scene.folder);
              expect(once).not.toEqual(original);
              expect((await change(await session(scene), agree({ patches, carrier }))).changed).toBe(false);
              expect(await snapshot(scene.folder)).toEqual(once);
              if (linked !== null) expect(await readFile(other)).toEqual(linked);
              // Somebody edits the file elsewhere; that stays.
              if (shape.after !== '') {
                const { mode } = await stat(server);
                await writeFile(
                  server,
                  Buffer.concat([await readFile(server), Buffer.from(`\n${shape.after}`)]),
                );
                await chmod(server, mode & 0o7777);
              }
              await change(await session(scene), agree({ do: 'revert' }));
              const back = await snapshot(scene.folder, ['desktop-compat']);
              const wanted = withTail(original, shape, old);
              expect(back).toEqual(wanted);
            } finally {
              await scene.remove();
            }
          },
        ),
        { numRuns: isFull ? 400 : 25 },
      );
    },
  );
});

/** The original with what somebody wrote at its end after we had applied. */
function withTail(original: Record<string, string>, shape: Shape, old: Buffer): Record<string, string> {
  const { after, place } = shape;
  if (after === '') return original;
  const server = 'site-packages/hermes_cli/web_server.py';
  const other = 'site-packages/other.py';
  const path = place.kind === 'symlink' ? other : server;
  const [mode = ''] = (original[path] ?? '').split(' ');
  const changed = `${mode} ${contentHash(Buffer.concat([old, Buffer.from(`\n${after}`)]))}`;
  // Without an edit of ours in between the two names are still one file.
  const both = place.kind === 'hard link' && place.carrier === 'overlay';
  return { ...original, [path]: changed, ...(both ? { [other]: changed } : {}) };
}
