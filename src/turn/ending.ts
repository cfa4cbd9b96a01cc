import { filledText, objectOf, textOf, type Json } from './json.ts';
import { cannotCompress, isNoReply, isNothingReturned, isStopSentence, stalledNotice } from './phrases.ts';
import {
  append,
  changeTool,
  insertBeforeLastText,
  lack,
  seal,
  type Ending,
  type TurnState,
} from './state.ts';
import { relate, sameText, squeeze } from './text.ts';
import type { Evidence, Outcome, ToolStatus } from './types.ts';

export const noMessage = 'The turn ended with an error; the engine gave no message.';

/** What a terminal frame says. `status` is the engine's own word. */
export interface Terminal {
  status: string;
  text: string | null;
  reasoning: string | null;
  error: string | null;
  code: string | null;
  /** The error was read out of a completed text. */
  byText?: boolean;
}

export function terminalOf(payload: Json): Terminal {
  const surface = objectOf(payload['error_surface']);
  return {
    status: statusWord(payload),
    text: textOf(payload['text']),
    reasoning: filledText(payload['reasoning']),
    error: filledText(payload['error']),
    code: textOf(surface['code']) ?? textOf(payload['failure_reason']),
  };
}

const words: Record<string, string> = { complete: 'complete', interrupted: 'interrupted', error: 'error' };

/** Engines have three words; one that is not known is not taken for success. */
function statusWord(payload: Json): string {
  const word = textOf(payload['status']);
  if (word === null) return filledText(payload['error']) === null ? 'complete' : 'error';
  return Object.hasOwn(words, word) ? word : 'error';
}

/** `message.complete`: takes what only the terminal frame holds, then settles the turn. */
export function complete(
  state: TurnState,
  terminal: Terminal,
  at: number | null,
  extra: Evidence[] = [],
): void {
  const said: Evidence = { sign: 'message.complete', value: terminal.status };
  const evidence = extra.length > 0 ? extra : [said];
  if (terminal.status === 'interrupted') return interrupted(state, terminal, evidence, at);
  if (terminal.status === 'error') return failed(state, terminal, evidence, at);
  return finished(state, terminal, evidence, at);
}

function finished(state: TurnState, terminal: Terminal, evidence: Evidence[], at: number | null): void {
  const text = terminal.text ?? '';
  const nothing = state.lastStatus !== null && isNothingReturned(state.lastStatus);
  const noReply = isNoReply(text) || nothing;
  const stalled = state.announced > 0 ? stalledNotice(text) : null;
  if (!noReply || (state.budgetExhausted && !isNoReply(text))) takeFinalText(state, text, at);
  takeReasoning(state, terminal.reasoning, at);
  if (state.budgetExhausted) {
    return settle(state, 'tool_limit_reached', [...evidence, { sign: 'budget-exhausted' }], at);
  }
  if (noReply) {
    const sign = nothing ? 'nothing-returned' : text.trim() === '' ? 'empty-text' : 'phrase';
    return settle(
      state,
      'no_response',
      [...evidence, { sign, value: nothing ? (state.lastStatus ?? '') : text }],
      at,
    );
  }
  if (stalled !== null) {
    addError(state, stalled);
    return settle(state, 'error', [...evidence, { sign: 'stalled-tool-call', value: stalled }], at);
  }
  settle(state, 'completed', evidence, at);
}

function interrupted(state: TurnState, terminal: Terminal, evidence: Evidence[], at: number | null): void {
  const text = terminal.text ?? '';
  if (text.trim() !== '' && !isStopSentence(text)) takeFinalText(state, text, at);
  takeReasoning(state, terminal.reasoning, at);
  const reasons = stopReasons(state);
  settle(state, reasons.length > 0 ? 'cancelled' : 'interrupted', [...evidence, ...reasons], at);
}

function stopReasons(state: TurnState): Evidence[] {
  const reasons: Evidence[] = [];
  if (state.interruptSent) reasons.push({ sign: 'interrupt-sent' });
  if (state.displaced) reasons.push({ sign: 'displaced-by-queued-prompt' });
  return reasons;
}

function failed(state: TurnState, terminal: Terminal, evidence: Evidence[], at: number | null): void {
  const text = filledText(terminal.text);
  const completes = text !== null && completesStream(state, text);
  const repeats = completes || (text !== null && repeatsStream(state, text));
  if (completes) takeFinalText(state, text, at);
  takeReasoning(state, terminal.reasoning, at);
  const message = terminal.error ?? (repeats ? null : text);
  const { outcome, sign } = errorOutcome(state, terminal, message ?? '');
  if (terminal.byText === true) sign.push({ sign: 'phrase', value: message ?? '' });
  if (outcome !== 'no_response') addError(state, message ?? noMessage);
  settle(state, outcome, [...evidence, ...sign], at);
}

/** An `error` event ends the turn; after the client's interrupt it only says that the turn was cancelled. */
export function fail(state: TurnState, payload: Json, at: number | null): void {
  const message = filledText(payload['message']) ?? filledText(payload['error']);
  const evidence: Evidence[] = [{ sign: 'error-event', value: message ?? '' }];
  seal(state);
  if (state.interruptSent) return settle(state, 'cancelled', [...evidence, { sign: 'interrupt-sent' }], at);
  const terminal = { ...terminalOf(payload), text: null, error: message };
  const { outcome, sign } = errorOutcome(state, terminal, message ?? '');
  addError(state, message ?? noMessage);
  settle(state, outcome, [...evidence, ...sign], at);
}

/** The specific outcome wins over `error`. */
function errorOutcome(
  state: TurnState,
  terminal: Terminal,
  message: string,
): { outcome: Outcome; sign: Evidence[] } {
  if (terminal.code === 'context_overflow') {
    return { outcome: 'compression_exhausted', sign: [{ sign: 'error-code', value: terminal.code }] };
  }
  if (cannotCompress(message)) {
    return { outcome: 'compression_exhausted', sign: [{ sign: 'phrase', value: message }] };
  }
  if (state.budgetExhausted) return { outcome: 'tool_limit_reached', sign: [{ sign: 'budget-exhausted' }] };
  if (message !== '' && isNoReply(message))
    return { outcome: 'no_response', sign: [{ sign: 'phrase', value: message }] };
  return {
    outcome: 'error',
    sign: terminal.code === null ? [] : [{ sign: 'error-code', value: terminal.code }],
  };
}

/** The text of an error turn is its message, unless it only repeats what was streamed: all of it, or the last attempt. */
function repeatsStream(state: TurnState, text: string): boolean {
  return squeeze(lastText(state) ?? '').endsWith(squeeze(text));
}

/** Nor is it the message if it holds what was streamed and more. A few characters can be the beginning of anything. */
function completesStream(state: TurnState, text: string): boolean {
  const last = lastText(state);
  if (last === null || squeeze(last).length < 8) return false;
  const relation = relate(last, text).kind;
  return relation === 'beginning' || relation === 'holes';
}

/** The text that a final text can be the whole of: the open segment, or a last part that is text. */
function lastText(state: TurnState): string | null {
  if (state.open !== null) return state.open.kind === 'text' ? filledText(state.open.raw) : null;
  const last = state.parts.at(-1);
  return last?.type === 'text' ? last.text : null;
}

/** The final text is the last segment: it confirms, completes or divides what was streamed, or is a part of its own. */
function takeFinalText(state: TurnState, text: string, at: number | null): void {
  const last = lastText(state);
  seal(state);
  const relation = last === null ? { kind: 'other' as const } : relate(last, text);
  switch (relation.kind) {
    case 'same':
      return;
    case 'cut':
      replaceLastText(state, (last ?? '').slice(0, relation.at), (last ?? '').slice(relation.at));
      return lack(state, 'boundary');
    case 'beginning':
      return replaceLastText(state, text);
    case 'holes':
      replaceLastText(state, text);
      return lack(state, 'deltas');
    case 'other':
      append(state, 'text', text, at);
      return seal(state);
    default:
      relation satisfies never;
  }
}

function replaceLastText(state: TurnState, ...texts: string[]): void {
  const last = state.parts.pop();
  for (const text of texts) {
    if (last?.type === 'text' && text.trim() !== '') state.parts.push({ ...last, text: text.trim() });
  }
  state.version += 1;
}

/** Reasoning that came only with the terminal frame stands before the last text. */
function takeReasoning(state: TurnState, reasoning: string | null, at: number | null): void {
  seal(state);
  if (reasoning === null) return;
  const wanted = squeeze(reasoning);
  const known = state.parts.some((part) => part.type === 'reasoning' && squeeze(part.text).endsWith(wanted));
  if (!known)
    insertBeforeLastText(state, { type: 'reasoning', text: reasoning.trim(), startedAt: at, endedAt: at });
}

export function addError(state: TurnState, error: string): void {
  seal(state);
  state.parts.push({ type: 'error', error });
  state.version += 1;
}

const byPhrase = new Set<Evidence['sign']>([
  'phrase',
  'nothing-returned',
  'stalled-tool-call',
  'stored-answer',
]);

/** Ends the turn. Tools that are still open were cancelled with the turn, or their end was not seen. */
export function settle(state: TurnState, outcome: Outcome, evidence: Evidence[], at: number | null): void {
  seal(state);
  const open: ToolStatus = outcome === 'cancelled' ? 'cancelled' : 'running';
  for (const callId of state.openTools) {
    changeTool(state, callId, { status: open });
    if (open === 'running') lack(state, 'tool-end');
  }
  state.questions = [];
  state.ending = { outcome, evidence, confidence: confidenceOf(evidence) };
  state.endedAt = at;
  state.version += 1;
}

function confidenceOf(evidence: Evidence[]): Ending['confidence'] {
  if (evidence.some((e) => e.sign === 'end-not-seen' || e.sign === 'idle-when-attached')) return 'possible';
  return evidence.some((e) => byPhrase.has(e.sign)) ? 'likely' : 'certain';
}

/** Ends a turn whose terminal frame was not seen. */
export function settleUnseen(
  state: TurnState,
  sign: 'end-not-seen' | 'idle-when-attached',
  at: number | null,
): void {
  lack(state, 'terminal');
  const evidence: Evidence[] = [{ sign }];
  if (state.interruptConfirmed) evidence.push({ sign: 'interrupt-confirmed' });
  settle(state, state.interruptConfirmed ? 'cancelled' : 'interrupted', evidence, at);
}

/** True when the text is among the texts that were said before a tool call or an announced one. */
export function saidBeforeTools(state: TurnState, text: string): number {
  let count = 0;
  const texts: string[] = [];
  for (const part of state.parts) {
    if (part.type === 'text') texts.push(part.text);
    if (part.type === 'tool') count += texts.splice(0).filter((said) => sameText(said, text)).length;
  }
  if (state.announced > 0) {
    if (state.open?.kind === 'text') texts.push(state.open.raw);
    count += texts.filter((said) => sameText(said, text)).length;
  }
  return count;
}
