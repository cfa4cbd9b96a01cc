import { attachFile, type AttachedFile, type GatewayFile } from './gateway-attach.ts';
import { gatewayFailure, isGatewayFailure, openLink, type Connect, type Link } from './gateway-link.ts';
import {
  answerQuestion,
  questionOfEvent,
  questionOfRequest,
  type GatewayQuestion,
} from './gateway-questions.ts';
import { noteAttached, noteEvent, sessionOf, type Attached, type GatewaySession } from './gateway-session.ts';
import { submitPrompt, type Submitted } from './gateway-submit.ts';
import { isObject, listOf, textOf, type Json } from './json.ts';
import type { LogRecord } from './types.ts';

export interface GatewayOptions {
  connect: Connect;
  /** Every frame of both directions, as a reducer or a frame log takes it. `conn` numbers the sockets. */
  onRecord?(record: LogRecord): void;
  onEvent?(params: Json): void;
  /** Answers a question of the engine; null leaves it open. Without it none is answered. */
  onQuestion?(question: GatewayQuestion): string | null | Promise<string | null>;
  /** The socket went away without our doing. */
  onLost?(why: string): void;
  now?(): number;
  /** For an answer; a first resume of 0.14 builds an agent. Default 90 s. */
  timeoutMs?: number;
  /** Tries of `reconnect`, and the pause before each after the first, in milliseconds. Default 5 and 300, doubled each time. */
  attempts?: number;
  pauseMs?: number;
}

/** A client of the gateway at `/api/ws`. Requests reject with GatewayFailure. */
export interface Gateway {
  call(method: string, params?: Json, timeoutMs?: number): Promise<Json>;
  create(params?: Json): Promise<GatewaySession>;
  /** Attaches to a stored session, with a new handle unless one is given. */
  resume(storedId: string, session?: GatewaySession): Promise<Attached>;
  /** Attaches by runtime id (0.16 and newer; 0.16.0 itself answers but sends nothing afterwards). */
  activate(session: GatewaySession): Promise<Attached>;
  /** Asks for the events after the last one seen; the answer goes through `onRecord`. null where the engine numbers none. */
  eventsSince(session: GatewaySession): Promise<Json | null>;
  submit(session: GatewaySession, text: string): Promise<Submitted>;
  /** Sends a Stop only when a turn runs: up to 0.17 a Stop of an idle session ends the next turn. */
  interrupt(session: GatewaySession): Promise<boolean>;
  usage(session: GatewaySession): Promise<Json>;
  /** The engine's answer: false for a session that it does not know. */
  closeSession(session: GatewaySession): Promise<boolean>;
  modelOptions(session: GatewaySession | null, refresh?: boolean): Promise<Json>;
  /** For this session. `provider` is a name of `model.options`; without it the engine keeps the provider or guesses one from the model. */
  switchModel(session: GatewaySession, model: string, provider?: string): Promise<Json>;
  attach(session: GatewaySession, file: GatewayFile): Promise<AttachedFile>;
  answer(question: GatewayQuestion, answer: string): Promise<void>;
  isOpen(): boolean;
  /** A new socket, and every session attached again: resume first, then the events that were missed. */
  reconnect(): Promise<readonly Attached[]>;
  /** Lets the socket go; sessions stay known for `reconnect`. */
  drop(): void;
  close(): void;
}

interface State {
  options: GatewayOptions;
  link: Link | null;
  sockets: number;
  /** Sessions by the object: their runtime id changes. */
  sessions: Set<GatewaySession>;
  timeoutMs: number;
}

/** Opens the first socket. @throws whatever `connect` rejects with */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const state: State = {
    options,
    link: null,
    sockets: 0,
    sessions: new Set(),
    timeoutMs: options.timeoutMs ?? 90_000,
  };
  await openSocket(state);
  const gateway: Gateway = {
    call: (method, params, timeoutMs) => call(state, method, params, timeoutMs),
    create: (params = {}) => create(state, params),
    resume: (storedId, session) => resume(state, storedId, session),
    activate: async (session) => {
      state.sessions.add(session);
      return attachBy(state, 'session.activate', { session_id: session.runtimeId }, session);
    },
    eventsSince: (session) => eventsSince(state, session),
    submit: (session, text) => submitPrompt(gateway, session, text),
    async interrupt(session) {
      if (!session.running) return false;
      await call(state, 'session.interrupt', { session_id: session.runtimeId });
      return true;
    },
    usage: (session) => call(state, 'session.usage', { session_id: session.runtimeId }),
    async closeSession(session) {
      state.sessions.delete(session);
      const answer = await call(state, 'session.close', { session_id: session.runtimeId });
      return answer['closed'] === true;
    },
    modelOptions: (session, refresh = false) =>
      call(state, 'model.options', {
        ...(session === null ? {} : { session_id: session.runtimeId }),
        ...(refresh ? { refresh } : {}),
      }),
    switchModel: (session, model, provider) =>
      call(state, 'config.set', {
        session_id: session.runtimeId,
        key: 'model',
        value: provider === undefined ? model : `${model} --provider ${provider}`,
      }),
    attach: (session, file) =>
      attachFile(file, (method, params) => call(state, method, { session_id: session.runtimeId, ...params })),
    answer: (question, answer) => answerQuestion(linkOf(state, question.kind), question, answer),
    isOpen: () => state.link?.isOpen() === true,
    reconnect: () => reconnect(state),
    drop: () => letGo(state),
    close() {
      state.sessions.clear();
      letGo(state);
    },
  };
  return gateway;
}

function letGo(state: State): void {
  const { link } = state;
  state.link = null;
  link?.close();
}

async function openSocket(state: State): Promise<void> {
  const { options } = state;
  state.sockets += 1;
  // Not a constant: the socket may close while it opens.
  let link: Link | null = null;
  link = await openLink(options.connect, {
    conn: String(state.sockets),
    now: options.now ?? (() => performance.now()),
    record: (record) => options.onRecord?.(record),
    onEvent(params) {
      for (const session of state.sessions)
        if (session.runtimeId === params['session_id']) noteEvent(session, params);
      options.onEvent?.(params);
      const question = questionOfEvent(params);
      if (question !== null) void putQuestion(state, question);
    },
    onRequest(id, method, params) {
      const question = questionOfRequest(id, method, params);
      if (question !== null) void putQuestion(state, question);
      else state.link?.refuse(id, method);
    },
    onClose(why) {
      if (link === null || state.link !== link) return;
      state.link = null;
      options.onLost?.(why);
    },
  });
  state.link = link;
  // Only engines that ask by requests know it; others say that there is no such method.
  await call(state, 'client.capabilities', { server_requests: true }).catch((error: unknown) => {
    if (!isGatewayFailure(error) || error.kind !== 'refused') throw error;
  });
}

async function putQuestion(state: State, question: GatewayQuestion): Promise<void> {
  const answer = (await state.options.onQuestion?.(question)) ?? null;
  if (answer === null || state.link === null) return;
  // The turn may have ended in between, or the socket; then the question is gone.
  await answerQuestion(state.link, question, answer).catch(() => undefined);
}

function linkOf(state: State, method: string): Link {
  if (state.link === null) throw gatewayFailure('not-sent', method, 'the socket is not open');
  return state.link;
}

async function call(
  state: State,
  method: string,
  params: Json = {},
  timeoutMs = state.timeoutMs,
): Promise<Json> {
  return linkOf(state, method).request(method, params, timeoutMs);
}

async function create(state: State, params: Json): Promise<GatewaySession> {
  const session = sessionOf(await call(state, 'session.create', { cols: 100, ...params }));
  state.sessions.add(session);
  // 0.14 tells the stored id only here.
  if (session.storedId === null) {
    const title = await call(state, 'session.title', { session_id: session.runtimeId });
    session.storedId = textOf(title['session_key']);
  }
  return session;
}

async function resume(state: State, storedId: string, known?: GatewaySession): Promise<Attached> {
  const session = known ?? { runtimeId: '', storedId, running: false, lastSeq: null, ends: 0 };
  return attachBy(state, 'session.resume', { session_id: storedId, cols: 100 }, session);
}

/** The answer is noted where it stands among the frames: an event behind it may already say that the session is idle. */
async function attachBy(
  state: State,
  method: string,
  params: Json,
  session: GatewaySession,
): Promise<Attached> {
  const { ends } = session;
  const link = linkOf(state, method);
  let attached: Attached | null = null;
  const answer = await link.request(method, params, state.timeoutMs, (result) => {
    state.sessions.add(session);
    attached = noteAttached(session, result, ends);
  });
  return attached ?? noteAttached(session, answer, ends);
}

/** After the attach: frames between the two would be in neither the other way round (facts of 0.22). */
async function eventsSince(state: State, session: GatewaySession): Promise<Json | null> {
  if (session.lastSeq === null) return null;
  const params = { session_id: session.runtimeId, last_seen: session.lastSeq };
  const answer = await call(state, 'session.events.since', params).catch((error: unknown) => {
    if (isGatewayFailure(error) && error.kind === 'refused') return null;
    throw error;
  });
  // An end between the attach answer and the attach itself is only here.
  for (const event of listOf(answer?.['events'])) if (isObject(event)) noteEvent(session, event);
  return answer;
}

async function reconnect(state: State): Promise<readonly Attached[]> {
  letGo(state);
  const { attempts = 5, pauseMs = 300 } = state.options;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await openSocket(state);
      break;
    } catch (error) {
      if (attempt >= attempts) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs * 2 ** (attempt - 1)));
    }
  }
  const attached: Attached[] = [];
  for (const session of state.sessions) {
    if (session.storedId === null) continue;
    const seen = session.lastSeq;
    const again = await resume(state, session.storedId, session);
    if (seen !== null && session.lastSeq !== null) await sinceSeen(state, session, seen);
    attached.push(again);
  }
  return attached;
}

/** What came between the attach answer and now may already have moved `lastSeq`. */
async function sinceSeen(state: State, session: GatewaySession, seen: number): Promise<void> {
  const now = session.lastSeq;
  session.lastSeq = seen;
  await eventsSince(state, session);
  session.lastSeq = Math.max(now ?? seen, session.lastSeq ?? seen);
}
