import { gatewayFailure, type Connect, type Link } from './gateway-link.ts';
import type { GatewayQuestion } from './gateway-questions.ts';
import type { Attached, GatewaySession } from './gateway-session.ts';
import type { Json } from './json.ts';
import type { LogRecord } from './types.ts';

export interface GatewayOptions {
  connect: Connect;
  /** Every frame of both directions, as a reducer or a frame log takes it. `conn` numbers the sockets. */
  onRecord?(record: LogRecord): void;
  onEvent?(params: Json): void;
  /**
   * Answers a question of the engine; null leaves it open, and so does one that throws. Without it none is answered. What still waits after
   * a `reconnect` is asked again, unless an earlier call for it has not settled yet.
   */
  onQuestion?(question: GatewayQuestion): string | null | Promise<string | null>;
  /** What `onQuestion` threw or rejected with. */
  onError?(error: unknown): void;
  /** A socket that served went away without our doing. Not called while `reconnect` is at work, which tries again by itself. */
  onLost?(why: string): void;
  now?(): number;
  /** For an answer; a first resume of 0.14 builds an agent. Default 90 s. */
  timeoutMs?: number;
  /** Tries of `reconnect`, and the pause before each after the first, in milliseconds. Default 5 and 300, doubled each time. */
  attempts?: number;
  pauseMs?: number;
}

export interface State {
  options: GatewayOptions;
  /** The socket whose handshake has ended; null without one. */
  link: Link | null;
  /** A socket in its handshake. */
  opening: Link | null;
  sockets: number;
  /** Sessions by the object: their runtime id changes. */
  sessions: Set<GatewaySession>;
  /** Those that were made here: nobody else is there to answer what the engine asks in them. */
  created: WeakSet<GatewaySession>;
  timeoutMs: number;
  /** Requests of the engine that came over this socket, and those whose `onQuestion` has not settled. */
  asked: Set<unknown>;
  answering: Set<unknown>;
  /** The engine takes 4404 for "not shown here" and goes on waiting for another client. */
  countsDeclines: boolean;
  reconnecting: Promise<readonly Attached[]> | null;
  /** Grows with each `drop` and `close`: what was opening then is not kept. */
  drops: number;
  openedAt: number;
  /** Losses one after the other, each soon after the socket had opened. */
  shortLived: number;
}

export function newState(options: GatewayOptions): State {
  return {
    options,
    link: null,
    opening: null,
    sockets: 0,
    sessions: new Set(),
    created: new WeakSet(),
    timeoutMs: options.timeoutMs ?? 90_000,
    asked: new Set(),
    answering: new Set(),
    countsDeclines: false,
    reconnecting: null,
    drops: 0,
    openedAt: 0,
    shortLived: 0,
  };
}

/** @throws GatewayFailure `not-sent` without an open socket */
export function linkOf(state: State, method: string): Link {
  if (state.link === null) throw gatewayFailure('not-sent', method, 'the socket is not open');
  return state.link;
}

export async function call(
  state: State,
  method: string,
  params: Json = {},
  timeoutMs = state.timeoutMs,
): Promise<Json> {
  return linkOf(state, method).request(method, params, timeoutMs);
}
