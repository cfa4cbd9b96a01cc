import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { change, planNow } from '../../src/patch/change.ts';
import { purge } from '../../src/patch/purge.ts';
import { statusOf } from '../../src/patch/status.ts';
import { readWorld } from '../../src/patch/world.ts';
import { requireEngines } from '../support/engine-install.ts';
import {
  agree,
  options,
  session,
  snapshot,
  type TestScene,
  times,
  unpackedScene,
} from '../support/patch-scene.ts';

const scenes: TestScene[] = [];
const scene = async (...given: Parameters<typeof unpackedScene>): Promise<TestScene> => {
  const made = await unpackedScene(...given);
  scenes.push(made);
  return made;
};
afterEach(async () => {
  for (const each of scenes.splice(0)) await each.remove();
});

const states = async (of: TestScene) => {
  const run = await session(of);
  const status = await statusOf(await readWorld(run.host, of, run.catalogue), run.catalogue);
  return Object.fromEntries(
    status.patches.map(({ id, state, carrier, effective }) => [
      id,
      `${state} ${carrier ?? '-'} ${effective}`,
    ]),
  );
};

describe.each(['0.14.0', '0.19.0', '0.22.2.post1'])('%s, unpacked', (version) => {
  const chat = version === '0.14.0';

  test.each(['overlay', 'source'] as const)(
    '%s: applied once, status by bytes, reverted to the byte',
    async (carrier) => {
      await requireEngines(version);
      const here = await scene(version);
      const before = await snapshot(here.folder);
      const run = await session(here);
      const first = await change(run, agree({ carrier }));
      expect(first.changed).toBe(true);
      expect(await states(here)).toEqual({
        'embedded-chat': chat ? `applied ${carrier} yes` : 'not-needed - unknown',
        'model-library': `applied ${carrier} yes`,
      });
      const applied = await snapshot(here.folder);
      const at = await times(here.folder);
      const again = await change(run, agree({ carrier }));
      expect(again.changed).toBe(false);
      expect(await times(here.folder)).toEqual(at);
      expect(await snapshot(here.folder)).toEqual(applied);
      await change(run, agree({ do: 'revert' }));
      expect(await snapshot(here.folder, ['desktop-compat'])).toEqual(before);
      await purge(run);
      expect(await snapshot(here.folder)).toEqual(before);
    },
  );

  test('the plan names every file with its hashes, and writes nothing', async () => {
    await requireEngines(version);
    const here = await scene(version);
    const before = await snapshot(here.folder);
    const { plan } = await planNow(await session(here), options({ carrier: 'source' }));
    const files = plan.document.files.map(
      ({ path, action }) => `${action} ${path.slice(here.folder.length + 1)}`,
    );
    expect(files).toEqual([
      'write site-packages/hermes_cli/hermes_compat_model_library.py',
      'write site-packages/hermes_cli/web_server.py',
    ]);
    expect(plan.document.steps.map(({ patch }) => patch)).toEqual([
      ...(chat ? ['embedded-chat'] : []),
      'model-library',
      'model-library',
    ]);
    expect(plan.document.refusals).toEqual([]);
    expect(await snapshot(here.folder)).toEqual(before);
  });
});

test('0.14.0: the source edit is one line and one block', async () => {
  await requireEngines('0.14.0');
  const here = await scene('0.14.0');
  const server = join(here.install.packageDir, 'web_server.py');
  const before = (await readFile(server, 'utf8')).split('\n');
  await change(await session(here), agree({ carrier: 'source' }));
  const after = (await readFile(server, 'utf8')).split('\n');
  const hidden = (line: string): string =>
    line.replace(/[0-9a-f]{64}/, '<sha256>').replace(/:[0-9a-f]{8}$/, ':<hash>');
  expect(after.filter((line) => !before.includes(line)).map(hidden)).toEqual([
    '# >>> hermes-compat model-library r1:<hash>',
    '# Adds /api/model/library from hermes_compat_model_library.py (sha256 <sha256>).',
    '# To take it out: hermes-compat patch revert model-library',
    '    from hermes_cli import hermes_compat_model_library as _hermes_compat_model_library',
    '    _hermes_compat_model_library.install(app)',
    'except Exception as _hermes_compat_error:',
    '    import logging as _hermes_compat_logging',
    '    _hermes_compat_logging.getLogger("hermes-compat").warning("model-library: %s", _hermes_compat_error)',
    '# <<< hermes-compat model-library',
    '    _DASHBOARD_EMBEDDED_CHAT_ENABLED = embedded_chat or host in ("127.0.0.1", "localhost", "::1")  # hermes-compat embedded-chat r1:<hash>',
  ]);
});

test.each([
  ['a tab where its YAML takes none', 'plugins:\t\n  enabled: [a]\n'],
  ['a character that YAML does not have', 'model: x\0\n'],
])('a configuration that the engine cannot read is refused, and named (%s)', async (_what, text) => {
  await requireEngines('0.19.0');
  const here = await scene('0.19.0');
  const path = join(here.home.path, 'config.yaml');
  await writeFile(path, text);
  const before = await snapshot(here.folder);
  await expect(change(await session(here), agree({ patches: ['model-library'] }))).rejects.toMatchObject({
    kind: 'refused',
    message: expect.stringMatching(/the engine cannot read .*config\.yaml as it is: .*(character|special)/),
    details: { finding: 'OVERLAY_NOT_LOADED' },
  });
  expect(await snapshot(here.folder)).toEqual(before);
});
