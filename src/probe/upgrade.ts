import type { ClientRequest, IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { readBody } from './body.ts';
import { limitError, type Opened } from './connect.ts';
import { header, headerFacts, headerList } from './headers.ts';
import { limit } from './limit.ts';
import { networkError } from './network-error.ts';
import { headersFor, noPhases, rounded, type Run, urlOf } from './run.ts';
import type { WsFact } from './exchange-schema.ts';
import { type LargeFrame, skim } from './skim.ts';

/** One upgrade. */
export interface UpgradeAsk {
  id: string;
  /** Path with query; the credential may stand in it. */
  path: string;
  credential: WsFact['credential'];
  headers: Record<string, string>;
  origin: string | null;
  /** Another Host than the URL's. */
  host?: string | undefined;
  protocols?: string[] | undefined;
}

/** 16 MiB frames are ordinary for an engine; a larger one than this is refused. */
const frameCap = 64 * 1024 * 1024;
/** Frames up to here are looked into: answers to our own requests are small. */
const smallCap = 4 * 1024 * 1024;
/** Messages in fragments are held whole by ws. */
const messageCap = 32 * 1024 * 1024;
const refusalCap = 256 * 1024;

/** `socket` is open when the fact says so; the fact may still grow (frames, close) and already stands in the run. */
export interface Upgraded {
  fact: WsFact;
  socket: WebSocket | null;
}

/** Sees the socket before its first frame, and hears of large frames that are let go. */
export type Listen = (socket: WebSocket, fact: WsFact) => { onLarge(frame: LargeFrame): void };

/** Tries one upgrade and notes the fact. Never rejects; no redirect is followed. */
export async function upgrade(run: Run, ask: UpgradeAsk, listen?: Listen): Promise<Upgraded> {
  const fact = blank(run, ask);
  run.ws.push(fact);
  const started = performance.now();
  const deadline = limit(run.all.signal, run.answerMs);
  let opened: Opened | null = null;
  try {
    opened = await run.openForUpgrade(deadline.signal);
    notePhases(fact, opened);
    const first = await shake(run, ask, fact, opened, deadline.signal, listen);
    if (fact.status !== 408) return first;
    // A proxy that was not asked anything in time: the connection was opened ahead and waited. A new one is asked at once.
    opened = await run.open(deadline.signal);
    Object.assign(fact, blank(run, ask));
    notePhases(fact, opened);
    return await shake(run, ask, fact, opened, deadline.signal, listen);
  } catch (error) {
    opened?.stream.destroy();
    fact.outcome = 'failed';
    fact.error = networkError(error, 'upgrade', run.redact);
    return { fact, socket: null };
  } finally {
    deadline.clear();
    fact.phases.total = rounded(performance.now() - started);
  }
}

async function shake(
  run: Run,
  ask: UpgradeAsk,
  fact: WsFact,
  { stream }: Opened,
  signal: AbortSignal,
  listen: Listen | undefined,
): Promise<Upgraded> {
  const { WebSocket } = await import('ws');
  const started = performance.now();
  let heard: ReturnType<Listen> | null = null;
  skim(stream, { least: smallCap, most: frameCap, onLarge: (frame) => heard?.onLarge(frame) });
  const socket = new WebSocket(urlOf(run, ask.path, 'ws'), ask.protocols ?? [], {
    createConnection: () => stream as never,
    headers: headersFor(run, { ...(ask.host === undefined ? {} : { Host: ask.host }), ...ask.headers }),
    ...(ask.origin === null ? {} : { origin: ask.origin }),
    perMessageDeflate: false,
    followRedirects: false,
    maxPayload: messageCap,
  });
  return new Promise((resolve) => {
    let upgraded = false;
    const onAbort = (): void => fail(limitError('upgrade', signal));
    const end = (open: boolean): void => {
      signal.removeEventListener('abort', onAbort);
      fact.phases.upgrade ??= rounded(performance.now() - started);
      resolve({ fact, socket: open ? socket : null });
    };
    const fail = (error: Error): void => {
      if (fact.outcome !== 'skipped') return;
      fact.outcome = 'failed';
      fact.error = networkError(error, 'upgrade', run.redact);
      if (upgraded)
        fact.handshake = /subprotocol|extension/i.test(error.message) ? 'bad-protocol' : 'bad-accept';
      socket.on('error', () => undefined).terminate();
      stream.destroy();
      end(false);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('upgrade', (message: IncomingMessage) => {
      upgraded = true;
      fact.phases.upgrade = rounded(performance.now() - started);
      noteHead(run, fact, message);
    });
    socket.once('unexpected-response', (request: ClientRequest, message: IncomingMessage) => {
      fact.phases.upgrade = rounded(performance.now() - started);
      noteHead(run, fact, message);
      // Taken now: a finished answer lets go of it.
      const connection = message.socket;
      void refused(run, fact, message, signal).then(() => {
        request.on('error', () => undefined).destroy();
        // A finished answer leaves a kept-alive connection behind, which would hold the whole program.
        connection.destroy();
        end(false);
      });
    });
    socket.once('open', () => {
      fact.outcome = 'open';
      fact.handshake = 'valid';
      fact.protocol = socket.protocol === '' ? null : run.redact.text(socket.protocol, 100);
      end(true);
    });
    socket.on('error', fail);
    heard = listen?.(socket, fact) ?? null;
    if (signal.aborted) onAbort();
  });
}

function noteHead(run: Run, fact: WsFact, message: IncomingMessage): void {
  fact.status = message.statusCode ?? null;
  fact.headers = headerFacts(headerList(message.rawHeaders), run.redact);
}

/** The engine's own refusal is a bare 403: text/plain and nothing in it. Anything else speaks for something in between. */
async function refused(run: Run, fact: WsFact, message: IncomingMessage, signal: AbortSignal): Promise<void> {
  fact.outcome = 'refused';
  const headers = headerList(message.rawHeaders);
  const raw = await new Promise<{ bytes: Buffer; end: 'whole' | 'cut' | 'too-large' }>((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (end: 'whole' | 'cut' | 'too-large') => (): void =>
      resolve({ bytes: Buffer.concat(chunks), end });
    message.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > refusalCap) return finish('too-large')();
      chunks.push(chunk);
    });
    message.once('end', finish('whole')).once('error', finish('cut')).once('close', finish('cut'));
    signal.addEventListener('abort', finish('cut'), { once: true });
  });
  const contentType = header(headers, 'content-type');
  const { fact: body } = await readBody(
    { ...raw, size: raw.bytes.length, contentType, encoding: header(headers, 'content-encoding') },
    { detail: true, cap: refusalCap, redact: run.redact },
  );
  fact.body = body;
  fact.bareRefusal =
    fact.status === 403 && raw.bytes.length === 0 && /^text\/plain\b/i.test(contentType ?? '');
}

function notePhases(fact: WsFact, opened: Opened): void {
  const of = (ms: number | null): number | null => (ms === null ? null : rounded(ms));
  Object.assign(fact.phases, { dns: of(opened.dns), tcp: of(opened.tcp), tls: of(opened.tls) });
}

/** An upgrade that did not run is a fact too. */
export function skipUpgrade(run: Run, ask: UpgradeAsk, why: string): WsFact {
  const fact = { ...blank(run, ask), why };
  run.ws.push(fact);
  return fact;
}

const blank = (run: Run, ask: UpgradeAsk): WsFact => ({
  id: ask.id,
  url: run.redact.url(urlOf(run, ask.path, 'ws')),
  credential: ask.credential,
  origin: ask.origin === null ? null : run.redact.text(ask.origin, 200),
  hostHeader: ask.host ?? null,
  outcome: 'skipped',
  why: null,
  status: null,
  headers: null,
  body: null,
  bareRefusal: false,
  handshake: 'none',
  protocol: null,
  firstFrame: null,
  close: null,
  held: null,
  error: null,
  phases: noPhases(),
});
