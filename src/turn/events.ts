import { completionErrorText } from './completion-error.ts';
import { complete, fail, terminalOf, type Terminal } from './ending.ts';
import { filledText, textOf, type Json } from './json.ts';
import { isBudgetExhausted, isCompression } from './phrases.ts';
import { answerQuestion, askQuestion, questionKind, questionOf } from './questions.ts';
import {
  addStored,
  closeCurrent,
  endUnseen,
  type Core,
  type EventInput,
  type Session,
  type World,
} from './core.ts';
import { append, lack, seal, type TurnState } from './state.ts';
import { completeTool, startTool } from './tools.ts';
import type { Activity } from './types.ts';

/** Events without a session id that belong to the one running turn. */
export function isForeground(type: string): boolean {
  return (
    type.startsWith('message.') ||
    type.startsWith('reasoning.') ||
    type.startsWith('tool.') ||
    type === 'error'
  );
}

export function applyEvent(session: Session, input: EventInput, world: World): void {
  const { core } = session;
  const { type, payload } = input;
  if (type === 'message.delta' || type === 'reasoning.delta') {
    const text = payload['text'];
    if (core.current !== null && typeof text === 'string') {
      const state = core.current.state;
      state.idleSeen = false;
      if (state.reattached && type === 'message.delta') noteUnseenTool(state, text);
      if (type === 'reasoning.delta') return append(state, 'reasoning', text, input.at);
      if (state.lastStatus !== null && text.trim() !== '') state.lastStatus = null;
      append(state, 'text', text, input.at);
    }
    return;
  }
  if (type === 'message.start') return start(session, input, world);
  if (type === 'status.update') status(core, input);
  if (type === 'session.info') return info(session, payload);
  if (type === 'message.complete' && core.current === null) core.errorTail = false;
  if (core.current !== null) onTurn(core, core.current.state, input, world);
}

function onTurn(core: Core, state: TurnState, input: EventInput, world: World): void {
  const { type, payload, at } = input;
  switch (type) {
    case 'message.interim':
      return seal(state);
    case 'tool.generating':
      state.announced += 1;
      return;
    case 'tool.start':
      state.idleSeen = false;
      state.reattached = false;
      return startTool(state, payload, at, world.options);
    case 'tool.complete':
      state.idleSeen = false;
      state.reattached = false;
      return completeTool(state, payload, at, world.options);
    case 'message.complete':
      if (core.errorTail && !state.started) {
        core.errorTail = false;
        return;
      }
      complete(state, checked(terminalOf(payload), world), at);
      return closeCurrent(core, input.order);
    case 'error':
      fail(state, payload, at);
      core.errorTail = true;
      return closeCurrent(core, input.order);
    case 'request.cancel':
      return answerQuestion(state, textOf(payload['id']) ?? '', '', false);
    default:
      return ask(state, type, payload);
  }
}

/** The engine begins the text after a tool with a blank line: where text goes on like that behind an attach, a tool ran unseen. */
function noteUnseenTool(state: TurnState, text: string): void {
  const last = state.open?.kind ?? state.parts.at(-1)?.type;
  if (last === 'text' && text.startsWith('\n\n')) lack(state, 'boundary');
}

/** With the option set, a completed text that is only a failure counts as one. */
function checked(terminal: Terminal, world: World): Terminal {
  if (!world.options.detectCompletionErrors || terminal.status !== 'complete') return terminal;
  return completionErrorText(terminal.text ?? '') === null
    ? terminal
    : { ...terminal, status: 'error', byText: true };
}

function ask(state: TurnState, type: string, payload: Json): void {
  const kind = type.endsWith('.request') ? questionKind(type) : null;
  if (kind !== null) askQuestion(state, questionOf(kind, null, payload));
}

/** `message.start` begins the turn that waits, or one of the engine; inside a running turn it means nothing. */
function start(session: Session, input: EventInput, world: World): void {
  const { core } = session;
  core.errorTail = false;
  if (core.current !== null) {
    const { state } = core.current;
    if (!state.started) {
      state.started = true;
      state.version += 1;
      return;
    }
    const accepted = core.waiting.find((slot) => slot.answer === 'streaming');
    if (accepted === undefined && !state.idleSeen) return;
    endUnseen(core, input);
    if (accepted !== undefined) {
      core.waiting = core.waiting.filter((slot) => slot !== accepted);
      core.current = accepted;
    }
  }
  core.current ??= core.waiting.shift() ?? engineTurn(session, input, world);
  core.current.state.started = true;
  core.current.state.version += 1;
}

function engineTurn(session: Session, input: EventInput, world: World) {
  session.hadTurn = true;
  const fields = { session: session.id, origin: 'engine' as const, prompt: null, answer: null, rowId: null };
  return world.slots.add({ ...fields, order: input.order }, input.at);
}

function info(session: Session, payload: Json): void {
  addStored(session, filledText(payload['stored_session_id']));
  const current = session.core.current;
  if (current !== null && current.state.started && payload['running'] === false) {
    current.state.idleSeen = true;
    current.state.version += 1;
  }
}

function status(core: Core, input: EventInput): void {
  const text = textOf(input.payload['text']) ?? '';
  const kind = textOf(input.payload['kind']);
  if (isCompression(kind, text)) core.compacted = true;
  if (core.current === null) return;
  const { state } = core.current;
  state.lastStatus = text;
  if (isBudgetExhausted(text)) state.budgetExhausted = true;
  state.activity.push({ kind: activityKind(kind, text), text, at: input.at });
  state.version += 1;
}

function activityKind(kind: string | null, text: string): Activity['kind'] {
  if (isCompression(kind, text) || kind === 'compacted') return 'compression';
  if (isBudgetExhausted(text)) return 'limit';
  if (text.startsWith('❌')) return 'failure';
  if (/retry|prefilling to continue|nudging to continue/i.test(text)) return 'retry';
  return kind === 'process' ? 'process' : 'status';
}
