import type { IncomingMessage } from 'node:http';
import { CompatError } from '../errors.ts';
import { open, type Route } from '../probe/connect.ts';
import type { ProbeInput, UsedCredential } from '../probe/types.ts';
import type { Connect } from '../turn/index.ts';

/** How a running dashboard is reached: what an examination found to work. The credential stays in memory. */
export interface Way {
  /** Base URL without a trailing slash. */
  url: string;
  used: UsedCredential;
  origin: string | null;
  connection: Pick<ProbeInput, 'connect' | 'headers' | 'ca' | 'clientCert' | 'proxy'>;
}

export interface Reply {
  status: number;
  json: unknown;
}

const bodyCap = 64 * 1024 * 1024;
const frameCap = 64 * 1024 * 1024;

function routeOf({ url, connection }: Way): Route {
  const { protocol, hostname, port } = new URL(url);
  const secure = protocol === 'https:';
  const { connect, ca, clientCert, proxy } = connection;
  return {
    secure,
    host: hostname.replaceAll(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 443 : 80) : Number(port),
    limitMs: 15_000,
    connect,
    ca,
    clientCert,
    proxy,
  };
}

function credentialHeaders({ used, connection }: Way): Record<string, string> {
  const own = Object.fromEntries(connection.headers ?? []);
  switch (used.kind) {
    case 'none':
      return own;
    case 'token':
      return { ...own, 'X-Hermes-Session-Token': used.token };
    case 'cookie':
      return { ...own, Cookie: used.cookie };
    case 'bearer':
      return { ...own, Authorization: `Bearer ${used.token}` };
    default:
      return used satisfies never;
  }
}

type Method = 'GET' | 'POST' | 'DELETE';

interface AskOptions {
  body?: unknown;
  headers?: Record<string, string>;
  timeoutMs?: number;
}

/** One REST request with the client's credential. Rejects on network errors; no redirect is followed. */
export async function ask(way: Way, method: Method, path: string, options: AskOptions = {}): Promise<Reply> {
  const signal = AbortSignal.timeout(options.timeoutMs ?? 30_000);
  const { message, close } = await send(way, method, path, options, signal);
  try {
    return { status: message.statusCode ?? 0, json: jsonOf(await readAll(message)) };
  } finally {
    close();
  }
}

/** A request whose answer is read by the caller, who also closes it. */
export async function send(
  way: Way,
  method: Method,
  path: string,
  options: AskOptions,
  signal: AbortSignal,
): Promise<{ message: IncomingMessage; close(): void }> {
  const { request } = await import('node:http');
  const { stream } = await open(routeOf(way), signal);
  const { host, pathname } = new URL(way.url);
  const body = options.body === undefined ? null : Buffer.from(JSON.stringify(options.body));
  const close = (): void => void stream.destroy();
  try {
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = request(`http://${host}${pathname.replace(/\/$/, '')}${path}`, {
        method,
        createConnection: () => stream,
        signal,
        headers: {
          ...credentialHeaders(way),
          ...options.headers,
          ...(body === null ? {} : { 'content-type': 'application/json', 'content-length': body.length }),
        },
      });
      outgoing
        .once('response', resolve)
        .once('error', reject)
        .end(body ?? undefined);
    });
    return { message, close };
  } catch (error) {
    close();
    throw error;
  }
}

export async function readAll(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > bodyCap) throw new Error('the answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Opens `/api/ws` as a client does: token in the query, or a ticket of the login. */
export const socketOpener =
  (way: Way): Connect =>
  async (events) => {
    const { WebSocket } = await import('ws');
    const { query, protocols } = await credentialQuery(way);
    const { stream } = await open(routeOf(way), AbortSignal.timeout(20_000));
    const socket = new WebSocket(`${way.url.replace(/^http/, 'ws')}/api/ws${query}`, protocols, {
      createConnection: () => stream as never,
      headers: Object.fromEntries(way.connection.headers ?? []),
      ...(way.origin === null ? {} : { origin: way.origin }),
      perMessageDeflate: false,
      followRedirects: false,
      maxPayload: frameCap,
      handshakeTimeout: 20_000,
    });
    socket.on('message', (data: Buffer, binary: boolean) => binary || events.onText(data.toString('utf8')));
    socket.on('close', (code: number) => events.onClose(`closed with ${code}`));
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.on('error', (error) => {
        stream.destroy();
        reject(
          new CompatError('unchecked', `the chat socket did not open: ${error.message.slice(0, 200)}`, {
            finding: 'WS_REFUSED',
          }),
        );
      });
    });
    return {
      send: (text) => socket.send(text),
      close: () => {
        socket.close(1000);
        setTimeout(() => socket.terminate(), 250).unref();
      },
    };
  };

async function credentialQuery(way: Way): Promise<{ query: string; protocols: string[] }> {
  const { used } = way;
  if (used.kind === 'none') return { query: '', protocols: [] };
  if (used.kind === 'token') return { query: `?token=${encodeURIComponent(used.token)}`, protocols: [] };
  const { json } = await ask(way, 'POST', '/api/auth/ws-ticket', { body: {} });
  const ticket = (json as { ticket?: unknown } | null | undefined)?.ticket;
  if (typeof ticket !== 'string')
    return used.kind === 'bearer'
      ? { query: `?token=${encodeURIComponent(used.token)}`, protocols: [] }
      : { query: '', protocols: [] };
  return { query: `?ticket=${encodeURIComponent(ticket)}`, protocols: [] };
}
