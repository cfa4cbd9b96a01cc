import { isObject, listOf, numberOf, textOf, type Json } from './json.ts';
import { answersOf, isFailed, rowsOf, splitTurns, type Row, type RowTurn } from './rows.ts';
import { sameText } from './text.ts';

/** An error that only the client knows, kept to survive a restart. `createdAt` is milliseconds since 1970. */
export interface OverlayEvent {
  sessionId: string;
  turnId: string;
  afterUserId?: string;
  afterUserText: string;
  error: string;
  createdAt: number;
  /** The prompt that was sent next. Up to 0.16 engines do not store it after a failed turn, and its answer stands under the failed prompt. */
  nextUserText?: string;
}

/**
 * Brings the errors of a session back into its stored rows: below their prompt, if that has no answer; a prompt that was never stored comes back
 * as well, at the end. An answer below it that belongs to the next prompt, which was never stored, goes to that prompt.
 */
export function restoreOverlay(
  stored: readonly Row[],
  overlay: readonly OverlayEvent[],
  session: string,
): Row[] {
  const turns = splitTurns(stored);
  const taken = new Set<RowTurn>();
  const lost: Row[] = [];
  const mine = overlay.filter((event) => event.sessionId === session);
  for (const event of mine.toSorted((a, b) => a.createdAt - b.createdAt)) {
    const turn = promptOf(turns, event, taken);
    if (turn === 'answered') {
      splitAnswer(turns, event, taken);
      continue;
    }
    if (turn === null) {
      lost.push(promptRow(event), errorRow(event));
      continue;
    }
    taken.add(turn);
    // Engines from 0.20 on can hold the error themselves.
    if (!turn.rows.some(isFailed)) turn.rows.push(errorRow(event));
  }
  return [...turns.flatMap(rowsOf), ...lost];
}

/** The turn of the prompt: by id, else the first unanswered one with its text; null when it was never stored. */
function promptOf(
  turns: readonly RowTurn[],
  event: OverlayEvent,
  taken: ReadonlySet<RowTurn>,
): RowTurn | 'answered' | null {
  const byId = turns.find((turn) => turn.user !== null && turn.user.id === event.afterUserId);
  if (byId !== undefined) return isOpen(byId, taken) ? byId : 'answered';
  const same = turns.filter((turn) => turn.user !== null && isPrompt(turn.user.content, event.afterUserText));
  if (same.length === 0) return null;
  return same.find((turn) => isOpen(turn, taken)) ?? 'answered';
}

/** Where the next prompt is stored nowhere, the answer below the failed one is its answer. */
function splitAnswer(turns: RowTurn[], event: OverlayEvent, taken: Set<RowTurn>): void {
  const { nextUserText, turnId, afterUserId, afterUserText } = event;
  if (nextUserText === undefined) return;
  const at = turns.findIndex(
    ({ user }) => user !== null && (user.id === afterUserId || isPrompt(user.content, afterUserText)),
  );
  const turn = turns[at];
  const isStored = turns
    .slice(at + 1)
    .some(({ user }) => user !== null && isPrompt(user.content, nextUserText));
  if (turn === undefined || isStored || taken.has(turn)) return;
  const user: Row = {
    id: `overlay-next-${turnId}`,
    role: 'user',
    content: nextUserText,
    localOnly: true,
    turnId,
  };
  turns.splice(at + 1, 0, { user, rows: turn.rows });
  turn.rows = [errorRow(event)];
  taken.add(turn);
}

function isOpen(turn: RowTurn, taken: ReadonlySet<RowTurn>): boolean {
  return !taken.has(turn) && answersOf(turn).length === 0;
}

/** Long prompts are kept by their beginning. */
function isPrompt(content: string, kept: string): boolean {
  return sameText(content, kept) || (kept.length >= textLimit && content.startsWith(kept));
}

function promptRow(event: OverlayEvent): Row {
  const { turnId, afterUserText } = event;
  return { id: `overlay-user-${turnId}`, role: 'user', content: afterUserText, localOnly: true, turnId };
}

function errorRow(event: OverlayEvent): Row {
  return {
    id: `overlay-${event.turnId}`,
    role: 'agent',
    content: '',
    error: event.error,
    localOnly: true,
    turnId: event.turnId,
  };
}

/** Leaves out the errors of sessions that no longer exist. */
export function pruneOverlay(overlay: readonly OverlayEvent[], sessions: Iterable<string>): OverlayEvent[] {
  const living = new Set(sessions);
  return overlay.filter((event) => living.has(event.sessionId));
}

/** Longest text and error that are kept, in characters. */
const textLimit = 8000;

export function shortened(event: OverlayEvent): OverlayEvent {
  return {
    ...event,
    afterUserText: event.afterUserText.slice(0, textLimit),
    error: event.error.slice(0, textLimit),
    ...(event.nextUserText === undefined ? {} : { nextUserText: event.nextUserText.slice(0, textLimit) }),
  };
}

/**
 * The events of an overlay file, in the order of the file. Both shapes are read: a list of events, and sessions with their `localEvents`
 * (`afterUserContent` for the prompt); what fits neither is left out. null: the text is no such file.
 */
export function overlayEventsOf(value: unknown): OverlayEvent[] | null {
  const list = Array.isArray(value)
    ? value
    : isObject(value)
      ? (value['events'] ?? value['overlays'] ?? value['sessions'])
      : null;
  if (!Array.isArray(list)) return null;
  return listOf(list)
    .filter(isObject)
    .flatMap((one) => {
      if (!Array.isArray(one['localEvents'])) return eventOf(one, textOf(one['sessionId']));
      return one['localEvents'].filter(isObject).flatMap((event) => eventOf(event, textOf(one['sessionId'])));
    });
}

function eventOf(value: Json, sessionId: string | null): OverlayEvent[] {
  const turnId = textOf(value['turnId']);
  const afterUserText = textOf(value['afterUserText']) ?? textOf(value['afterUserContent']);
  const error = textOf(value['error']);
  if (sessionId === null || turnId === null || afterUserText === null || error === null) return [];
  const afterUserId = textOf(value['afterUserId']);
  const nextUserText = textOf(value['nextUserText']);
  const event: OverlayEvent = {
    sessionId,
    turnId,
    afterUserText,
    error,
    createdAt: numberOf(value['createdAt']) ?? 0,
  };
  if (nextUserText !== null) event.nextUserText = nextUserText;
  return [afterUserId === null ? event : { ...event, afterUserId }];
}
