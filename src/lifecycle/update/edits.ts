import type { Install } from '../../engine/schema.ts';
import { CompatError } from '../../errors.ts';
import { FileError, type Host } from '../../host/types.ts';
import type { FileChange } from '../../patch/draft.ts';
import { ensureFolder } from '../../patch/journal.ts';
import { sha256 } from '../../patch/text.ts';
import { commitsAtRisk, updaterBranch } from './branch.ts';
import { type Entry, readEntry } from './entry.ts';
import { type Git, gitIn, mergeFile, stashList, zeroList } from './git.ts';
import { pipRisks } from './pip-edits.ts';
import { editsFolder, type NotedEdit, type UpdateState } from './state.ts';

/** The user's own edits in a tree, and the reasons why an update would not leave them as they are. */
export interface Edits {
  noted: NotedEdit[];
  /** Contents by hash. */
  contents: Map<string, Buffer>;
  stashes: string[];
  /** Each a sentence. Not empty: nothing may be touched. */
  atRisk: string[];
  /** The updater leaves the branch that is checked out. */
  branchChange: UpdateState['branchChange'];
}

/**
 * Notes what the user changed, with our edits thought away, and asks whether the engine's updater would carry it over.
 *
 * @param ours what taking our edits out would write
 * @param fetch also asks the remote what is new
 */
export async function noteEdits(
  host: Host,
  install: Install,
  ours: readonly FileChange[],
  engineArgs: readonly string[],
  fetch: boolean,
): Promise<Edits> {
  const without = new Map(ours.map(({ state, after }) => [state.real, after]));
  const edits: Edits = { noted: [], contents: new Map(), stashes: [], atRisk: [], branchChange: null };
  if (install.git === null) return { ...edits, atRisk: await pipRisks(host, install, without) };
  const git = gitIn(host, install.root);
  edits.stashes = (await stashList(git)).map(({ commit }) => commit);
  for (const [path, modes] of await changedPaths(git)) await note(host, git, path, modes, without, edits);
  for (const path of zeroList(await git.text(['ls-files', '-o', '--exclude-standard', '-z'])))
    if (!isTrace(path)) await note(host, git, path, null, without, edits);
  await compareWithUpstream(host, git, edits, engineArgs, fetch);
  return edits;
}

/** Ours, or what the engine itself leaves there. */
const isTrace = (path: string): boolean =>
  /(^|\/)\.hermes-compat-|^\.bytecode-fingerprint$|^\.hermes-runtime\/|\.pyc$|hermes_compat_model_library\.py$/.test(
    path,
  );

/** Modes of a changed path, as git writes them: six octal digits. */
interface Modes {
  before: string;
  now: string;
}

async function changedPaths(git: Git): Promise<Map<string, Modes>> {
  const words = zeroList(await git.text(['diff', '--raw', '-z', '--no-renames', 'HEAD']));
  const changed = new Map<string, Modes>();
  for (let at = 0; at + 1 < words.length; at += 2) {
    const [before = '', now = ''] = (words[at] ?? '').slice(1).split(' ');
    changed.set(words[at + 1] ?? '', { before, now });
  }
  return changed;
}

/** @param modes null: git does not know the path */
async function note(
  host: Host,
  git: Git,
  path: string,
  modes: Modes | null,
  without: ReadonlyMap<string, Buffer | null>,
  edits: Edits,
): Promise<void> {
  const full = `${git.root}/${path}`;
  const entry = await entryWithout(host, full, without);
  const head = modes === null ? null : await git.blob('HEAD', path);
  if (entry === null) {
    if (head !== null) edits.noted.push({ path, kind: 'removed', sha256: null });
    return;
  }
  const isSwitched = modes !== null && modes.before !== modes.now && modes.now.startsWith('1');
  if (head !== null && head.equals(entry.bytes) && !isSwitched) return;
  const hash = sha256(entry.bytes);
  const edit: NotedEdit = { path, kind: head === null ? 'untracked' : 'changed', sha256: hash };
  if (entry.link) edit.link = true;
  // Where only the bytes of a tracked file are the user's, its mode is upstream's affair.
  else if (entry.mode !== null && (head === null || isSwitched)) edit.mode = entry.mode;
  edits.noted.push(edit);
  edits.contents.set(hash, entry.bytes);
}

async function entryWithout(
  host: Host,
  full: string,
  without: ReadonlyMap<string, Buffer | null>,
): Promise<Entry | null> {
  const after = without.get(full);
  if (after === undefined) return readEntry(host, full);
  return after === null ? null : { bytes: after, link: false, mode: null };
}

async function compareWithUpstream(
  host: Host,
  git: Git,
  edits: Edits,
  engineArgs: readonly string[],
  fetch: boolean,
): Promise<void> {
  const { noted, atRisk } = edits;
  const branch = await updaterBranch(git, engineArgs, fetch);
  if (branch === null) return;
  if (branch.leaves !== null) edits.branchChange = { from: branch.leaves, to: branch.name };
  atRisk.push(...(await commitsAtRisk(git, branch, fetch)));
  if (branch.upstream === null) return;
  if (noted.length > 0 && engineArgs.includes('--keep-stash'))
    atRisk.push(`--keep-stash would park your edits in a stash: ${names(noted)}`);
  for (const edit of noted) {
    const why = await riskOf(host, git, edit, `refs/remotes/${branch.upstream}`, edits.contents);
    if (why !== null) atRisk.push(`${edit.path}: ${why}`);
  }
}

const names = (edits: readonly NotedEdit[]): string =>
  `${edits
    .slice(0, 5)
    .map(({ path }) => path)
    .join(', ')}${edits.length > 5 ? ' …' : ''}`;

async function riskOf(
  host: Host,
  git: Git,
  { path, kind, sha256: hash, link }: NotedEdit,
  upstream: string,
  contents: ReadonlyMap<string, Buffer>,
): Promise<string | null> {
  const [base, theirs] = await Promise.all([git.blob('HEAD', path), git.blob(upstream, path)]);
  if (kind === 'untracked')
    return theirs === null
      ? null
      : 'the new version has a file of that name, so yours would be parked in a stash';
  if (base === null || (theirs !== null && theirs.equals(base))) return null;
  if (theirs === null)
    return 'the new version has no such file any more, so your edit would be parked in a stash';
  if (kind === 'removed')
    return 'you removed it and the new version changed it, which ends in a parked stash';
  const mine = contents.get(hash ?? '');
  if (mine === undefined || mine.equals(theirs)) return null;
  if (link === true) return 'you made it a link and the new version changed it, which ends in a parked stash';
  const merged = await mergeFile(host, git.root, { path, base: 'HEAD', theirs: upstream }, mine);
  return merged === null
    ? 'your edit and the new version touch the same lines, so the updater would park it in a stash'
    : null;
}

/** @throws CompatError refused, before anything was touched */
export function refuseRisk(edits: Edits, install: Install): void {
  if (edits.atRisk.length === 0) return;
  throw new CompatError(
    'refused',
    `nothing was touched: the update would not leave your own edits as they are\n  ${edits.atRisk.join('\n  ')}`,
    {
      finding: 'FOREIGN_EDITS',
      args: { count: edits.atRisk.length, install: install.root },
      commands: install.git === null ? [] : [['git', '-C', install.root, 'diff', 'HEAD']],
    },
  );
}

/** Copies beside the state, so that an updater that loses an edit does not lose it for good. */
export async function keepEdits(host: Host, root: string, { contents }: Edits): Promise<void> {
  if (contents.size === 0) return;
  await ensureFolder(host, editsFolder(root));
  for (const [hash, bytes] of contents) {
    await host.removeFile(`${editsFolder(root)}/${hash}`);
    await host.createFile(`${editsFolder(root)}/${hash}`, bytes, 0o600);
  }
}

export async function readOrNull(host: Host, path: string): Promise<Buffer | null> {
  try {
    return await host.readFile(path);
  } catch (error) {
    if (error instanceof FileError) return null;
    throw error;
  }
}
