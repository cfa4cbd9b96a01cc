import { execFile } from 'node:child_process';
import { appendFile, mkdir, readFile, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { CompatError } from '../../src/errors.ts';
import { FileError } from '../../src/host/types.ts';
import { installHook } from '../../src/lifecycle/hooks/install.ts';
import { hookKind, hookState } from '../../src/lifecycle/hooks/kinds.ts';
import { readHooks } from '../../src/lifecycle/hooks/records.ts';
import { removeHook } from '../../src/lifecycle/hooks/remove.ts';
import type { HookPlace, HookState } from '../../src/lifecycle/hooks/types.ts';
import { faultHost } from '../support/fault-host.mjs';
import type { GitTree } from '../support/git-tree.ts';
import { hookPlace } from '../support/hook-place.ts';
import { snapshot } from '../support/patch-scene.ts';

// Hooks that somebody changed, and disks that take no hook.

const run = promisify(execFile);
const trees: GitTree[] = [];
const mounts: string[] = [];
afterEach(async () => {
  for (const mount of mounts.splice(0)) await run('umount', [mount]);
  for (const tree of trees.splice(0)) await tree.remove();
});
const placed: typeof hookPlace = async () => {
  const made = await hookPlace();
  trees.push(made.tree);
  return made;
};

const at = '2026-11-30T12:00:00.000Z';
const foreign = { kind: 'refused', details: { finding: 'FOREIGN_EDITS' } };

async function stateOf(place: HookPlace): Promise<HookState | null> {
  const [record] = await readHooks(place.host, place.home.root);
  return record === undefined ? null : hookState(place, record);
}

describe('remove, where somebody changed the hook, says so and changes nothing', () => {
  test.each([
    ['another time', (text: string) => text.replace('*/5', '*/10')],
    ['switched off', (text: string) => text.replace('*/5', '#*/5')],
    ['its comment taken out', (text: string) => text.replace(/# hermes-compat.*\n\*\/5/, '*/9')],
  ])('cron: %s', async (_what, edit) => {
    const { tree, place } = await placed();
    const table = join(tree.folder, 'table');
    await writeFile(table, 'A=1\n');
    await installHook(place, 'cron', at);
    const changed = edit(await readFile(table, 'utf8'));
    await writeFile(table, changed);
    expect(await stateOf(place)).toBe('changed');
    await expect(removeHook(place, 'cron')).rejects.toMatchObject({
      ...foreign,
      message: expect.stringContaining('crontab -e'),
    });
    // An install would take it away first.
    await expect(installHook(place, 'cron', at)).rejects.toMatchObject(foreign);
    expect(await readFile(table, 'utf8')).toBe(changed);
    expect(await stateOf(place)).toBe('changed');
    await writeFile(table, 'A=1\n');
    expect(await removeHook(place, 'cron')).toBe(true);
    expect(await readHooks(place.host, tree.home)).toEqual([]);
  });

  test('git: a line more', async () => {
    const { tree, place } = await placed();
    const hook = join(tree.root, '.git/hooks/post-merge');
    await installHook(place, 'git', at);
    await appendFile(hook, 'echo mine\n');
    await expect(removeHook(place, 'git')).rejects.toMatchObject({
      ...foreign,
      message: expect.stringContaining(hook),
    });
    expect(await readFile(hook, 'utf8')).toContain('echo mine');
    expect(await stateOf(place)).toBe('changed');
    await unlink(hook);
    expect(await removeHook(place, 'git')).toBe(true);
  });

  test('git: of two that were there, the one that is kept decides', async () => {
    const { tree, place } = await placed();
    const hook = join(tree.root, '.git/hooks/post-merge');
    const moved = `${hook}.before-hermes-compat`;
    const install = async (): Promise<void> => {
      await writeFile(hook, '#!/bin/sh\n', { mode: 0o755 });
      await installHook(place, 'git', at);
      await appendFile(hook, 'echo mine\n');
      await expect(removeHook(place, 'git')).rejects.toMatchObject(foreign);
    };
    await install();
    await rename(moved, hook);
    expect(await removeHook(place, 'git')).toBe(true);
    expect(await readFile(hook, 'utf8')).toBe('#!/bin/sh\n');
    await install();
    await rm(moved);
    // It still runs the re-check.
    await expect(removeHook(place, 'git')).rejects.toMatchObject(foreign);
    expect(await readFile(hook, 'utf8')).toContain('hook run');
  });
});

test('git: a core.hooksPath that was set since takes the hook out of effect; it can be removed', async () => {
  const { tree, place } = await placed();
  const hooks = join(tree.root, '.git/hooks');
  const before = await snapshot(hooks);
  await installHook(place, 'git', at);
  expect(await stateOf(place)).toBe('installed');
  for (const elsewhere of [join(tree.folder, 'shared'), '.githooks']) {
    tree.git('config', 'core.hooksPath', elsewhere);
    expect(await stateOf(place)).toBe('gone');
    expect(await hookKind('git').problem(place)).toContain('core.hooksPath');
  }
  expect(await removeHook(place, 'git')).toBe(true);
  expect(await snapshot(hooks)).toEqual(before);
});

describe('a disk that takes no hook', () => {
  test.runIf(process.getuid?.() === 0)('read-only tree: refused, nothing is recorded', async () => {
    const { tree, place } = await placed();
    const before = await snapshot(tree.home, ['.git', 'venv']);
    await run('mount', ['--bind', tree.root, tree.root]);
    mounts.push(tree.root);
    await run('mount', ['-o', 'remount,ro,bind', tree.root]);
    await expect(installHook(place, 'git', at)).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringMatching(/hook git could not be installed: .*read-only.*everything is as it was/),
      details: { finding: 'READ_ONLY_FS' },
    });
    expect(await snapshot(tree.home, ['.git', 'venv'])).toEqual(before);
  });

  test(
    'fails at each step, for once or for good: as it was, or told and taken back',
    { timeout: 240_000 },
    async () => {
      const { tree, place } = await placed();
      const hooks = join(tree.root, '.git/hooks');
      await writeFile(join(hooks, 'post-merge'), '#!/bin/sh\n', { mode: 0o755 });
      await mkdir(join(tree.home, 'desktop-compat'), { mode: 0o700 });
      const all = async () => [await snapshot(hooks), await snapshot(join(tree.home, 'desktop-compat'))];
      const before = await all();
      const kinds = new Set<string>();
      for (const forGood of [false, true]) {
        for (let fails = 0; ; fails++) {
          const host = faultHost(place.host, ({ number, args }) => {
            if (forGood ? number >= fails : number === fails)
              throw new FileError(
                'read-only',
                String(args[0]),
                `EROFS: read-only file system, '${String(args[0])}'`,
              );
          });
          const error = await installHook({ ...place, host }, 'git', at).then(
            () => null,
            (failure: unknown) => failure,
          );
          if (error === null) break;
          expect(error).toBeInstanceOf(CompatError);
          const { kind, details } = error as CompatError;
          kinds.add(kind);
          expect(details.finding).toBe('READ_ONLY_FS');
          if (kind === 'half-done') await removeHook(place, 'git');
          await rm(join(tree.home, 'desktop-compat/hooks'), { recursive: true, force: true });
          await mkdir(join(tree.home, 'desktop-compat'), { mode: 0o700, recursive: true });
          expect(await all()).toEqual(before);
        }
        await removeHook(place, 'git');
        await mkdir(join(tree.home, 'desktop-compat'), { mode: 0o700, recursive: true });
      }
      expect([...kinds].sort()).toEqual(['half-done', 'refused']);
    },
  );
});
