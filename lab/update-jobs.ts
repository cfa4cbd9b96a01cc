import type { UpdateDocument } from '../src/lifecycle/update/schema.ts';
import { canUpdate, type Ran, realTree, type RealTree } from '../test/support/real-tree.ts';
import { overSsh } from '../test/support/ssh-in-tree.ts';
import type { Cell } from './cells.ts';
import type { Job, Lab } from './job.ts';

/**
 * `hermes-compat update` around the engine's own `hermes update`, from each rung to the next, with the patches applied before.
 * Each runs on a checkout made of the release's files, in a PID namespace of its own: the engine's updater ends every dashboard
 * that it can see.
 */

/**
 * Without 0.15.2, whose updater refuses in every container and so would tell of the machine, and without the step to 0.22.2, whose
 * updater fetches its own CPython 3.14 from the net, which these throw-away trees do without.
 */
const steps: readonly (readonly [from: string, to: string])[] = [
  ['0.13.0', '0.14.0'],
  ['0.14.0', '0.16.0'],
  ['0.16.0', '0.17.0'],
  ['0.17.0', '0.18.2'],
  ['0.18.2', '0.19.0'],
  ['0.19.0', '0.20.0.post2'],
  ['0.20.0.post2', '0.21.0.post1'],
  ['0.21.0.post1', '0.21.4.post1'],
];

const ways = [
  ['overlay', 'local'],
  ['overlay', 'ssh'],
  ['source', 'local'],
  ['source', 'ssh'],
] as const;

export const updateJobs = (): Job[] =>
  ways.flatMap(([carrier, over]) =>
    steps.map(([from, to]) => ({
      parts: ['update'],
      engine: from,
      row: `${carrier} ${over}`,
      run: (lab) => measure(from, to, carrier, over, lab),
    })),
  );

async function measure(
  from: string,
  to: string,
  carrier: string,
  over: 'local' | 'ssh',
  lab: Lab,
): Promise<Cell[]> {
  if (!canUpdate)
    throw new Error('real updates need git, uv and the right to make a PID namespace (unshare --pid)');
  if (over === 'ssh' && lab.ssh === null)
    throw new Error('the cells over SSH need openssh-server (/usr/sbin/sshd)');
  const tree = await realTree(from, [to]);
  try {
    const run = over === 'ssh' ? await throughSsh(tree) : (words: string[]) => tree.compat(words, limit);
    const target = over === 'ssh' ? `ssh://box${tree.root}` : `local:${tree.root}`;
    const home = ['--home', tree.home, '--yes', '--json'];
    const applied = await run(['patch', 'apply', '--carrier', carrier, '--target', target, ...home]);
    await tree.release(to);
    const result = await run(['update', target, ...home]);
    const saw = { to, apply: `exit ${applied.code}`, ...said(result, tree) };
    return [{ part: 'update', engine: from, row: `${carrier} ${over}`, column: 'update', saw }];
  } finally {
    await tree.remove();
  }
}

const limit = { timeoutMs: 900_000 };

async function throughSsh(tree: RealTree): Promise<(words: string[]) => Promise<Ran>> {
  const line = await overSsh(tree);
  return (words) => tree.inside(line(words.join(' ')), limit);
}

/** What an updater may leave in the tree itself, from 0.20 on. */
const ofEngine = /^\?\? \.(bytecode-fingerprint|hermes-runtime\/)$/;

function said({ code, stdout, stderr }: Ran, tree: RealTree): Record<string, string> {
  if (stdout.trim() === '') throw new Error(`update said nothing, exit ${code}: ${stderr.slice(-1500)}`);
  const document = JSON.parse(stdout) as
    | UpdateDocument
    | { kind: 'error'; error: { finding: string | null; kind: string } };
  const dirty = tree
    .git('status', '--porcelain')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !ofEngine.test(line));
  const left = {
    tree: dirty.length === 0 ? 'clean' : dirty.join(', '),
    stash: tree.git('stash', 'list') === '' ? 'empty' : 'not empty',
  };
  if (document.kind === 'error')
    return { exit: String(code), error: document.error.finding ?? document.error.kind, ...left };
  return {
    exit: String(code),
    outcome: document.outcome,
    verdict: document.verdict ?? 'none',
    version: document.after?.version ?? 'unknown',
    patches: document.patches.map(({ patch, outcome }) => `${patch} ${outcome}`).join(', '),
    ...left,
  };
}
