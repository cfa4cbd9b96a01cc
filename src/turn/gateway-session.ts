import { isObject, numberOf, objectOf, textOf, type Json } from './json.ts';

/**
 * One conversation as this client holds it. `runtimeId` names it on the socket and changes when the engine builds it anew; `storedId` names its
 * rows and is what `session.resume` takes. They are never interchangeable.
 */
export interface GatewaySession {
  runtimeId: string;
  storedId: string | null;
  /** A turn runs, as far as this client has seen. */
  running: boolean;
  /** Number of the last event; null on engines that do not number them (before 0.21). */
  lastSeq: number | null;
  /** Turns whose end was seen: an attach answer can be older than an end that came before it. */
  ends: number;
  /** Number of the last event that changed `running`: a replay brings older ones later. */
  changedBy?: number;
  /** How often an event or an attach answer has said whether a turn runs. */
  told?: number;
}

/** What an attach answer (`session.resume`, `session.activate`) says. */
export interface Attached {
  session: GatewaySession;
  running: boolean;
  /** The engine takes up a turn by itself that a crash had cut off; sending its prompt again would run it twice. */
  continues: boolean;
  /** The prompt that runs, when the answer tells it. */
  runningPrompt: string | null;
  messages: readonly unknown[];
}

export function sessionOf(answer: Json): GatewaySession {
  return {
    runtimeId: textOf(answer['session_id']) ?? '',
    storedId: textOf(answer['stored_session_id']),
    running: false,
    lastSeq: null,
    ends: 0,
  };
}

/** Notes an attach answer in the session. A new runtime id begins to number its events anew. */
export function noteAttached(session: GatewaySession, answer: Json, endsBefore: number): Attached {
  const id = textOf(answer['session_id']);
  if (id !== null && id !== session.runtimeId) {
    session.runtimeId = id;
    session.lastSeq = null;
    delete session.changedBy;
  }
  session.storedId = textOf(answer['resumed']) ?? textOf(answer['session_key']) ?? session.storedId;
  const inflight = objectOf(answer['inflight']);
  const running =
    answer['running'] === true || answer['status'] === 'working' || inflight['streaming'] === true;
  const continues = isObject(answer['auto_continue']);
  session.running = (running && session.ends === endsBefore) || continues;
  session.told = (session.told ?? 0) + 1;
  const { messages } = answer;
  return {
    session,
    running,
    continues,
    runningPrompt: running ? textOf(inflight['user']) : null,
    messages: Array.isArray(messages) ? messages : [],
  };
}

/** Keeps `running` and `lastSeq` by the events of this session, live or replayed. */
export function noteEvent(session: GatewaySession, params: Json): void {
  const seq = numberOf(params['seq']);
  if (seq !== null && seq > (session.lastSeq ?? -1)) session.lastSeq = seq;
  const running = runningBy(params);
  if (running === null) return;
  if (seq !== null) {
    if (seq <= (session.changedBy ?? -1)) return;
    session.changedBy = seq;
  }
  session.running = running;
  session.told = (session.told ?? 0) + 1;
  if (isEnd(params['type'])) session.ends += 1;
}

const isEnd = (type: unknown): boolean => type === 'message.complete' || type === 'error';

/** What an event says of the session; null when it says nothing. */
function runningBy(params: Json): boolean | null {
  const { type } = params;
  if (type === 'message.start') return true;
  if (isEnd(type)) return false;
  return type === 'session.info' && objectOf(params['payload'])['running'] === false ? false : null;
}
