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
  }
  session.storedId = textOf(answer['resumed']) ?? textOf(answer['session_key']) ?? session.storedId;
  const inflight = objectOf(answer['inflight']);
  const running =
    answer['running'] === true || answer['status'] === 'working' || inflight['streaming'] === true;
  const continues = isObject(answer['auto_continue']);
  session.running = (running && session.ends === endsBefore) || continues;
  const { messages } = answer;
  return {
    session,
    running,
    continues,
    runningPrompt: running ? textOf(inflight['user']) : null,
    messages: Array.isArray(messages) ? messages : [],
  };
}

/** Keeps `running` and `lastSeq` by the events of this session. */
export function noteEvent(session: GatewaySession, params: Json): void {
  const seq = numberOf(params['seq']);
  if (seq !== null && seq > (session.lastSeq ?? -1)) session.lastSeq = seq;
  const type = params['type'];
  const payload = objectOf(params['payload']);
  if (type === 'message.start') session.running = true;
  else if (type === 'message.complete' || type === 'error') {
    session.running = false;
    session.ends += 1;
  } else if (type === 'session.info' && typeof payload['running'] === 'boolean' && !payload['running'])
    session.running = false;
}
