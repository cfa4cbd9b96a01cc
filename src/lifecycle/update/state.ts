import { updateFolder } from '../../engine/compat-places.ts';
import { CompatError } from '../../errors.ts';
import { textIfThere } from '../../host/read-text.ts';
import type { Host } from '../../host/types.ts';
import { ensureFolder, ensureStateFolder, writeWhole } from '../../patch/journal.ts';
import type { MarkerEntry } from '../../patch/schema.ts';
import { namesIn } from '../../patch/world.ts';

/** Steps of an update; each is written down when what stands before it is done. */
export const steps = ['noted', 'taken-out', 'updated', 'edits-back', 'settled'] as const;
export type UpdateStep = (typeof steps)[number];

/** An edit of the user in the tree, ours left out. */
export interface NotedEdit {
  /** Below the install root. */
  path: string;
  kind: 'changed' | 'removed' | 'untracked';
  /** Name of the copy in `edits/`, its sha256; null for a removed file. */
  sha256: string | null;
  /** A symlink, whose text is what was copied. */
  link?: boolean;
  /** Permission bits to put back; missing: those of upstream. */
  mode?: number;
}

/** A dashboard that `launch` started, to be started again. */
export interface NotedLaunch {
  id: string;
  pid: number;
  startTicks: string | null;
  port: number;
  host: string;
  home: string;
  /** Id of the install that it runs; with several in one home not always the one that is updated. */
  install: string;
  webDist: string | null;
  engineArgs: string[];
}

/** A running process that the updater ends, or would. */
export interface NotedProcess {
  pid: number;
  user: string;
  command: string;
  install: string | null;
  owner: string;
  launched: boolean;
  /** Commands of the unit, job or container that keeps it; none where a person started it. */
  restart: string[][];
  /** argv that starts it again where no unit, job or container does; null: not known. Not in the notes of older versions. */
  startAgain?: string[] | null;
}

export interface UpdateVersion {
  version: string | null;
  generation: string | null;
  head: string | null;
}

/** `update/state.json`: enough to go on after a cut at any step. */
export interface UpdateState {
  stateVersion: 1;
  step: UpdateStep;
  at: string;
  /** `pre-update` ended as it should, and `post-update` is to come. */
  prepared: boolean;
  install: string;
  home: string;
  engineArgs: string[];
  before: UpdateVersion;
  /** Source edits of ours that were taken out. */
  taken: MarkerEntry[];
  /** Why edits of ours stayed in; null: they did not. */
  notTaken: string | null;
  edits: NotedEdit[];
  /** The updater leaves the branch that was checked out; not in the notes of older versions. */
  branchChange?: { from: string; to: string } | null;
  /** Commits of the stash list, newest first. */
  stashes: string[];
  processes: NotedProcess[];
  launches: NotedLaunch[];
  /** Of the updater; null until it has ended. */
  exitCode: number | null;
  retired: string[];
}

const stateFile = (root: string): string => `${updateFolder(root)}/state.json`;
export const editsFolder = (root: string): string => `${updateFolder(root)}/edits`;

export async function readState(host: Host, root: string): Promise<UpdateState | null> {
  const text = await textIfThere(host, stateFile(root), 4 << 20);
  if (text === null) return null;
  try {
    const state = JSON.parse(text) as Partial<UpdateState> | null;
    if (state?.stateVersion === 1 && steps.some((step) => step === state.step)) return state as UpdateState;
  } catch {
    // Said below.
  }
  throw new CompatError('half-done', `an update was cut, and ${stateFile(root)} cannot be read`, {
    finding: 'UPDATE_INTERRUPTED',
    journal: updateFolder(root),
  });
}

export async function writeState(host: Host, root: string, state: UpdateState): Promise<void> {
  await ensureUpdateFolder(host, root);
  await writeWhole(host, stateFile(root), `${JSON.stringify(state, null, 2)}\n`);
}

export async function ensureUpdateFolder(host: Host, root: string): Promise<void> {
  await ensureStateFolder(host, root);
  await ensureFolder(host, updateFolder(root));
}

/** The state goes first: what is left of the folder then belongs to nothing. The log of the updater stays. */
export async function clearState(host: Host, root: string): Promise<void> {
  await host.removeFile(stateFile(root));
  for (const name of await namesIn(host, editsFolder(root)))
    await host.removeFile(`${editsFolder(root)}/${name}`);
  await host.removeDir(editsFolder(root));
  for (const name of ['pid', 'code']) await host.removeFile(`${updateFolder(root)}/${name}`);
}
