import type { Carrier, ConfigUndo, MarkerEntry, PlanStep, Refusal } from './schema.ts';
import { decode, sha256 } from './text.ts';
import type { FileState } from './world.ts';

/** One file that a change replaces, makes or removes. */
export interface FileChange {
  state: FileState;
  before: Buffer | null;
  after: Buffer | null;
}

/** A change while it is thought out: files as they will be, and why. Holds bytes, does no I/O. */
export interface Draft {
  steps: Omit<PlanStep, 'diff'>[];
  /** Texts of the steps, for their diffs. */
  texts: { before: Buffer | null; after: Buffer | null }[];
  refusals: Refusal[];
  notes: { patch: string; text: string }[];
  entries: MarkerEntry[];
  /** Entries of the marker that no longer hold, as `patch carrier`. */
  dropped: Set<string>;
  config: { undo: ConfigUndo } | 'undone' | null;
  files: Map<string, FileChange>;
}

export const newDraft = (): Draft => ({
  steps: [],
  texts: [],
  refusals: [],
  notes: [],
  entries: [],
  dropped: new Set(),
  config: null,
  files: new Map(),
});

/** Bytes of a file as they will be after what was drafted so far. */
export const bytesOf = (draft: Draft, state: FileState): Buffer | null => {
  const change = draft.files.get(state.real);
  return change === undefined ? state.bytes : change.after;
};

export const textOf = (draft: Draft, state: FileState): string | null => {
  const bytes = bytesOf(draft, state);
  return bytes === null ? null : decode(bytes);
};

/** Drafts one step; equal bytes are no step. */
export function put(
  draft: Draft,
  patch: string,
  carrier: Carrier,
  state: FileState,
  after: Buffer | null,
): boolean {
  const before = bytesOf(draft, state);
  if (before === null ? after === null : after !== null && before.equals(after)) return false;
  const hash = (bytes: Buffer | null): string | null => (bytes === null ? null : sha256(bytes));
  draft.steps.push({
    patch,
    carrier,
    path: state.path,
    action: after === null ? 'remove' : 'write',
    beforeSha256: hash(before),
    afterSha256: hash(after),
  });
  draft.texts.push({ before, after });
  draft.files.set(state.real, { state, before: state.bytes, after });
  return true;
}

export const refuse = (
  draft: Draft,
  patch: string,
  carrier: Carrier,
  code: string,
  reason: string,
  more: { lookedFor?: string; found?: string; alternative?: string } = {},
): void => {
  draft.refusals.push({
    patch,
    carrier,
    code,
    reason,
    lookedFor: more.lookedFor ?? null,
    found: more.found ?? null,
    alternative: more.alternative ?? null,
  });
};

/**
 * Files that end up different, in the order in which they are written: what makes the engine use the rest comes last, and
 * goes first when it is taken out. So each moment in between behaves as before or as after.
 */
export function changesOf(draft: Draft, action: 'apply' | 'revert'): FileChange[] {
  const changes = [...draft.files.values()].filter(({ before, after }) =>
    before === null ? after !== null : after === null || !before.equals(after),
  );
  const sign = action === 'apply' ? 1 : -1;
  return changes.sort((a, b) => sign * (weight(a) - weight(b)));
}

function weight({ state }: FileChange): number {
  if (state.path.endsWith('/config.yaml')) return 3;
  if (state.path.endsWith('/manifest.json')) return 1;
  return state.path.includes('/plugins/hermes-compat/') || state.path.includes('/hermes_compat_') ? 0 : 2;
}
