import { hostname } from 'node:os';
import { afterEach, describe, expect, test } from 'vitest';
import type { UpdateDocument } from '../../src/lifecycle/update/schema.ts';
import { requireEngines } from '../support/engines.ts';
import { canUpdate, realTree, type RealTree } from '../support/real-tree.ts';
import { overSsh } from '../support/ssh-in-tree.ts';
import { canRunSshd } from '../support/sshd.ts';
import { isFull } from '../support/full.ts';

const trees: RealTree[] = [];
afterEach(async () => {
  for (const tree of trees.splice(0)) await tree.remove();
});

const ready = isFull && canUpdate && canRunSshd && (await requireEngines('0.14.0', '0.16.0', '0.19.0'));

describe.skipIf(!ready)('real updates over SSH', () => {
  test.each([
    ['0.14.0', '0.16.0', 'source', { 'embedded-chat': 'retired', 'model-library': 'reapplied' }],
    ['0.16.0', '0.19.0', 'overlay', { 'model-library': 'kept' }],
  ] as const)('%s → %s, %s', { timeout: 1_200_000 }, async (from, to, carrier, expected) => {
    const tree = await realTree(from, [to]);
    trees.push(tree);
    const line = await overSsh(tree);
    const box = `ssh://box${tree.root}`;
    const applied = await tree.inside(
      line(`patch apply --carrier ${carrier} --target ${box} --home ${tree.home} --yes`),
    );
    expect(applied, applied.stderr).toMatchObject({ code: 0 });
    await tree.release(to);
    const result = await tree.inside(line(`update ${box} --home ${tree.home} --yes --json`));
    const said = JSON.parse(result.stdout) as UpdateDocument;
    expect(said, result.stderr).toMatchObject({
      outcome: 'updated',
      exitCode: 0,
      verdict: 'compatible',
      target: { kind: 'ssh' },
      after: { version: to },
    });
    expect(Object.fromEntries(said.patches.map(({ patch, outcome }) => [patch, outcome]))).toEqual(expected);
    expect(result.stderr).toContain('Update complete');
    // Whose files, before the first of them is written.
    const identity = `root on ${hostname()}, HERMES_HOME ${tree.home}, install ${tree.root} (${from})`;
    expect(result.stderr.split('\n')[0]).toMatch(/^hermes-compat: root@127\.0\.0\.1:\d+: /);
    expect(result.stderr.split('\n')[0]).toContain(identity);
    expect(tree.git('stash', 'list')).toBe('');
  });
});
