import type { RawData, WebSocket } from 'ws';
import { field, parseJson } from './json.ts';
import { limitError, phasedError } from './connect.ts';
import { limit } from './limit.ts';
import { networkError } from './network-error.ts';
import { rounded, type Run } from './run.ts';
import type { LargeFrame } from './skim.ts';
import type { WsFact } from './exchange-schema.ts';

export interface Reply {
  /** The frame as it came, for values that JSON cannot carry. */
  text: string;
  json: unknown;
}

const ourIds = 'hermes-compat-';

/** JSON-RPC over one open socket. */
export interface Line {
  /** A large frame came and was let go. */
  onLarge(frame: LargeFrame): void;
  /** The answer to one request. Rejects with PhasedError: closed, or no answer in time. Frames that are not the answer are passed by. */
  call(method: string, params: Record<string, unknown>): Promise<Reply>;
  /** Resolves when the socket closes. */
  closed: Promise<void>;
  /** Says goodbye; a peer that does not answer is left at once. */
  end: () => void;
}

/** Notes first frame and close in the fact, and finds the answers to our requests. Must be attached before the first frame. */
export function lineOf(run: Run, socket: WebSocket, fact: WsFact): Line {
  const waiting = new Map<string, (reply: Reply) => void>();
  let openedAt = performance.now();
  let last = 0;
  let gone: (() => void) | null = null;
  let ours = false;
  const closed = new Promise<void>((resolve) => (gone = resolve));
  const first = (bytes: number, type: string | null, json: boolean): void => {
    fact.firstFrame ??= { ms: rounded(performance.now() - openedAt), bytes, type, json };
  };
  socket.once('open', () => (openedAt = performance.now()));
  socket.on('message', (data: RawData, binary: boolean) => {
    const bytes = data as Buffer;
    // Whatever is neither the first frame nor names an id of ours is nobody's business.
    if (fact.firstFrame !== null && !bytes.includes(`"${ourIds}`)) return;
    const reply = binary ? null : parse(bytes.toString('utf8'));
    first(bytes.length, typeOf(run, reply?.json), reply !== null);
    const id = field(reply?.json, 'id');
    if (reply === null || typeof id !== 'string' || field(reply.json, 'method') !== undefined) return;
    waiting.get(id)?.(reply);
  });
  socket.on('error', (error) => {
    if (fact.outcome !== 'open') return;
    fact.error ??= networkError(error, 'frame', run.redact);
    // A peer that breaks the protocol is owed no goodbye; without this the close would wait for one.
    socket.terminate();
  });
  socket.once('close', (code, reason) => {
    const afterMs = rounded(performance.now() - openedAt);
    if (fact.outcome === 'open' && !ours)
      fact.close = { code, reason: run.redact.text(reason.toString('utf8'), 200), afterMs };
    gone?.();
  });
  return {
    closed,
    // By its first byte; nobody needs to know more of it.
    onLarge: (frame) => first(frame.bytes, null, frame.first === 0x7b),
    call: (method, params) => {
      last += 1;
      return call(run, socket, waiting, closed, `${ourIds}${last}`, method, params);
    },
    end: () => {
      ours = true;
      socket.close(1000);
      setTimeout(() => socket.terminate(), 250).unref();
    },
  };
}

async function call(
  run: Run,
  socket: WebSocket,
  waiting: Map<string, (reply: Reply) => void>,
  closed: Promise<void>,
  id: string,
  method: string,
  params: Record<string, unknown>,
): Promise<Reply> {
  const deadline = limit(run.all.signal, run.answerMs);
  try {
    return await new Promise((resolve, reject) => {
      waiting.set(id, resolve);
      const late = (): void => reject(limitError('rpc', deadline.signal));
      deadline.signal.addEventListener('abort', late, { once: true });
      void closed.then(() => reject(phasedError('rpc', 'CLOSED', 'the socket closed before the answer')));
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    });
  } finally {
    waiting.delete(id);
    deadline.clear();
  }
}

function parse(text: string): Reply | null {
  const parsed = parseJson(text);
  return parsed.ok ? { text, json: parsed.value } : null;
}

/** Event type, or method, of a frame. */
function typeOf(run: Run, json: unknown): string | null {
  const name = field(field(json, 'params'), 'type') ?? field(json, 'method');
  return typeof name === 'string' ? run.redact.text(name, 80) : null;
}
