import { matchTurns, type Match } from './match.ts';
import type { StoredSessions } from './stored-sessions.ts';
import { turnsOfRows, type StoredTurn } from './stored.ts';
import { squeeze } from './text.ts';
import type { Part, Turn } from './types.ts';

export type DifferenceCode =
  | 'missing-user'
  | 'user-text-expanded'
  | 'redirect-row'
  | 'missing-assistant'
  | 'store-shorter'
  | 'split-differs'
  | 'live-incomplete'
  | 'extra-assistant-row'
  | 'extra-control-row'
  | 'reasoning-differs'
  | 'missing-tool-rows'
  | 'extra-tool-rows'
  | 'dangling-tool-call'
  | 'truncated-result'
  | 'rewritten-by-compaction'
  | 'ids-rotated'
  | 'order-differs'
  | 'unseen-turn';

/** `turn` is the index of the live turn, null when the difference is not about one. */
export interface Difference {
  turn: number | null;
  code: DifferenceCode;
}

export interface Comparison {
  equal: boolean;
  differences: Difference[];
}

/**
 * The true differences between live turns and stored rows; texts are compared without white space. A turn that several of the asked sessions
 * hold (compaction moves and copies) is compared with the first of them.
 */
export function compare(turns: readonly Turn[], stored: StoredSessions): Comparison {
  const found = new Map<string, Difference>();
  const add = (turn: number | null, code: DifferenceCode) => found.set(`${turn} ${code}`, { turn, code });
  const asked = stored.sessions.map(({ asked, answer }) => {
    if (answer.session_id !== null && answer.session_id !== asked) add(null, 'ids-rotated');
    const store = turnsOfRows(answer.messages);
    return {
      store,
      ...matchTurns(
        turns.filter((turn) => turn.stored.includes(asked)),
        store.turns,
      ),
    };
  });
  const held = new Set(
    asked.flatMap(({ matches }) => matches.filter((m) => m.stored !== null).map((m) => m.turn)),
  );
  const done = new Set<Turn>();
  for (const session of asked) compareSession(session, held, done, add);
  const differences = [...found.values()].sort(byTurnThenCode);
  return { equal: differences.length === 0, differences };
}

function byTurnThenCode(a: Difference, b: Difference): number {
  return (a.turn ?? -1) - (b.turn ?? -1) || (a.code < b.code ? -1 : a.code > b.code ? 1 : 0);
}

type Add = (turn: number | null, code: DifferenceCode) => void;

interface AskedSession {
  store: { turns: StoredTurn[]; holdsSummary: boolean };
  matches: Match[];
  unseen: StoredTurn[];
}

function compareSession(
  { store, matches, unseen }: AskedSession,
  held: ReadonlySet<Turn>,
  done: Set<Turn>,
  add: Add,
): void {
  if (unseen.length > 0) add(null, 'unseen-turn');
  const places = matches.filter((match) => match.stored !== null).map((match) => match.place);
  if (places.some((place, i) => i > 0 && place < (places[i - 1] ?? 0))) add(null, 'order-differs');
  const everywhere = new Set(store.turns.flatMap(textsOf).map(squeeze));
  matches.forEach((match, i) => {
    if (done.has(match.turn) || (match.stored === null && held.has(match.turn))) return;
    done.add(match.turn);
    if (match.stored === null) compareUnmatched(match.turn, store.holdsSummary, everywhere, add);
    else compareMatched(match, match.stored, answersBelow(matches, i), add);
  });
}

function textsOf(turn: { parts: readonly Part[] }): string[] {
  return turn.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
}

/** Texts of the turns that follow and have no prompt row of their own: their answers stand under this turn. */
function answersBelow(matches: readonly Match[], at: number): string[] {
  const next = matches.findIndex((match, i) => i > at && match.stored !== null);
  return matches.slice(at + 1, next < 0 ? undefined : next).flatMap((match) => textsOf(match.turn));
}

function compareUnmatched(
  turn: Turn,
  holdsSummary: boolean,
  everywhere: ReadonlySet<string>,
  add: Add,
): void {
  if (holdsSummary) return add(turn.index, 'rewritten-by-compaction');
  if (turn.compacted) return add(turn.index, 'ids-rotated');
  add(turn.index, 'missing-user');
  if (textsOf(turn).some((text) => !everywhere.has(squeeze(text)))) add(turn.index, 'missing-assistant');
}

function compareMatched(match: Match, first: StoredTurn, below: readonly string[], add: Add): void {
  const { turn } = match;
  const all = [first, ...match.redirects];
  const say = (code: DifferenceCode) => add(turn.index, code);
  if (all.some((one) => one.holdsSummary)) return say('rewritten-by-compaction');
  if (turn.origin === 'user' && squeeze(first.prompt) !== squeeze(turn.prompt ?? ''))
    say('user-text-expanded');
  if (match.redirects.length > 0) say('redirect-row');
  if (all.some((one) => one.controlRows > 0)) say('extra-control-row');
  if (all.some((one) => one.emptyAnswers > 0)) say('extra-assistant-row');
  compareTexts(turn, all.flatMap(textsOf), below, say);
  if (reasoningOf(turn) !== all.map(reasoningOf).join('')) say('reasoning-differs');
  compareTools(turn, all, say);
}

function reasoningOf(turn: { parts: readonly Part[] }): string {
  return squeeze(turn.parts.map((part) => (part.type === 'reasoning' ? part.text : '')).join(''));
}

function compareTexts(
  turn: Turn,
  stored: readonly string[],
  below: readonly string[],
  say: (code: DifferenceCode) => void,
): void {
  const live = textsOf(turn).map(squeeze);
  const left = stored.map(squeeze);
  if (live.join('') === left.join('')) {
    if (live.length !== left.length || live.some((text, i) => text !== left[i])) say('split-differs');
    return;
  }
  const missing = live.filter((text) => !takeOut(left, (other) => other === text));
  for (const text of missing) {
    if (takeOut(left, (other) => other.startsWith(text))) say('live-incomplete');
    else if (takeAll(left, (other) => text.includes(other))) say('store-shorter');
    else say('missing-assistant');
  }
  for (const text of below) takeOut(left, (other) => other === squeeze(text));
  if (left.length > 0) say(turn.degraded ? 'live-incomplete' : 'extra-assistant-row');
}

function takeOut(list: string[], fits: (text: string) => boolean): boolean {
  const at = list.findIndex(fits);
  if (at >= 0) list.splice(at, 1);
  return at >= 0;
}

function takeAll(list: string[], fits: (text: string) => boolean): boolean {
  let any = false;
  while (takeOut(list, fits)) any = true;
  return any;
}

function compareTools(turn: Turn, stored: readonly StoredTurn[], say: (code: DifferenceCode) => void): void {
  const ids = (one: { parts: readonly Part[] }) =>
    one.parts.flatMap((part) => (part.type === 'tool' ? [part.callId] : []));
  const live = new Set(ids(turn));
  const kept = new Set(stored.flatMap(ids));
  if ([...live].some((id) => !kept.has(id))) say('missing-tool-rows');
  if ([...kept].some((id) => !live.has(id))) say('extra-tool-rows');
  if (stored.some((one) => one.dangling.length > 0)) say('dangling-tool-call');
  if (stored.some((one) => one.stubs.length > 0)) say('truncated-result');
}
