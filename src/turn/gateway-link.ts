import { isObject, numberOf, parseJson, textOf, type Json } from './json.ts';
import type { LogRecord } from './types.ts';

/** An open socket that carries text frames. What opens it is handed in, so that this also runs in a browser. */
export interface GatewaySocket {
  send(text: string): void;
  close(): void;
}

export interface SocketEvents {
  onText(text: string): void;
  onClose(why: string): void;
}

/** Opens one socket to `/api/ws`; rejects when it does not open. */
export type Connect = (events: SocketEvents) => Promise<GatewaySocket>;

/**
 * Why a request has no result: the engine refused it (`code` as in JSON-RPC), no answer came in time, the socket closed before the answer, or
 * there was no open socket, so that nothing was sent.
 */
export interface GatewayFailure extends Error {
  kind: 'refused' | 'timeout' | 'closed' | 'not-sent';
  code: number | null;
  method: string;
}

export const gatewayFailure = (
  kind: GatewayFailure['kind'],
  method: string,
  why: string,
  code: number | null = null,
): GatewayFailure => Object.assign(new Error(`${method}: ${why}`), { kind, method, code });

export function isGatewayFailure(error: unknown): error is GatewayFailure {
  return error instanceof Error && 'kind' in error && 'method' in error;
}

export interface LinkOptions {
  /** Name of this socket in the frame log. */
  conn: string;
  now(): number;
  record(record: LogRecord): void;
  onEvent(params: Json): void;
  /** A request of the engine; it waits for `reply` or `refuse`. */
  onRequest(id: unknown, method: string, params: Json): void;
  onClose(why: string): void;
}

/** JSON-RPC over one socket. */
export interface Link {
  isOpen(): boolean;
  /** `onAnswer` hears the result in the order of the frames: before any that came behind it. */
  request(method: string, params: Json, timeoutMs: number, onAnswer?: (result: Json) => void): Promise<Json>;
  reply(id: unknown, result: Json): void;
  refuse(id: unknown, method: string): void;
  /** "Not shown here": the request stays open for another client, where the engine counts such answers. */
  decline(id: unknown): void;
  close(): void;
}

interface Waiting {
  method: string;
  resolve(result: Json): void;
  reject(error: Error): void;
  timer: ReturnType<typeof setTimeout>;
}

export async function openLink(connect: Connect, options: LinkOptions): Promise<Link> {
  const waiting = new Map<string, Waiting>();
  let open = true;
  let last = 0;
  const end = (why: string): void => {
    if (!open) return;
    open = false;
    for (const { method, reject } of waiting.values()) reject(gatewayFailure('closed', method, why));
    options.onClose(why);
  };
  const socket = await connect({
    onText: (text) => {
      if (!open) return;
      const frame = parseJson(text);
      options.record({ t: options.now(), dir: 'in', conn: options.conn, frame: frame ?? text });
      if (isObject(frame)) take(frame, waiting, options);
    },
    onClose: end,
  });
  const send = (frame: Json): void => {
    options.record({ t: options.now(), dir: 'out', conn: options.conn, frame });
    socket.send(JSON.stringify(frame));
  };
  return {
    isOpen: () => open,
    request(method, params, timeoutMs, onAnswer) {
      if (!open) return Promise.reject(gatewayFailure('not-sent', method, 'the socket is not open'));
      last += 1;
      const id = `${options.conn}-${last}`;
      const answer = waitFor(waiting, id, { method, timeoutMs, onAnswer });
      send({ jsonrpc: '2.0', id, method, params });
      return answer;
    },
    reply: (id, result) => open && send({ jsonrpc: '2.0', id, result }),
    refuse: (id, method) =>
      open && send({ jsonrpc: '2.0', id, error: { code: -32601, message: `unknown method: ${method}` } }),
    decline: (id) =>
      open && send({ jsonrpc: '2.0', id, error: { code: 4404, message: 'the session is not shown here' } }),
    close() {
      socket.close();
      end('closed by this client');
    },
  };
}

interface Asked {
  method: string;
  timeoutMs: number;
  onAnswer: ((result: Json) => void) | undefined;
}

function waitFor(
  waiting: Map<string, Waiting>,
  id: string,
  { method, timeoutMs, onAnswer }: Asked,
): Promise<Json> {
  return new Promise<Json>((resolve, reject) => {
    const timer = setTimeout(
      () => entry.reject(gatewayFailure('timeout', method, `no answer within ${timeoutMs / 1000} s`)),
      timeoutMs,
    );
    const leave = (): void => {
      clearTimeout(timer);
      waiting.delete(id);
    };
    const entry: Waiting = {
      method,
      timer,
      resolve: (result) => {
        leave();
        onAnswer?.(result);
        resolve(result);
      },
      reject: (error) => {
        leave();
        reject(error);
      },
    };
    waiting.set(id, entry);
  });
}

function take(frame: Json, waiting: Map<string, Waiting>, options: LinkOptions): void {
  const { id, method, params } = frame;
  if (method === 'event') {
    if (isObject(params)) options.onEvent(params);
    return;
  }
  if (typeof method === 'string') {
    if (id !== undefined) options.onRequest(id, method, isObject(params) ? params : {});
    return;
  }
  const asked = typeof id === 'string' ? waiting.get(id) : undefined;
  if (asked === undefined) return;
  const { error, result } = frame;
  if (isObject(error)) {
    const message = textOf(error['message']) ?? 'refused';
    asked.reject(gatewayFailure('refused', asked.method, message, numberOf(error['code'])));
  } else asked.resolve(isObject(result) ? result : {});
}
