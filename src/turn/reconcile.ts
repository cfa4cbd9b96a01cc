import { ownerOfAnswer, pairTurns } from './pairs.ts';
import {
  answersOf,
  isBubble,
  isFailed,
  rowsOf,
  splitTurns,
  type ActiveTurn,
  type Row,
  type RowTurn,
} from './rows.ts';
import { sameText, squeeze } from './text.ts';

/**
 * Marks the active turn as failed: the answer that is being written keeps its text and gets the error; without one a row of its own ends the
 * turn; without the prompt it comes last. The first error of a turn stays.
 */
export function markTurnFailed(current: readonly Row[], activeTurn: ActiveTurn, error: string): Row[] {
  const { turnId, userId } = activeTurn;
  const turns = splitTurns(current);
  const byId = turns.find((turn) => turn.user?.id === userId);
  const turn = byId ?? turns.find((one) => one.user?.turnId === turnId) ?? null;
  const mine = turn?.rows ?? current.filter((row) => row.turnId === turnId && row.role === 'agent');
  if (mine.some(isFailed)) return [...current];
  const writing = mine.findLast((row) => isBubble(row) && row.pending === true);
  if (writing !== undefined) return current.map((row) => (row === writing ? withError(row, error) : row));
  const added: Row = { id: `error-${turnId}`, role: 'agent', content: '', error, localOnly: true, turnId };
  const last = turn === null ? undefined : rowsOf(turn).at(-1);
  const at = last === undefined ? current.length : current.indexOf(last) + 1;
  return [...current.slice(0, at), added, ...current.slice(at)];
}

function withError(row: Row, error: string): Row {
  const { pending: _, ...rest } = row;
  return { ...rest, error, localOnly: true };
}

export interface ReconcileOptions {
  activeTurn?: ActiveTurn | null;
}

/**
 * Joins what is shown with what the store holds. If the active turn failed, nothing changes. Else the stored rows count; a row that is shown
 * already keeps its id and turn. Turns that the store does not have yet stay, and errors stay at their own prompt.
 */
export function reconcileAfterRefresh(
  current: readonly Row[],
  stored: readonly Row[],
  { activeTurn = null }: ReconcileOptions = {},
): Row[] {
  if (activeTurn?.status === 'failed') return [...current];
  return join(current, stored, { activeTurn, keepUnsaved: true });
}

/** Puts the errors of shown turns into rows that came from the store; of turns without an error nothing is taken. */
export function preserveLocalErrors(next: readonly Row[], current: readonly Row[]): Row[] {
  return join(current, next, { activeTurn: null, keepUnsaved: false });
}

interface JoinOptions {
  activeTurn: ActiveTurn | null;
  /** Shown turns outside of all pairs are not stored yet. */
  keepUnsaved: boolean;
}

function join(current: readonly Row[], stored: readonly Row[], options: JoinOptions): Row[] {
  const shown = splitTurns(current);
  const kept = splitTurns(stored);
  const pairs = pairTurns(shown, kept);
  const out: Row[] = [];
  let shownAt = 0;
  let keptAt = 0;
  pairs.forEach((pair, i) => {
    const keepAll = i === 0 && options.keepUnsaved;
    out.push(...between(shown.slice(shownAt, pair.shown), kept.slice(keptAt, pair.kept), keepAll));
    const [here, there] = [shown[pair.shown]!, kept[pair.kept]!];
    const owner = ownerOfAnswer(shown, pair, there, pairs[i + 1]?.shown ?? shown.length);
    if (owner === null) {
      out.push(...joinPair(here, there, options.activeTurn));
    } else {
      const answered = shown[owner]!;
      out.push(...joinPair(here, { user: there.user, rows: [] }, options.activeTurn));
      out.push(...between(shown.slice(pair.shown + 1, owner), [], false));
      out.push(...joinPair(answered, { user: answered.user, rows: there.rows }, options.activeTurn));
    }
    shownAt = (owner ?? pair.shown) + 1;
    keptAt = pair.kept + 1;
  });
  return [...out, ...tail(shown.slice(shownAt), kept.slice(keptAt), options.keepUnsaved)];
}

/** Between two pairs only failed turns stay of what is shown; before the first pair all do. */
function between(shown: readonly RowTurn[], kept: readonly RowTurn[], keepAll: boolean): Row[] {
  const staying = shown.filter((turn) => keepAll || turn.rows.some(isFailed));
  return [...staying, ...kept].flatMap(rowsOf);
}

/** After the last pair: failed turns do not move behind stored rows of others; from the first that is only not stored yet, the tail comes last. */
function tail(shown: readonly RowTurn[], kept: readonly RowTurn[], keepAll: boolean): Row[] {
  const unsaved = shown.findIndex((turn) => !turn.rows.some(isFailed));
  const failed = unsaved < 0 ? shown.length : unsaved;
  const first = between(shown.slice(0, failed), kept, keepAll);
  return [...first, ...between(shown.slice(failed), [], keepAll)];
}

function joinPair(shown: RowTurn, kept: RowTurn, activeTurn: ActiveTurn | null): Row[] {
  const used = new Set<Row>();
  const user = kept.user === null ? [] : [joinRow(kept.user, shown.user)];
  const rows = kept.rows.map((row) => {
    const same = shown.rows.find((other) => !used.has(other) && isSameRow(other, row));
    if (same !== undefined) used.add(same);
    return joinRow(row, same ?? null);
  });
  const failed = shown.rows.some(isFailed);
  const running = activeTurn?.status === 'running' && shown.user !== null && isActive(shown.user, activeTurn);
  const unanswered = failed && answersOf(kept).length === 0;
  if (!unanswered && !running) return [...user, ...rows];
  const seen = squeeze(rows.map((row) => row.content).join(''));
  const own = shown.rows.filter((row) => !used.has(row) && (isFailed(row) || !isHeld(row, seen)));
  // One error a turn: that of the store only where nothing shown has one.
  const held = own.some(isFailed) ? rows.filter((row) => !isFailed(row)) : rows;
  return [...user, ...held, ...own];
}

function isActive(user: Row, activeTurn: ActiveTurn): boolean {
  return user.id === activeTurn.userId || user.turnId === activeTurn.turnId;
}

/** True when the store holds the text of the row already, in whatever pieces. */
function isHeld(row: Row, seen: string): boolean {
  const text = squeeze(row.content);
  return text !== '' && seen.includes(text);
}

/** The same row in both lists: by id, else by kind and text; an answer that is being written is the beginning of the stored one. */
function isSameRow(shown: Row, kept: Row): boolean {
  if (shown.id === kept.id) return true;
  if (shown.role !== kept.role || shown.kind !== kept.kind) return false;
  if (isFailed(shown) && isFailed(kept) && shown.content === '' && kept.content === '') return true;
  if (shown.content !== '' && sameText(shown.content, kept.content)) return true;
  return (
    shown.pending === true && shown.content !== '' && squeeze(kept.content).startsWith(squeeze(shown.content))
  );
}

/** Text and attachments come from the store, identity and a local error from what is shown. */
function joinRow(kept: Row, shown: Row | null): Row {
  if (shown === null) return kept;
  const row: Row = { ...kept, id: shown.id };
  if (shown.turnId !== undefined) row.turnId = shown.turnId;
  if (shown.error !== undefined) row.error = shown.error;
  if (kept.attachments === undefined && shown.attachments !== undefined) row.attachments = shown.attachments;
  return row;
}
