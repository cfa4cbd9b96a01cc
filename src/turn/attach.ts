import { complete, fail, saidBeforeTools, settleUnseen } from './ending.ts';
import { filledText, isObject, listOf, objectOf, textOf, type Json } from './json.ts';
import { beginsEngineTurn, isControlRow, isEmptyAnswer, isSummaryRow } from './phrases.ts';
import { addMissing } from './snapshot.ts';
import { lack, type TurnState } from './state.ts';
import { holdsWords, sameText } from './text.ts';

/** What an attach answer (`session.resume`, `session.activate`) says of the session. */
export interface AttachAnswer {
  /** null: the engine does not say (0.14.0). */
  running: boolean | null;
  text: string;
  /** The prompt of the turn that runs; null when the answer does not tell it. */
  prompt: string | null;
  offsets: readonly number[];
  error: string | null;
  errorPayload: Json;
  rows: readonly Json[];
}

export function attachAnswerOf(result: Json): AttachAnswer {
  const inflight = objectOf(result['inflight']);
  const running = result['running'];
  return {
    running: typeof running === 'boolean' ? running : null,
    text: textOf(inflight['assistant']) ?? '',
    prompt: filledText(inflight['user']),
    offsets: listOf(inflight['correction_offsets']).filter((n) => typeof n === 'number'),
    error: filledText(inflight['error']),
    errorPayload: inflight,
    rows: listOf(result['messages']).filter(isObject),
  };
}

/** The turn goes on: what the snapshot holds and was not seen here is added. */
export function attachRunning(
  state: TurnState,
  answer: AttachAnswer,
  following: readonly string[],
  at: number | null,
): void {
  state.started = true;
  state.idleSeen = false;
  state.reattached = true;
  addMissing(state, { text: answer.text, following, offsets: answer.offsets }, at);
}

/**
 * The session is idle although the turn is open here: its end was not seen, and is judged by the rows. Where the engine does not say that it
 * is idle, only an answer among the rows proves the end.
 */
export function attachIdle(
  state: TurnState,
  answer: AttachAnswer,
  prompt: PromptOfTurn,
  at: number | null,
): void {
  if (answer.text !== '')
    addMissing(state, { text: answer.text, following: [], offsets: answer.offsets }, at);
  if (answer.error !== null) {
    lack(state, 'terminal');
    fail(state, { ...answer.errorPayload, message: answer.error }, at);
    state.ending?.evidence.push({ sign: 'idle-when-attached' });
    return;
  }
  const rows = rowsOfPrompt(answer.rows, prompt) ?? [];
  if (answer.running === null && replyOf(rows, state) === null) return;
  const kept = storedError(rows);
  if (kept !== null && !state.interruptConfirmed)
    return attachIdle(state, { ...answer, text: '', error: kept }, prompt, at);
  const reply = replyOf(rows, state);
  if (reply === null) return settleUnseen(state, 'idle-when-attached', at);
  lack(state, 'terminal');
  const terminal = { status: 'complete', text: reply, reasoning: null, error: null, code: null };
  complete(state, terminal, at, [{ sign: 'idle-when-attached' }, { sign: 'stored-answer' }]);
}

/** What identifies the prompt among the rows; `earlier` counts turns of this recording with the same text before it. */
export interface PromptOfTurn {
  origin: 'user' | 'engine';
  text: string | null;
  rowId: number | null;
  earlier: number;
}

function rowText(row: Json): string {
  return textOf(row['text']) ?? textOf(row['content']) ?? '';
}

function displayKind(row: Json): string | null {
  return textOf(row['display_kind']);
}

/** The rows after the row of this prompt, up to the next prompt; null when the prompt has no row. */
function rowsOfPrompt(rows: readonly Json[], prompt: PromptOfTurn): Json[] | null {
  const place = placeOfPrompt(rows, prompt);
  if (place === null) return null;
  const after = rows.slice(place + 1);
  const next = after.findIndex(
    (row) => row['role'] === 'user' && !isControlRow(rowText(row), displayKind(row)),
  );
  return next < 0 ? after : after.slice(0, next);
}

function placeOfPrompt(rows: readonly Json[], prompt: PromptOfTurn): number | null {
  const byId = rows.findIndex((row) => prompt.rowId !== null && row['row_id'] === prompt.rowId);
  if (byId >= 0) return byId;
  const sent = prompt.text ?? '';
  const places = (fits: (row: Json) => boolean) =>
    rows.flatMap((row, index) => (row['role'] === 'user' && fits(row) ? [index] : []));
  if (prompt.origin === 'engine') {
    return places((row) => beginsEngineTurn(rowText(row), displayKind(row))).at(-1) ?? null;
  }
  const same = places((row) => sameText(rowText(row), sent));
  if (same.length > 0) return same.length > prompt.earlier ? (same.at(-1) ?? null) : null;
  return places((row) => holdsWords(rowText(row), sent)).at(-1) ?? null;
}

/** An error that the engine kept in the row of a failed turn. */
function storedError(rows: readonly Json[]): string | null {
  const failed = rows.findLast((row) => displayKind(row) === 'failed_turn');
  return filledText(objectOf(failed?.['display_metadata'])['error']);
}

/** The answer that the rows hold: a last text that was not merely said before an unfinished tool. */
function replyOf(rows: readonly Json[], state: TurnState): string | null {
  const last = rows.findLastIndex((row) => row['role'] === 'tool' || isSpoken(row));
  const row = rows[last];
  if (row === undefined || row['role'] === 'tool' || listOf(row['tool_calls']).length > 0) return null;
  const text = rowText(row);
  const times = rows.filter((other) => isSpoken(other) && sameText(rowText(other), text)).length;
  return times > saidBeforeTools(state, text) ? text : null;
}

function isSpoken(row: Json): boolean {
  const text = rowText(row);
  return row['role'] === 'assistant' && !isEmptyAnswer(text, displayKind(row)) && !isSummaryRow(text);
}
