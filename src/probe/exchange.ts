import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { RawBody } from './body.ts';
import { limitError, phasedError } from './connect.ts';
import { header, type HeaderList, headerList } from './headers.ts';
import { limit } from './limit.ts';
import { headersFor, noPhases, rounded, type Run } from './run.ts';
import type { NetworkError, Phases } from './exchange-schema.ts';

export interface Ask {
  method: string;
  /** From the origin on. */
  path: string;
  headers: Record<string, string>;
  body?: string | undefined;
  /** Bytes of the body that are taken in. */
  cap: number;
  /** Enough is a beginning of this many bytes. */
  enough?: number | undefined;
}

/** One answer as it came, or why there is none (or no more of it). */
export interface Answer {
  status: number | null;
  headers: HeaderList;
  body: RawBody | null;
  error: unknown;
  phase: NetworkError['phase'];
  phases: Phases;
}

/** One request on a kept connection. Never rejects. No redirect is followed, nothing is retried but a kept connection that had died. */
export async function exchange(run: Run, ask: Ask): Promise<Answer> {
  const giveBack = await run.slot();
  try {
    const first = await once(run, ask, false);
    const stale = first.status === null && first.reused && first.phase === 'first-byte' && isCut(first.error);
    return stale && ask.method === 'GET' && !run.all.signal.aborted ? await once(run, ask, true) : first;
  } finally {
    giveBack();
  }
}

const isCut = (error: unknown): boolean =>
  ['ECONNRESET', 'EPIPE'].includes((error as { code?: string } | null)?.code ?? '');

interface Tried extends Answer {
  reused: boolean;
}

async function once(run: Run, ask: Ask, fresh: boolean): Promise<Tried> {
  const { request } = await import('node:http');
  const started = performance.now();
  const deadline = limit(run.all.signal, run.answerMs);
  const at: { sent: number | null; reused: boolean; phases: Phases } = {
    sent: null,
    reused: false,
    phases: noPhases(),
  };
  const done = (answer: Omit<Answer, 'phases'>): Tried => {
    deadline.clear();
    return {
      ...answer,
      phases: { ...at.phases, total: rounded(performance.now() - started) },
      reused: at.reused,
    };
  };
  let sending: ClientRequest;
  try {
    sending = request({
      method: ask.method,
      path: ask.path,
      setHost: false,
      headers: headersOf(run, ask, fresh),
      ...(fresh ? { createConnection: run.createConnection as never } : { agent: run.agent }),
      maxHeaderSize: 65_536,
      insecureHTTPParser: false,
    });
  } catch (error) {
    return done({ status: null, headers: [], body: null, error, phase: 'other' });
  }
  const gone = (): NetworkError['phase'] => (at.sent === null ? 'other' : 'first-byte');
  sending.once('socket', (socket: Socket) => {
    at.sent = performance.now();
    at.reused = sending.reusedSocket;
    if (!at.reused) Object.assign(at.phases, connectPhases(run, socket));
  });
  const onAbort = (): unknown => sending.destroy(limitError(gone(), deadline.signal));
  deadline.signal.addEventListener('abort', onAbort, { once: true });
  if (deadline.signal.aborted) onAbort();
  const answer = await head(sending, ask);
  if (!('message' in answer))
    return done({ status: null, headers: [], body: null, error: answer.error, phase: gone() });
  at.phases.firstByte = rounded(performance.now() - (at.sent ?? started));
  const { message } = answer;
  const headers = headerList(message.rawHeaders);
  deadline.signal.removeEventListener('abort', onAbort);
  const { raw, error } = await wholeBody(message, ask, headers, deadline.signal);
  return done({ status: message.statusCode ?? null, headers, body: raw, error, phase: 'body' });
}

const headersOf = (run: Run, ask: Ask, fresh: boolean): Record<string, string> =>
  headersFor(run, {
    Accept: 'application/json, text/html;q=0.9, */*;q=0.5',
    ...(fresh ? { Connection: 'close' } : {}),
    ...(ask.body === undefined
      ? {}
      : { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(ask.body)) }),
    ...ask.headers,
  });

function connectPhases(run: Run, socket: Socket): Pick<Phases, 'dns' | 'tcp' | 'tls'> {
  const opened = run.opened.get(socket);
  const of = (ms: number | null | undefined): number | null =>
    ms === null || ms === undefined ? null : rounded(ms);
  return { dns: of(opened?.dns), tcp: of(opened?.tcp), tls: of(opened?.tls) };
}

function head(sending: ClientRequest, ask: Ask): Promise<{ message: IncomingMessage } | { error: unknown }> {
  return new Promise((resolve) => {
    sending.once('response', (message) => resolve({ message }));
    sending.on('error', (error) => resolve({ error }));
    sending.once('close', () =>
      resolve({ error: phasedError('first-byte', 'CLOSED', 'closed without an answer') }),
    );
    sending.end(ask.body);
  });
}

const beginning = 65_536;

function wholeBody(
  message: IncomingMessage,
  ask: Ask,
  headers: HeaderList,
  signal: AbortSignal,
): Promise<{ raw: RawBody; error: unknown }> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let over = false;
    const finish = (end: RawBody['end'], error: unknown): void => {
      if (over) return;
      over = true;
      signal.removeEventListener('abort', onAbort);
      if (end !== 'whole') message.on('error', () => undefined).destroy();
      // Of a body that is too large only the beginning is of use; the rest must not be copied together.
      const whole = end === 'too-large' ? Buffer.concat(chunks, beginning) : Buffer.concat(chunks);
      chunks.length = 0;
      const raw = {
        bytes: whole,
        size,
        contentType: header(headers, 'content-type'),
        encoding: header(headers, 'content-encoding'),
        end,
      };
      resolve({ raw, error });
    };
    const onAbort = (): void => finish('cut', limitError('body', signal));
    signal.addEventListener('abort', onAbort, { once: true });
    message.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > ask.cap) return finish('too-large', null);
      chunks.push(chunk);
      if (ask.enough !== undefined && size >= ask.enough) finish('stopped', null);
    });
    message.once('end', () => finish('whole', null));
    message.once('error', (error) => finish('cut', error));
    message.once('close', () => {
      if (!message.complete)
        finish('cut', phasedError('body', 'CLOSED', 'closed before the end of the body'));
    });
    if (signal.aborted) onAbort();
  });
}
