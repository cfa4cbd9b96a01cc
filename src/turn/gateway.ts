import { attachFile, type AttachedFile, type GatewayFile } from './gateway-attach.ts';
import { attachBy, create, eventsSince, resume } from './gateway-join.ts';
import { answerQuestion, type GatewayQuestion } from './gateway-questions.ts';
import type { Attached, GatewaySession } from './gateway-session.ts';
import { drop, openSocket, reconnect } from './gateway-socket.ts';
import { call, linkOf, newState, type GatewayOptions } from './gateway-state.ts';
import { submitPrompt, type Submitted } from './gateway-submit.ts';
import type { Json } from './json.ts';

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
  /**
   * A new socket, and every session attached again: resume first, then the events that were missed. One at a time: a call meanwhile gets the
   * same promise. Rejects after the last attempt, or with what the engine refused.
   */
  reconnect(): Promise<readonly Attached[]>;
  /** Lets the socket go; sessions stay known for `reconnect`. */
  drop(): void;
  close(): void;
}

/** Opens the first socket. @throws whatever `connect` rejects with */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const state = newState(options);
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
    drop: () => drop(state),
    close() {
      state.sessions.clear();
      drop(state);
    },
  };
  return gateway;
}
