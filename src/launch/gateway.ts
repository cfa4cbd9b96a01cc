import { request } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Host } from '../host/types.ts';

/** A dashboard as its own machine reaches it. */
export interface Address {
  /** Where the port is, e.g. 127.0.0.1 */
  connectTo: string;
  port: number;
}

/** What came of an upgrade of /api/ws with one JSON-RPC round trip. */
export type GatewayAnswer =
  | { state: 'open' }
  | { state: 'refused'; status: number }
  /** Opened, but no JSON-RPC answer came. */
  | { state: 'silent' }
  | { state: 'failed'; message: string };

const pageLimit = 16 * 1024 * 1024;

/** The body of GET `path`; null for anything else than 200. Redirects are not followed. */
export async function getText(
  host: Host,
  at: Address,
  path: string,
  signal: AbortSignal,
): Promise<string | null> {
  const socket = await host.connect(at.connectTo, at.port, signal);
  try {
    return await new Promise<string | null>((resolve, reject) => {
      const call = request({
        createConnection: () => socket,
        headers: { host: hostHeader(at), accept: '*/*' },
        path,
        signal,
      });
      call.once('error', reject);
      call.once('response', (answer) => {
        if (answer.statusCode !== 200) return resolve(null);
        const chunks: Buffer[] = [];
        let total = 0;
        answer.on('data', (chunk: Buffer) => {
          total += chunk.length;
          if (total <= pageLimit) chunks.push(chunk);
          else call.destroy(new Error('the page is larger than 16 MiB'));
        });
        answer.once('error', reject);
        answer.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
      });
      call.end();
    });
  } finally {
    socket.destroy();
  }
}

/** Session token that an ungated dashboard puts into its page. */
export const tokenOfPage = (page: string): string | null =>
  /__HERMES_SESSION_TOKEN__\s*=\s*"([^"\\]{8,512})"/.exec(page)?.[1] ?? null;

/** Opens /api/ws the way a client does and asks for a method that no engine has: an error answer proves the dispatch. */
export async function tryGateway(
  host: Host,
  at: Address,
  token: string,
  signal: AbortSignal,
): Promise<GatewayAnswer> {
  const { WebSocket } = await import('ws');
  let stream: Duplex;
  try {
    stream = await host.connect(at.connectTo, at.port, signal);
  } catch (error) {
    return { state: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
  return new Promise((resolve) => {
    const socket = new WebSocket(`ws://${hostHeader(at)}/api/ws?token=${encodeURIComponent(token)}`, {
      createConnection: () => stream as Socket,
      headers: { 'X-Hermes-Session-Token': token },
      perMessageDeflate: false,
      maxPayload: 16 * 1024 * 1024,
      followRedirects: false,
    });
    let opened = false;
    const finish = (answer: GatewayAnswer): void => {
      signal.removeEventListener('abort', onAbort);
      resolve(answer);
      socket.terminate();
      stream.destroy();
    };
    const onAbort = (): void =>
      finish(opened ? { state: 'silent' } : { state: 'failed', message: 'no answer to the upgrade' });
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('open', () => {
      opened = true;
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: rpcId, method: 'hermes_compat.ping', params: {} }));
    });
    socket.on('message', (data) => {
      if (isAnswer(data)) finish({ state: 'open' });
    });
    socket.once('unexpected-response', (_request, answer) =>
      finish({ state: 'refused', status: answer.statusCode ?? 0 }),
    );
    socket.on('error', (error) => finish({ state: 'failed', message: error.message }));
    socket.once('close', (code) =>
      finish(opened ? { state: 'failed', message: `closed with code ${code}` } : { state: 'silent' }),
    );
  });
}

const rpcId = 'hermes-compat-launch';

function isAnswer(data: unknown): boolean {
  if (!Buffer.isBuffer(data)) return false;
  try {
    const frame: unknown = JSON.parse(data.toString('utf8'));
    return (
      typeof frame === 'object' &&
      frame !== null &&
      'id' in frame &&
      frame.id === rpcId &&
      ('result' in frame || 'error' in frame)
    );
  } catch {
    return false;
  }
}

const hostHeader = ({ connectTo, port }: Address): string =>
  `${connectTo.includes(':') ? `[${connectTo}]` : connectTo}:${port}`;
