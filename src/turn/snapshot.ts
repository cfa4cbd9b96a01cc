import { append, lack, seal, streamedText, type TurnState } from './state.ts';
import { indexBehind, sharedEnds, squeeze } from './text.ts';

/**
 * The in-flight text of an attach answer: all deltas of the turn so far, joined, without tools and reasoning.
 * `following` are the text deltas that reached the new socket before the answer; they are added after this, so what the snapshot holds of
 * them is left out here. `offsets` are the places of redirects in `text`.
 */
export interface Snapshot {
  text: string;
  following: readonly string[];
  offsets: readonly number[];
}

/** Adds what the snapshot holds and the turn does not. */
export function addMissing(state: TurnState, snapshot: Snapshot, at: number | null): void {
  const from = knownLength(state, snapshot.text);
  const missing = snapshot.text.slice(from);
  const end = missing.length - heldOf(snapshot.following, missing);
  if (mayHideTool(state, missing.slice(0, end))) lack(state, 'boundary');
  let done = 0;
  for (const offset of snapshot.offsets) {
    const cut = offset - from;
    if (cut <= done || cut >= end) continue;
    append(state, 'text', missing.slice(done, cut), at);
    seal(state);
    done = cut;
  }
  if (end > done) append(state, 'text', missing.slice(done, end), at);
}

/** The engine begins the text after a tool with a blank line, and the snapshot names no tools. The tool before it may be known. */
function mayHideTool(state: TurnState, missing: string): boolean {
  const isBehindTool =
    state.open?.kind !== 'text' && state.parts.findLast((part) => part.type !== 'reasoning')?.type === 'tool';
  return /\n\n\s*\S/.test(isBehindTool ? missing.trimStart() : missing);
}

/** How much of the snapshot is known already. */
function knownLength(state: TurnState, text: string): number {
  const known = streamedText(state);
  if (text.startsWith(known)) return known.length;
  if (known.startsWith(text)) return text.length;
  const seen = squeeze(known);
  const all = squeeze(text);
  if (seen.includes(all)) return text.length;
  const isLonger = all.startsWith(seen);
  if (!isLonger) lack(state, 'snapshot-differs');
  const at = indexBehind(text, isLonger ? seen.length : (sharedEnds(seen, all)[0] ?? 0));
  // A space that stands at the end of what is known is not said again.
  return at + (/\s$/.test(known) ? (/^\s*/.exec(text.slice(at))?.[0].length ?? 0) : 0);
}

/** Length of the end of `missing` that consists of the first whole deltas of `following`. */
function heldOf(following: readonly string[], missing: string): number {
  if (following.length === 0 || missing === '') return 0;
  const ends = new Set<number>();
  let joined = '';
  for (const delta of following) {
    joined += delta;
    if (joined.length > missing.length) break;
    ends.add(joined.length);
  }
  return sharedEnds(missing, joined).find((length) => ends.has(length)) ?? 0;
}
