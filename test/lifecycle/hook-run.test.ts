import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { change } from '../../src/patch/change.ts';
import { type HookResult, runHook } from '../../src/lifecycle/hook-run.ts';
import { gitTree, type GitTree } from '../support/git-tree.ts';
import { hookRunOf, openTree } from '../support/lifecycle.ts';
import { agree, snapshot, times } from '../support/patch-scene.ts';
import { isFull } from '../support/full.ts';

const program = fileURLToPath(new URL('../support/hook-run.mjs', import.meta.url));
const trees: GitTree[] = [];
afterEach(async () => {
  for (const tree of trees.splice(0)) await tree.remove();
});

async function applied(carrier: 'overlay' | 'source'): Promise<GitTree> {
  const tree = await gitTree();
  trees.push(tree);
  const { session } = await openTree({ install: tree.root, home: tree.home });
  await change(session, agree({ carrier }));
  return tree;
}

const outcomes = (patches: { patch: string; carrier: string; outcome: string }[]) =>
  Object.fromEntries(patches.map(({ patch, carrier, outcome }) => [`${patch} ${carrier}`, outcome]));

describe('hook run', () => {
  test('does nothing where nothing is recorded', async () => {
    const tree = await gitTree();
    trees.push(tree);
    const before = await snapshot(tree.home, ['venv', '.git']);
    expect((await runHook(hookRunOf(tree.home))).outcome).toBe('nothing-recorded');
    expect(await snapshot(tree.home, ['venv', '.git'])).toEqual(before);
  });

  test.each(['overlay', 'source'] as const)(
    '%s: the second run is unchanged and writes nothing',
    async (carrier) => {
      const tree = await applied(carrier);
      const first = await runHook(hookRunOf(tree.home));
      expect(first.outcome).toBe('checked');
      expect(outcomes(first.patches)).toEqual({
        [`embedded-chat ${carrier}`]: 'kept',
        [`model-library ${carrier}`]: 'kept',
      });
      const at = await times(tree.home);
      expect((await runHook(hookRunOf(tree.home))).outcome).toBe('unchanged');
      expect(await times(tree.home)).toEqual(at);
    },
  );

  test('git reset --hard took the source edits: they come back with the same carrier, to the byte', async () => {
    const tree = await applied('source');
    await runHook(hookRunOf(tree.home));
    const patched = await readFile(tree.server, 'utf8');
    tree.git('reset', '-q', '--hard', 'HEAD');
    expect(await readFile(tree.server, 'utf8')).not.toBe(patched);
    const result = await runHook(hookRunOf(tree.home));
    expect(outcomes(result.patches)).toEqual({
      'embedded-chat source': 'reapplied',
      'model-library source': 'reapplied',
    });
    expect(await readFile(tree.server, 'utf8')).toBe(patched);
    expect((await runHook(hookRunOf(tree.home))).outcome).toBe('unchanged');
    expect(await readFile(join(tree.home, 'desktop-compat/hooks/hook.log'), 'utf8')).toContain(
      'embedded-chat (source) reapplied',
    );
  });

  test('a removed overlay comes back', async () => {
    const tree = await applied('overlay');
    await runHook(hookRunOf(tree.home));
    const plugin = join(tree.home, 'plugins/hermes-compat/dashboard');
    const before = await snapshot(plugin);
    await rm(join(tree.home, 'plugins'), { recursive: true });
    const result = await runHook(hookRunOf(tree.home));
    expect(outcomes(result.patches)).toEqual({
      'embedded-chat overlay': 'reapplied',
      'model-library overlay': 'reapplied',
    });
    expect(await snapshot(plugin)).toEqual(before);
  });

  test('what the engine has of its own by now is retired, and the marker forgets it', async () => {
    const tree = await applied('source');
    await runHook(hookRunOf(tree.home));
    tree.git('checkout', '-q', '--', '.');
    const native = (await readFile(tree.server, 'utf8'))
      .replace('_ENABLED = False', '_ENABLED = True')
      .replace('    *,\n    embedded_chat: bool = False,\n', '')
      .replace(
        '    global _DASHBOARD_EMBEDDED_CHAT_ENABLED\n    _DASHBOARD_EMBEDDED_CHAT_ENABLED = embedded_chat\n',
        '',
      );
    await writeFile(tree.server, native);
    tree.git('commit', '-q', '-am', 'always on');
    const result = await runHook(hookRunOf(tree.home));
    expect(outcomes(result.patches)).toEqual({
      'embedded-chat source': 'retired',
      'model-library source': 'reapplied',
    });
    const marker = JSON.parse(
      await readFile(join(tree.home, 'desktop-compat/hermes-compat.json'), 'utf8'),
    ) as {
      entries: { patch: string }[];
    };
    expect(marker.entries.map(({ patch }) => patch)).toEqual(['model-library']);
  });

  test('a conflict is told, nothing is written over it', async () => {
    const tree = await applied('source');
    await runHook(hookRunOf(tree.home));
    tree.git('checkout', '-q', '--', '.');
    const text = await readFile(tree.server, 'utf8');
    const conflict = text.replace(
      'mount_spa(app)\n\n',
      '<<<<<<< a\nmount_spa(app)\n=======\nmount(app)\n>>>>>>> b\n\n',
    );
    await writeFile(tree.server, conflict);
    const result = await runHook(hookRunOf(tree.home));
    expect(result.patches.map(({ outcome, code }) => [outcome, code])).toEqual([
      ['refused', 'CONFLICT_MARKERS'],
      ['refused', 'CONFLICT_MARKERS'],
    ]);
    expect(await readFile(tree.server, 'utf8')).toBe(conflict);
  });

  test('waits while the engine holds its update lock, and leaves when that takes too long', async () => {
    const tree = await applied('source');
    tree.git('reset', '-q', '--hard', 'HEAD');
    const lock = join(tree.home, '.hermes-update-in-progress');
    await writeFile(lock, `${process.pid}\n${Date.now() / 1000}\n`);
    const left = await runHook(hookRunOf(tree.home, { patienceMs: 100 }));
    expect(left.outcome).toBe('updating');
    const waiting = runHook(hookRunOf(tree.home));
    setTimeout(() => void rm(lock), 1500);
    expect((await waiting).patches.map(({ outcome }) => outcome)).toEqual(['reapplied', 'reapplied']);
  });

  test('the log is cut to one older file', async () => {
    const tree = await applied('overlay');
    await runHook(hookRunOf(tree.home));
    const log = join(tree.home, 'desktop-compat/hooks/hook.log');
    await writeFile(log, 'x'.repeat(140 * 1024));
    await rm(join(tree.home, 'plugins'), { recursive: true });
    await runHook(hookRunOf(tree.home));
    expect((await readFile(log)).length).toBeLessThan(2000);
    expect(existsSync(`${log}.1`)).toBe(true);
  });
});

/** One run in a process of its own. */
const runAlone = (root: string): Promise<Pick<HookResult, 'outcome' | 'patches'>> =>
  new Promise((resolve, reject) => {
    execFile(process.execPath, [program, root], { timeout: 280_000 }, (error, stdout) => {
      if (error === null) resolve(JSON.parse(stdout) as HookResult);
      else reject(new Error(error.message));
    });
  });

describe('many at once', () => {
  const many = isFull ? 50 : 20;
  test(`${many} runs in processes of their own: one writer, a whole tree`, { timeout: 300_000 }, async () => {
    const tree = await applied('source');
    await runHook(hookRunOf(tree.home));
    const patched = await readFile(tree.server, 'utf8');
    const file = join(tree.root, 'hermes_cli/hermes_compat_model_library.py');
    const module = await readFile(file);
    tree.git('reset', '-q', '--hard', 'HEAD');
    await rm(file);
    const runs = await Promise.all(Array.from({ length: many }, () => runAlone(tree.home)));
    const wrote = runs.filter(({ patches }) => patches.some(({ outcome }) => outcome === 'reapplied'));
    expect(wrote).toHaveLength(1);
    expect([...new Set(runs.map(({ outcome }) => outcome))].sort()).not.toContain('updating');
    expect(await readFile(tree.server, 'utf8')).toBe(patched);
    expect(await readFile(file)).toEqual(module);
    expect(existsSync(join(tree.home, 'desktop-compat/hooks/lock'))).toBe(false);
    const log = await readFile(join(tree.home, 'desktop-compat/hooks/hook.log'), 'utf8');
    expect(log.match(/ reapplied/g)).toHaveLength(2);
  });
});
