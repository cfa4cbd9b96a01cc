import type { Host } from '../../host/types.ts';
import { readOrNull } from './edits.ts';
import { type Entry, isSameEntry, putEntry, readEntry } from './entry.ts';
import { type Git, gitIn, mergeFile, stashList } from './git.ts';
import { editsFolder, type NotedEdit, type UpdateState } from './state.ts';

/** What became of one edit of the user. `merged`: byte for byte what a stash would have given; `parked`: it is in a stash only. */
export interface EditOutcome {
  path: string;
  outcome: 'kept' | 'put-back' | 'parked' | 'other';
  why: string | null;
}

/**
 * Compares the tree with the edits that were noted, and puts back what the updater left out. Stashes that it made are dropped once
 * all that they hold is in the tree; the user's own stay.
 */
export async function restoreEdits(
  host: Host,
  root: string,
  state: UpdateState,
): Promise<{ edits: EditOutcome[]; parked: string[] }> {
  if (state.before.head === null) return { edits: [], parked: [] };
  const git = gitIn(host, state.install);
  const edits: EditOutcome[] = [];
  for (const edit of state.edits) edits.push(await restoreOne(host, root, git, state.before.head, edit));
  const lost = edits.some(({ outcome }) => outcome === 'parked' || outcome === 'other');
  const fresh = (await stashList(git)).filter(
    ({ commit, message }) => !state.stashes.includes(commit) && message.includes('hermes-update-autostash'),
  );
  if (lost) return { edits, parked: fresh.map(({ message }) => message) };
  for (const { commit } of fresh) {
    const now = (await stashList(git)).findIndex((each) => each.commit === commit);
    if (now >= 0) await git.text(['stash', 'drop', '--quiet', `stash@{${now}}`]);
  }
  return { edits, parked: [] };
}

async function restoreOne(
  host: Host,
  root: string,
  git: Git,
  oldHead: string,
  edit: NotedEdit,
): Promise<EditOutcome> {
  const { path, kind, sha256: hash } = edit;
  const full = `${git.root}/${path}`;
  const [now, head] = await Promise.all([readEntry(host, full), git.blob('HEAD', path)]);
  if (kind === 'removed') {
    if (now === null) return { path, outcome: 'kept', why: null };
    return { path, outcome: 'other', why: 'you had removed it, and it is there again' };
  }
  const mine = hash === null ? null : await readOrNull(host, `${editsFolder(root)}/${hash}`);
  if (mine === null) return { path, outcome: 'other', why: 'our copy of your edit is gone' };
  const bytes = kind === 'untracked' ? mine : await wantedBytes(host, git, oldHead, edit, mine);
  if (bytes === null) return { path, outcome: 'parked', why: 'it does not fit the new version' };
  const wanted: Entry = { bytes, link: edit.link ?? false, mode: edit.mode ?? null };
  if (now !== null && isSameEntry(now, wanted)) return { path, outcome: 'kept', why: null };
  const clean = now === null ? head === null : head !== null && now.bytes.equals(head);
  if (!clean)
    return { path, outcome: 'other', why: 'it is neither the new version nor your edit; left as it is' };
  await putEntry(host, full, wanted);
  return { path, outcome: 'put-back', why: null };
}

/** The edit carried over to the commit that is there now. */
async function wantedBytes(
  host: Host,
  git: Git,
  oldHead: string,
  { path, link }: NotedEdit,
  mine: Buffer,
): Promise<Buffer | null> {
  const [base, theirs] = await Promise.all([git.blob(oldHead, path), git.blob('HEAD', path)]);
  if (theirs === null || base === null) return null;
  if (theirs.equals(base)) return mine;
  if (link === true) return mine.equals(theirs) ? mine : null;
  return mergeFile(host, git.root, { path, base: oldHead, theirs: 'HEAD' }, mine);
}
