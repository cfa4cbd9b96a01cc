import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { UpdateDocument } from '../../src/lifecycle/update/schema.ts';
import { document } from '../support/cli.ts';
import { requireEngines } from '../support/engines.ts';
import { canUpdate, type Ran, realTree, type RealTree } from '../support/real-tree.ts';
import { bin } from '../support/bin.ts';
import { isFull } from '../support/full.ts';

// The engine's own `hermes update` on checkouts of real releases. Each runs in a PID namespace: its end ends every dashboard that
// it can see.

const trees: RealTree[] = [];
afterEach(async () => {
  for (const tree of trees.splice(0)) await tree.remove();
});

const ready = canUpdate && (await requireEngines('0.14.0', '0.16.0'));
const fullReady =
  canUpdate && isFull && (await requireEngines('0.14.0', '0.16.0', '0.19.0', '0.21.0.post1', '0.21.4.post1'));

const at = (tree: RealTree): string[] => ['--home', tree.home];
const target = (tree: RealTree): string => `local:${tree.root}`;

async function applied(tree: RealTree, carrier: 'overlay' | 'source'): Promise<RealTree> {
  trees.push(tree);
  const words = ['patch', 'apply', '--carrier', carrier, '--target', target(tree), ...at(tree), '--yes'];
  const result = await tree.compat(words);
  expect(result, result.stderr).toMatchObject({ code: 0 });
  return tree;
}

const updated = (tree: RealTree): Promise<Ran> =>
  tree.compat(['update', target(tree), ...at(tree), '--yes', '--json']);

const outcomes = ({ patches }: UpdateDocument) =>
  Object.fromEntries(patches.map(({ patch, carrier, outcome }) => [`${patch} ${carrier}`, outcome]));

const claims = async (tree: RealTree): Promise<string[]> => {
  const marker = JSON.parse(await readFile(join(tree.home, 'desktop-compat/hermes-compat.json'), 'utf8')) as {
    entries: { patch: string; carrier: string }[];
  };
  return marker.entries.map(({ patch, carrier }) => `${patch} ${carrier}`);
};

/** What updaters from 0.20 on leave in the tree themselves. */
const ofEngine = /^\?\? \.(bytecode-fingerprint|hermes-runtime\/)$/;

/** Compatible, the stash list empty, and git names no edit but ours. */
function expectGood(tree: RealTree, result: Ran, dirty: string[]): UpdateDocument {
  const said = document<UpdateDocument>(result);
  expect(said, result.stderr).toMatchObject({ exitCode: 0, verdict: 'compatible', parked: [] });
  // Neither this run itself nor what it put back is something to warn of.
  expect(said.findings).not.toContain('UPDATE_IN_PROGRESS');
  expect(said.findings).not.toContain('INSTALL_EDITED');
  expect(said.findings).not.toContain('FOREIGN_EDITS');
  expect(tree.git('stash', 'list')).toBe('');
  const lines = tree.git('status', '--porcelain').split('\n');
  const edits = lines.map((line) => line.trim()).filter((line) => line !== '' && !ofEngine.test(line));
  expect(edits).toEqual(dirty);
  return said;
}

const withLibrary = ['M hermes_cli/web_server.py', '?? hermes_cli/hermes_compat_model_library.py'];

describe.skipIf(!ready)('real update 0.14.0 → 0.16.0', () => {
  test('source: the chat patch is retired, the library comes back', { timeout: 600_000 }, async () => {
    const tree = await applied(await realTree('0.14.0', ['0.16.0']), 'source');
    await tree.release('0.16.0');
    const said = expectGood(tree, await updated(tree), withLibrary);
    expect(said).toMatchObject({
      before: { version: '0.14.0', generation: 'G0' },
      after: { version: '0.16.0', generation: 'G1' },
    });
    expect(outcomes(said)).toEqual({
      'embedded-chat source': 'retired',
      'model-library source': 'reapplied',
    });
    expect(await claims(tree)).toEqual(['model-library source']);
  });
});

describe.skipIf(!fullReady)('real updates', () => {
  test.each([
    ['0.14.0', '0.16.0', 'main'],
    ['0.16.0', '0.19.0', 'main'],
    ['0.21.0.post1', '0.21.4.post1', 'main'],
  ])(
    'overlay, %s → %s: nothing is re-applied, the tree stays clean',
    { timeout: 1_200_000 },
    async (from, to, branch) => {
      const tree = await applied(await realTree(from, [to], branch), 'overlay');
      await tree.release(to);
      const said = expectGood(tree, await updated(tree), []);
      expect(outcomes(said)).toEqual({
        ...(from === '0.14.0' ? { 'embedded-chat overlay': 'retired' } : {}),
        'model-library overlay': 'kept',
      });
    },
  );

  test.each([
    ['0.16.0', '0.19.0', 'main'],
    ['0.21.0.post1', '0.21.4.post1', 'main'],
  ])('source, %s → %s', { timeout: 1_200_000 }, async (from, to, branch) => {
    const tree = await applied(await realTree(from, [to], branch), 'source');
    await tree.release(to);
    const said = expectGood(tree, await updated(tree), withLibrary);
    expect(outcomes(said)).toEqual({ 'model-library source': 'reapplied' });
  });

  test.each([
    ['far away', '"""', '"""Upstream says: '],
    [
      'in the same lines',
      '    _DASHBOARD_EMBEDDED_CHAT_ENABLED = embedded_chat\n',
      '    _DASHBOARD_EMBEDDED_CHAT_ENABLED = embedded_chat\n    _UPSTREAM_WAS_HERE = True\n',
    ],
  ])('source, 0.14.0 → one more commit, %s', { timeout: 1_200_000 }, async (_name, from, to) => {
    const tree = await applied(await realTree('0.14.0'), 'source');
    await tree.edit('hermes_cli/web_server.py', (text) => text.replace(from, to));
    const said = expectGood(tree, await updated(tree), withLibrary);
    expect(outcomes(said)).toEqual({
      'embedded-chat source': 'reapplied',
      'model-library source': 'reapplied',
    });
    expect(await readFile(tree.server, 'utf8')).toMatch(/Upstream says|_UPSTREAM_WAS_HERE/);
  });

  test(
    'an edit of the user that 0.16.0 would park is refused before anything is touched',
    { timeout: 600_000 },
    async () => {
      const tree = await applied(await realTree('0.14.0', ['0.16.0']), 'source');
      const mine = (await readFile(tree.server, 'utf8')).replace(
        'mount_spa(app)\n',
        '# mine\nmount_spa(app)\n',
      );
      await writeFile(tree.server, mine);
      await tree.release('0.16.0');
      const head = tree.git('rev-parse', 'HEAD');
      const result = await updated(tree);
      expect(result.code, result.stderr).toBe(4);
      expect(result.stdout).toContain('web_server.py');
      expect(await readFile(tree.server, 'utf8')).toBe(mine);
      expect(tree.git('rev-parse', 'HEAD')).toBe(head);
    },
  );

  test.each(['taking our edits out', 'Fetching updates', 'Update complete'])(
    'killed at "%s" and run again: as undisturbed',
    { timeout: 1_200_000 },
    async (phrase) => {
      const tree = await applied(await realTree('0.14.0', ['0.16.0']), 'source');
      await tree.release('0.16.0');
      // In one namespace, so that the updater that goes on alone is seen by the second run.
      const script =
        'phrase=$1; shift; "$@" >"$HOME/out" 2>"$HOME/err" & pid=$!; until grep -q "$phrase" "$HOME/err"; do sleep 0.1; done; kill -9 $pid; wait $pid; exec "$@"';
      const update = ['update', target(tree), ...at(tree), '--yes', '--json'];
      const result = await tree.inside([
        '/bin/sh',
        '-c',
        script,
        'sh',
        phrase,
        process.execPath,
        bin,
        ...update,
      ]);
      const said = expectGood(tree, result, withLibrary);
      expect(said.after).toMatchObject({ version: '0.16.0', generation: 'G1' });
      expect(outcomes(said)).toEqual({
        'embedded-chat source': 'retired',
        'model-library source': 'reapplied',
      });
      expect(await claims(tree)).toEqual(['model-library source']);
    },
  );
});
