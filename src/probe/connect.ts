import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { limit as limited, timedOut } from './limit.ts';
import type { NetworkError } from './exchange-schema.ts';
import type { TlsFact } from './schema.ts';

/** Where and how connections are opened. One for each probe run. */
export interface Route {
  secure: boolean;
  /** Without brackets. */
  host: string;
  port: number;
  connect?: ((host: string, port: number, signal: AbortSignal) => Promise<Duplex>) | undefined;
  ca?: string | undefined;
  clientCert?: { cert: string; key: string; passphrase?: string } | undefined;
  proxy?: string | undefined;
  /** Milliseconds until a connection must stand, TLS included. */
  limitMs: number;
}

/** An open byte stream and what it took, in milliseconds; null where the phase did not happen. */
export interface Opened {
  stream: Duplex;
  dns: number | null;
  tcp: number | null;
  tls: number | null;
  certificate: TlsFact | null;
}

/** A failure that knows in which phase it came; `code` as the platform says it, or DEADLINE, or PROXY_… */
export interface PhasedError extends Error {
  phase: NetworkError['phase'];
  code: string;
}

export const phasedError = (phase: NetworkError['phase'], code: string, message: string): PhasedError =>
  Object.assign(new Error(message), { phase, code });

/** Opens one connection of a route. Rejects with PhasedError only. */
export async function open(route: Route, signal: AbortSignal, insecure = false): Promise<Opened> {
  const limit = limited(signal, route.limitMs);
  try {
    const base = await openStream(route, limit.signal);
    if (!route.secure) return { ...base, tls: null, certificate: null };
    return await openSecure(base, route, limit.signal, insecure);
  } finally {
    limit.clear();
  }
}

async function openSecure(base: Base, route: Route, limit: AbortSignal, insecure: boolean): Promise<Opened> {
  const { secure } = await import('./tls.ts');
  const started = performance.now();
  base.stream.on('error', () => undefined);
  try {
    const { stream, certificate } = await secure(base.stream, route, limit, insecure);
    return { ...base, stream, certificate, tls: performance.now() - started };
  } catch (error) {
    base.stream.destroy();
    throw error;
  }
}

type Base = Pick<Opened, 'stream' | 'dns' | 'tcp'>;

async function openStream(route: Route, limit: AbortSignal): Promise<Base> {
  if (route.connect !== undefined) {
    const started = performance.now();
    const stream = await raced(route.connect(route.host, route.port, limit), limit);
    return { stream: asSocket(stream), dns: null, tcp: performance.now() - started };
  }
  if (route.proxy === undefined || isLoopback(route.host)) return tcp(route.host, route.port, limit);
  const { throughProxy } = await import('./proxy.ts');
  return throughProxy(route.proxy, route, limit);
}

/** 127/8, ::1 and localhost. The engine itself counts only three of them as loopback; for us all are this machine. */
export const isLoopback = (host: string): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);

export async function tcp(host: string, port: number, limit: AbortSignal): Promise<Base> {
  const { connect } = await import('node:net');
  const started = performance.now();
  let looked: number | null = null;
  const socket = connect({
    host,
    port,
    noDelay: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 500,
  });
  socket.once('lookup', () => (looked = performance.now()));
  await settled(socket, limit, () => (looked === null && !/^[\d.]+$|:/.test(host) ? 'dns' : 'tcp'));
  const dns = looked === null ? null : looked - started;
  return { stream: socket, dns, tcp: performance.now() - (looked ?? started) };
}

function settled(socket: Socket, limit: AbortSignal, phase: () => NetworkError['phase']): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      limit.removeEventListener('abort', onAbort);
      socket.off('error', onError);
      socket.off('connect', onConnect);
    };
    const onConnect = (): void => {
      done();
      resolve();
    };
    const onError = (error: NodeJS.ErrnoException): void => {
      done();
      const at = error.syscall === 'getaddrinfo' ? 'dns' : 'tcp';
      reject(phasedError(at, codeOf(error), messageOf(error)));
    };
    const onAbort = (): void => {
      done();
      socket.on('error', () => undefined).destroy();
      reject(limitError(phase(), limit));
    };
    socket.once('connect', onConnect);
    socket.once('error', onError);
    if (limit.aborted) onAbort();
    else limit.addEventListener('abort', onAbort, { once: true });
  });
}

/** Why a limit ended something: our deadline, or the person. */
export const limitError = (phase: NetworkError['phase'], limit: AbortSignal): PhasedError =>
  timedOut(limit)
    ? phasedError(phase, 'DEADLINE', `no ${phase} within the time limit`)
    : phasedError(phase, 'ABORTED', 'interrupted');

export function codeOf(error: unknown): string {
  const { code, errors, name } = error as { code?: unknown; errors?: unknown[]; name?: unknown };
  if (typeof code === 'string' && code !== '') return code;
  if (Array.isArray(errors) && errors.length > 0) return codeOf(errors[0]);
  return typeof name === 'string' ? name : 'ERROR';
}

export function messageOf(error: unknown): string {
  const { message, errors } = error as { message?: unknown; errors?: unknown[] };
  if (typeof message === 'string' && message !== '') return message;
  return Array.isArray(errors) ? errors.map(messageOf).join('; ') : String(error);
}

/** A tunnel's stream that comes after we gave up is ended, not leaked. */
async function raced(opening: Promise<Duplex>, limit: AbortSignal): Promise<Duplex> {
  let gaveUp = false;
  opening.then(
    (stream) => gaveUp && stream.on('error', () => undefined).destroy(),
    () => undefined,
  );
  try {
    return await Promise.race([opening, aborted(limit)]);
  } catch (error) {
    gaveUp = true;
    if (limit.aborted) throw limitError('tcp', limit);
    throw phasedError('tcp', codeOf(error), messageOf(error));
  }
}

const aborted = (limit: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (limit.aborted) reject(new Error('limit'));
    limit.addEventListener('abort', () => reject(new Error('limit')), { once: true });
  });

/** What node:http asks of a socket and a tunnel's stream may lack. */
function asSocket(stream: Duplex): Duplex {
  const missing = ['setKeepAlive', 'setTimeout', 'setNoDelay', 'ref', 'unref'].filter(
    (name) => !(name in stream),
  );
  return Object.assign(stream, Object.fromEntries(missing.map((name) => [name, () => stream])));
}
