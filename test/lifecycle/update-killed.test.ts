import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { update } from '../../src/lifecycle/update/update.ts';
import { change } from '../../src/patch/change.ts';
import { farAway, gitTree, type GitTree } from '../support/git-tree.ts';
import { openTree, updateRunOf } from '../support/lifecycle.ts';
import { miniServer } from '../support/mini-engine.ts';
import { agree } from '../support/patch-scene.ts';
import { gateShare, isFull } from '../support/full.ts';

const program = fileURLToPath(new URL('../support/killed-update.mjs', import.meta.url));
const trees: GitTree[] = [];
afterEach(async () => {
  for (const tree of trees.splice(0)) await tree.remove();
});

/** Where to cut: at a step that is written down, at the n-th change of the disk, or when the updater says this. */
type Cut = { step?: string; change?: number; said?: string };

const notes = (tree: GitTree): string => join(tree.root, 'hermes_cli/notes.py');

async function scene(): Promise<GitTree> {
  const tree = await gitTree();
  trees.push(tree);
  const { session } = await openTree({ install: tree.root, home: tree.home });
  await change(session, agree({ carrier: 'source' }));
  await writeFile(notes(tree), 'ONE = 1\nTWO = 2\nTHREE = 30  # mine\n');
  await writeFile(join(tree.root, 'untracked.txt'), 'mine');
  await tree.upstream({ 'hermes_cli/web_server.py': farAway(miniServer) });
  return tree;
}

/** What may not depend on cuts: the tree, the stash list, what the marker claims, and that nothing of the update is left. */
async function endState(tree: GitTree): Promise<unknown> {
  const marker = JSON.parse(await readFile(join(tree.home, 'desktop-compat/hermes-compat.json'), 'utf8')) as {
    entries: { patch: string; carrier: string; revision: number }[];
  };
  return {
    server: await readFile(tree.server, 'utf8'),
    notes: await readFile(notes(tree), 'utf8'),
    untracked: await readFile(join(tree.root, 'untracked.txt'), 'utf8'),
    status: tree
      .git('status', '--porcelain')
      .split('\n')
      .map((line) => line.trim())
      .sort(),
    stash: tree.git('stash', 'list'),
    subject: tree.git('log', '-1', '--format=%s'),
    claims: marker.entries.map(({ patch, carrier, revision }) => ({ patch, carrier, revision })),
    left: ['update/state.json', 'update/edits', 'update/lock', 'lock', 'journal/journal.json'].filter(
      (name) => existsSync(join(tree.home, 'desktop-compat', name)),
    ),
  };
}

let undisturbed: Promise<unknown> | null = null;
const expected = (): Promise<unknown> =>
  (undisturbed ??= (async () => {
    const tree = await scene();
    await update(updateRunOf(tree));
    return endState(tree);
  })());

const cutRun = (tree: GitTree, at: Cut): Promise<string> =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, JSON.stringify({ root: tree.root, home: tree.home, at })],
      { timeout: 120_000 },
      (error, stdout) => resolve(error === null ? `ended ${stdout.trim()}` : (error.signal ?? error.message)),
    );
  });

async function cutAndAgain(at: Cut, behaviour?: object): Promise<void> {
  const tree = await scene();
  const file = join(tree.home, 'updater.json');
  if (behaviour !== undefined) await writeFile(file, JSON.stringify(behaviour));
  expect(await cutRun(tree, at)).toBe('SIGKILL');
  if (behaviour !== undefined) await rm(file);
  await update(updateRunOf(tree));
  expect(await endState(tree)).toEqual(await expected());
}

describe('an update that is killed and run again ends as one that was not', () => {
  test('undisturbed', async () => {
    expect(await expected()).toMatchObject({
      notes: 'ONE = 1\nTWO = 2\nTHREE = 30  # mine\n',
      stash: '',
      subject: 'next\n',
      left: [],
      claims: [{ patch: 'embedded-chat' }, { patch: 'model-library' }],
    });
  });

  test.each(['begun', 'noted', 'taken-out', 'updated', 'edits-back', 'settled', 'ended'])(
    'killed at %s',
    async (step) => {
      await cutAndAgain({ step });
    },
  );

  test.each(gateShare(['begin', 'stashed', 'merged', 'restored'], 2, 1))(
    'killed while the updater is at "%s", which goes on alone',
    async (step) => {
      await cutAndAgain({ said: `step ${step}` }, { slow: step, seconds: 3 });
    },
  );

  test.each(['stashed', 'merged'])(
    'the updater itself dies at "%s": the edits come back, the next run updates',
    async (cut) => {
      const tree = await scene();
      await writeFile(join(tree.home, 'updater.json'), JSON.stringify({ cut }));
      const first = await update(updateRunOf(tree));
      expect(first.state.exitCode).toBe(137);
      expect(await readFile(notes(tree), 'utf8')).toContain('# mine');
      await rm(join(tree.home, 'updater.json'));
      await update(updateRunOf(tree));
      expect(await endState(tree)).toEqual(await expected());
    },
  );

  test.skipIf(!isFull)('killed at every change of the disk', { timeout: 3_600_000 }, async () => {
    const whole = await scene();
    const count = Number((await cutRun(whole, {})).replace('ended ', ''));
    expect(count).toBeGreaterThan(30);
    for (let number = 0; number < count; number++) await cutAndAgain({ change: number });
  });
});
