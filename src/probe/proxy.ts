import type { Duplex } from 'node:stream';
import { type Opened, type Route, codeOf, limitError, messageOf, phasedError, tcp } from './connect.ts';

/** A stream to `to` through a CONNECT proxy. Its own failures are PROXY_… in phase tcp, so that nobody takes them for the target's. */
export async function throughProxy(
  proxy: string,
  to: Pick<Route, 'host' | 'port'>,
  limit: AbortSignal,
): Promise<Pick<Opened, 'stream' | 'dns' | 'tcp'>> {
  const url = new URL(proxy);
  const secure = url.protocol === 'https:';
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  const host = url.hostname.replaceAll(/^\[|\]$/g, '');
  const started = performance.now();
  try {
    const base = await tcp(host, port, limit);
    const stream = secure ? await toProxy(base.stream, host, port, limit) : base.stream;
    await requestTunnel(stream, authorityOf(to), authorization(url), limit);
    return { stream, dns: base.dns, tcp: performance.now() - started - (base.dns ?? 0) };
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ABORTED') throw error;
    throw phasedError(
      'tcp',
      code.startsWith('PROXY_') ? code : `PROXY_${code}`,
      `proxy: ${messageOf(error)}`,
    );
  }
}

async function toProxy(stream: Duplex, host: string, port: number, limit: AbortSignal): Promise<Duplex> {
  const { secure } = await import('./tls.ts');
  return (await secure(stream, { secure: true, host, port, limitMs: 0 }, limit, false)).stream;
}

const authorityOf = ({ host, port }: Pick<Route, 'host' | 'port'>): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;

function authorization(url: URL): string {
  if (url.username === '') return '';
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return `Proxy-Authorization: Basic ${Buffer.from(pair).toString('base64')}\r\n`;
}

function requestTunnel(
  stream: Duplex,
  authority: string,
  authorization: string,
  limit: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let head = Buffer.alloc(0);
    const finish = (error: Error | null): void => {
      limit.removeEventListener('abort', onAbort);
      stream.off('readable', onReadable).off('error', onError).off('close', onClose);
      if (error === null) return resolve();
      stream.on('error', () => undefined).destroy();
      reject(error);
    };
    const onAbort = (): void => finish(limitError('tcp', limit));
    const onError = (error: Error): void => finish(error);
    const onClose = (): void =>
      finish(
        head.length > 0 && head.subarray(0, 5).toString('latin1') !== 'HTTP/'
          ? notHttp()
          : phasedError('tcp', 'PROXY_CLOSED', 'closed without an answer'),
      );
    // Not by 'data': a stream that was set flowing and paused again would stay silent for its next reader.
    const onReadable = (): void => {
      for (let chunk: unknown = stream.read(); chunk !== null; chunk = stream.read()) {
        head = Buffer.concat([head, chunk as Buffer]);
        const end = head.indexOf('\r\n\r\n');
        if (end < 0 && head.length <= 16_384) continue;
        const error = end < 0 ? notHttp() : refusalOf(head);
        if (error === null && head.length > end + 4) stream.unshift(head.subarray(end + 4));
        return finish(error);
      }
    };
    stream.on('readable', onReadable).on('error', onError).on('close', onClose);
    if (limit.aborted) return onAbort();
    limit.addEventListener('abort', onAbort, { once: true });
    stream.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${authorization}\r\n`);
  });
}

const notHttp = (): Error => phasedError('tcp', 'PROXY_INVALID', 'answered something else than HTTP');

function refusalOf(head: Buffer): Error | null {
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(head.subarray(0, 64).toString('latin1'))?.[1];
  if (status === undefined) return notHttp();
  return status.startsWith('2')
    ? null
    : phasedError('tcp', `PROXY_${status}`, `answered ${status} to CONNECT`);
}
