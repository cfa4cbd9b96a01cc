import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { whoami } from '../../src/host/holder.ts';
import { runHook } from '../../src/lifecycle/hook-run.ts';
import { settle } from '../../src/lifecycle/settle.ts';
import { change } from '../../src/patch/change.ts';
import { readMarkers } from '../../src/patch/marker.ts';
import { gitTree, type GitTree } from '../support/git-tree.ts';
import { hookRunOf, openTree } from '../support/lifecycle.ts';
import { agree, testHost } from '../support/patch-scene.ts';

// What our records say when the edits are gone or somebody else is at work.

const trees: GitTree[] = [];
const ends: (() => void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) end();
  for (const tree of trees.splice(0)) await tree.remove();
});

async function applied(carrier: 'overlay' | 'source'): Promise<GitTree> {
  const tree = await gitTree();
  trees.push(tree);
  await change((await openTree({ install: tree.root, home: tree.home })).session, agree({ carrier }));
  return tree;
}

const recorded = async (tree: GitTree): Promise<string[]> => {
  const { ours } = await readMarkers(testHost(), tree.home);
  return (ours?.entries ?? []).map(({ patch, carrier }) => `${patch} ${carrier}`);
};

const open = (tree: GitTree) => openTree({ install: tree.root, home: tree.home });

describe('a revert of what is gone', () => {
  test('our records forget it, and no hook brings it back', async () => {
    const tree = await applied('source');
    tree.git('reset', '-q', '--hard', 'HEAD');
    tree.git('clean', '-qfd');
    const { session } = await open(tree);
    const outcome = await change(session, agree({ do: 'revert' }));
    expect(outcome.changed).toBe(false);
    expect(outcome.plan.document.notes.map(({ text }) => text)).toEqual([
      'nothing of ours is there; our records forget it',
      'nothing of ours is there; our records forget it',
    ]);
    expect(await recorded(tree)).toEqual([]);
    const server = await readFile(tree.server);
    expect((await runHook(hookRunOf(tree.home))).patches).toEqual([]);
    expect(await readFile(tree.server)).toEqual(server);
    const again = await change(session, agree({ do: 'revert' }));
    expect(again.plan.document.notes[0]?.text).toBe('nothing of ours is there');
  });

  test('what is left of it goes, and its entry too', async () => {
    const tree = await applied('source');
    tree.git('reset', '-q', '--hard', 'HEAD');
    expect((await change((await open(tree)).session, agree({ do: 'revert' }))).changed).toBe(true);
    expect(tree.git('status', '--porcelain')).toBe('');
    expect(await recorded(tree)).toEqual([]);
  });

  test('of one patch leaves the entry of the other', async () => {
    const tree = await applied('overlay');
    const { session } = await open(tree);
    await change(session, agree({ do: 'revert', patches: ['embedded-chat'] }));
    await change(session, agree({ do: 'revert', patches: ['embedded-chat'] }));
    expect(await recorded(tree)).toEqual(['model-library overlay']);
  });
});

test('what the other carrier does by now is told as that, and nothing is written into the tree', async () => {
  const tree = await applied('source');
  tree.git('reset', '-q', '--hard', 'HEAD');
  tree.git('clean', '-qfd');
  const { session } = await open(tree);
  await change(session, agree({ carrier: 'overlay' }));
  const { patches } = await settle(session);
  expect(patches.map(({ patch, carrier, outcome }) => `${patch} ${carrier} ${outcome}`).toSorted()).toEqual([
    'embedded-chat overlay kept',
    'embedded-chat source taken-over',
    'model-library overlay kept',
    'model-library source taken-over',
  ]);
  expect(tree.git('status', '--porcelain')).toBe('');
  expect(await recorded(tree)).toEqual(['embedded-chat overlay', 'model-library overlay']);
});

describe('while an update runs', () => {
  test('of an engine without a lock: it is seen, nothing is written, and afterwards it works', async () => {
    const tree = await applied('overlay');
    await writeFile(join(tree.home, 'updater.json'), JSON.stringify({ slow: 'begin', seconds: 60 }));
    const updater = spawn(
      join(tree.root, 'venv/bin/python'),
      [join(tree.root, 'venv/bin/hermes'), 'update'],
      {
        env: { PATH: '/usr/bin:/bin', HERMES_HOME: tree.home, HOME: tree.folder },
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
    ends.push(() => updater.kill('SIGKILL'));
    await new Promise((resolve) => updater.stdout.once('data', resolve));
    const { session, located } = await open(tree);
    expect(located.host.home?.locks).toMatchObject([
      {
        kind: 'engine-update',
        pid: updater.pid,
        alive: true,
        path: expect.stringContaining('hermes update'),
      },
    ]);
    for (const carrier of ['source', 'overlay'] as const)
      await expect(change(session, agree({ do: 'revert', carrier }))).rejects.toMatchObject({
        kind: 'refused',
        details: { finding: 'UPDATE_IN_PROGRESS', args: { pid: updater.pid, by: 'engine' } },
      });
    const ended = new Promise((resolve) => updater.once('exit', resolve));
    updater.kill('SIGKILL');
    await ended;
    const after = await open(tree);
    expect(after.located.host.home?.locks).toEqual([]);
    expect((await change(after.session, agree({ do: 'revert' }))).changed).toBe(true);
  });

  test('of ours, by another process: a change is refused, both ways', async () => {
    const tree = await applied('source');
    const holder = spawn('/bin/sleep', ['60']);
    ends.push(() => holder.kill());
    const claim = (await whoami(testHost(), holder.pid ?? 0)).claim();
    const lock = join(tree.home, 'desktop-compat/update/lock');
    await mkdir(lock, { recursive: true, mode: 0o700 });
    await writeFile(join(lock, claim), '');
    const before = await readFile(tree.server);
    const { session } = await open(tree);
    for (const action of ['apply', 'revert'] as const)
      await expect(change(session, agree({ do: action, carrier: 'source' }))).rejects.toMatchObject({
        kind: 'refused',
        details: { finding: 'UPDATE_IN_PROGRESS', args: { pid: holder.pid, by: 'ours' } },
      });
    expect(await readFile(tree.server)).toEqual(before);
  });
});
