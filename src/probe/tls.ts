import type { Duplex } from 'node:stream';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { type Route, codeOf, limitError, messageOf, open, phasedError } from './connect.ts';
import type { TlsFact } from './schema.ts';

/** TLS over an open stream, HTTP/1.1 only. `insecure` checks nothing: for a look at the certificate, never with a secret. */
export async function secure(
  stream: Duplex,
  route: Route,
  limit: AbortSignal,
  insecure: boolean,
): Promise<{ stream: TLSSocket; certificate: TlsFact }> {
  const tls = await import('node:tls');
  const { isIP } = await import('node:net');
  const options = {
    socket: stream,
    host: route.host,
    ...(isIP(route.host) === 0 ? { servername: route.host } : {}),
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: !insecure,
    ...(route.ca === undefined ? {} : { ca: [...tls.rootCertificates, route.ca] }),
    ...route.clientCert,
  };
  const socket = started(() => tls.connect(options));
  await new Promise<void>((resolve, reject) => {
    const fail = (error: Error): void => {
      limit.removeEventListener('abort', onAbort);
      socket.on('error', () => undefined).destroy();
      reject(error);
    };
    const onAbort = (): void => fail(limitError('tls', limit));
    socket.once('secureConnect', () => {
      limit.removeEventListener('abort', onAbort);
      socket.removeAllListeners('error');
      socket.removeAllListeners('close');
      resolve();
    });
    socket.once('error', (error) => fail(phasedError('tls', codeOf(error), messageOf(error))));
    socket.once('close', () => fail(phasedError('tls', 'CLOSED', 'closed during the TLS handshake')));
    if (limit.aborted) onAbort();
    else limit.addEventListener('abort', onAbort, { once: true });
  });
  return { stream: socket, certificate: certificateOf(socket) };
}

/** A certificate or key that cannot be used throws at once. */
function started(connect: () => TLSSocket): TLSSocket {
  try {
    return connect();
  } catch (error) {
    throw phasedError('tls', codeOf(error), messageOf(error));
  }
}

/** What a server shows that we do not trust: a second connection that checks nothing and sends nothing. null when it shows none. */
export async function inspect(route: Route, signal: AbortSignal): Promise<TlsFact | null> {
  try {
    const { stream, certificate } = await open(route, signal, true);
    stream.on('error', () => undefined).destroy();
    return certificate;
  } catch {
    return null;
  }
}

function certificateOf(socket: TLSSocket): TlsFact {
  const certificate = socket.getPeerCertificate(true);
  const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
  return {
    protocol: text(socket.getProtocol()),
    subject: nameOf(certificate.subject),
    issuer: nameOf(certificate.issuer),
    names: (text(certificate.subjectaltname) ?? '')
      .split(/,\s*/)
      .filter((name) => name !== '')
      .slice(0, 50),
    validFrom: dateOf(certificate.valid_from),
    validTo: dateOf(certificate.valid_to),
    chainLength: chainLength(certificate),
  };
}

function nameOf(name: unknown): string | null {
  if (typeof name !== 'object' || name === null) return null;
  const parts = Object.entries(name).map(([key, value]) => `${key}=${String(value)}`);
  return parts.length === 0 ? null : parts.join(', ');
}

function dateOf(text: unknown): string | null {
  const date = new Date(typeof text === 'string' ? text : Number.NaN);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

function chainLength(certificate: DetailedPeerCertificate): number | null {
  let length = 0;
  let at: DetailedPeerCertificate | undefined = certificate;
  while (at?.fingerprint256 !== undefined && length < 20) {
    length += 1;
    const issuer: DetailedPeerCertificate | undefined = at.issuerCertificate;
    at = issuer?.fingerprint256 === at.fingerprint256 ? undefined : issuer;
  }
  return length === 0 ? null : length;
}
