import { filledText, isObject, listOf, objectOf, parseJson, textOf, type Json } from './json.ts';
import type { LogRecord } from './types.ts';

/**
 * A turn over `POST /v1/chat/completions` of the gateway's API server (legacy transport), put into the words of the gateway, so that the same
 * reducer settles it. Sources: `gateway/platforms/api_server.py` (0.14 to 0.19), `api_server_openai_routes.py` (0.22).
 *
 * The stream has text and, as `hermes.tool.progress`, names of tools with their beginning and end, never arguments or results. Reasoning, status
 * lines and approvals are in it from 0.21.4 on; before, only the reason of the last chunk tells how the turn ended, and up to 0.17 not even that.
 */
export interface CompletionTurn {
  /** A piece of the body as it came. */
  push(text: string): void;
  /** An answer that is no stream: the failure as the server words it. */
  refuse(status: number, body: unknown): void;
  /** This client closes the connection; the engine then ends the turn. */
  stop(): void;
  /** The stream is over. Without its last chunk the end of the turn was not seen. */
  end(): void;
}

export interface CompletionOptions {
  /** Names the conversation in the records. */
  session: string;
  prompt: string;
  /** Its stored id, where the client names one. */
  stored: string | null;
  now(): number;
  record(record: LogRecord): void;
}

interface State {
  options: CompletionOptions;
  /** What of the body is no whole line yet. */
  rest: string;
  event: string | null;
  data: string[];
  /** Text since the last tool. */
  segment: string;
  finish: { reason: string; error: string | null } | null;
  ended: boolean;
}

export function readCompletion(options: CompletionOptions): CompletionTurn {
  const { session, prompt, stored } = options;
  const state: State = { options, rest: '', event: null, data: [], segment: '', finish: null, ended: false };
  const id = `legacy-${options.now()}`;
  request(state, id, 'prompt.submit', { session_id: session, text: prompt });
  record(state, 'in', { jsonrpc: '2.0', id, result: { status: 'streaming' } });
  if (stored !== null) event(state, 'session.info', { stored_session_id: stored });
  event(state, 'message.start', {});
  return {
    push: (text) => push(state, text),
    refuse(status, body) {
      event(state, 'error', { message: refusal(status, body) });
      state.ended = true;
    },
    stop() {
      if (state.ended) return;
      request(state, `${id}-stop`, 'session.interrupt', { session_id: session });
      complete(state, { status: 'interrupted', text: state.segment });
    },
    end() {
      if (!state.ended && state.finish !== null) finish(state, state.finish);
    },
  };
}

/** Server-sent events: lines, an empty one ends an event; what begins with a colon keeps the connection alive. */
function push(state: State, text: string): void {
  const lines = (state.rest + text).split(/\r?\n/);
  state.rest = lines.pop() ?? '';
  for (const line of lines) {
    if (line === '') take(state);
    else if (line.startsWith('event:')) state.event = line.slice(6).trim();
    else if (line.startsWith('data:')) state.data.push(line.slice(5).trimStart());
  }
}

function take(state: State): void {
  const { event: name, data } = state;
  const text = data.join('\n');
  state.event = null;
  state.data = [];
  if (state.ended || text === '') return;
  if (text === '[DONE]') return finish(state, state.finish ?? { reason: 'stop', error: null });
  const value = objectOf(parseJson(text));
  if (name === 'hermes.tool.progress') return tool(state, value);
  if (name === 'hermes.status') return event(state, 'status.update', value);
  if (name === 'approval.request') return event(state, name, value);
  if (name === null || name === 'message') chunk(state, value);
}

function chunk(state: State, value: Json): void {
  const choice = objectOf(listOf(value['choices'])[0]);
  const delta = objectOf(choice['delta']);
  const thought = filledText(delta['reasoning_content']);
  if (thought !== null) event(state, 'reasoning.delta', { text: thought });
  const text = textOf(delta['content']);
  if (text !== null && text !== '') {
    state.segment += text;
    event(state, 'message.delta', { text });
  }
  const reason = filledText(choice['finish_reason']);
  if (reason !== null) state.finish = { reason, error: errorOf(value) };
}

function tool(state: State, value: Json): void {
  const call = { tool_id: value['toolCallId'], name: value['tool'] };
  if (value['status'] === 'completed') return event(state, 'tool.complete', call);
  state.segment = '';
  event(state, 'tool.start', { ...call, context: value['label'] });
}

function finish(state: State, { reason, error }: NonNullable<State['finish']>): void {
  if (reason === 'stop') return complete(state, { status: 'complete', text: state.segment.trim() });
  const message = error ?? `The engine ended the turn with "${reason}".`;
  complete(state, { status: 'error', text: state.segment.trim(), error: message });
}

function errorOf(value: Json): string | null {
  const { error, hermes } = value;
  return (isObject(error) ? filledText(error['message']) : null) ?? filledText(objectOf(hermes)['error']);
}

function refusal(status: number, body: unknown): string {
  return errorOf(objectOf(body)) ?? `The API server answered with HTTP ${status}.`;
}

function complete(state: State, payload: Json): void {
  if (state.ended) return;
  state.ended = true;
  event(state, 'message.complete', payload);
}

function event(state: State, type: string, payload: Json): void {
  const { session } = state.options;
  record(state, 'in', { jsonrpc: '2.0', method: 'event', params: { type, session_id: session, payload } });
}

function request(state: State, id: string, method: string, params: Json): void {
  record(state, 'out', { jsonrpc: '2.0', id, method, params });
}

function record({ options }: State, dir: 'in' | 'out', frame: Json): void {
  options.record({ t: options.now(), dir, conn: 'legacy', frame });
}
