import { createServer, type RequestListener, type Server } from 'node:http';

import { afterEach, describe, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';

import { type Address, getText, tokenOfPage, tryGateway } from '../../src/launch/gateway.ts';
import { host } from './support.ts';

const token = 'canary token/+&=';
let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A real server; `talk` gets the sockets that were upgraded. */
async function serve(answer: RequestListener, talk?: (socket: WebSocket) => void): Promise<Address> {
  const http = createServer(answer);
  server = http;
  if (talk !== undefined) {
    const sockets = new WebSocketServer({ noServer: true });
    http.on('upgrade', (request, socket, head) => {
      const given = new URL(request.url ?? '', 'http://x').searchParams.get('token');
      if (given === token && request.headers['x-hermes-session-token'] === token)
        sockets.handleUpgrade(request, socket, head, talk);
      else socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
    });
  }
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return { connectTo: '127.0.0.1', port: (http.address() as { port: number }).port };
}

const notFound: RequestListener = (_, answer) =>
  answer.writeHead(404).end('{"detail":"No such API endpoint: /api/ws"}');
const asked = (data: unknown): { id: string; method: string } => JSON.parse(String(data)) as never;
const within = (ms: number): AbortSignal => AbortSignal.timeout(ms);

describe('opening the gateway', () => {
  test('101 and an answer to the request, whatever comes before it', async () => {
    const at = await serve(notFound, (socket) => {
      socket.send('{"jsonrpc":"2.0","method":"event","params":{"type":"gateway.ready"}}');
      socket.send('no json');
      socket.send(Buffer.from([1, 2, 3]));
      socket.send('{"jsonrpc":"2.0","id":"another","result":{}}');
      socket.on('message', (data) => {
        const { id } = asked(data);
        socket.send(
          JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown method' } }),
        );
      });
    });
    expect(await tryGateway(host, at, token, within(5000))).toEqual({ state: 'open' });
    expect(await tryGateway(host, at, 'wrong', within(5000))).toEqual({ state: 'refused', status: 403 });
  });

  test('open but silent is not open', async () => {
    const at = await serve(notFound, () => {});
    expect(await tryGateway(host, at, token, within(300))).toEqual({ state: 'silent' });
  });

  test('closed after the upgrade', async () => {
    const at = await serve(notFound, (socket) => socket.close(4401, 'no'));
    expect(await tryGateway(host, at, token, within(5000))).toEqual({
      state: 'failed',
      message: 'closed with code 4401',
    });
  });

  test('an ordinary answer to the upgrade', async () => {
    const at = await serve(notFound);
    expect(await tryGateway(host, at, token, within(5000))).toEqual({ state: 'refused', status: 404 });
  });

  test('a redirect is not followed with the token', async () => {
    const at = await serve((_, answer) => answer.writeHead(302, { location: '/elsewhere' }).end());
    expect(await tryGateway(host, at, token, within(5000))).toEqual({ state: 'refused', status: 302 });
  });

  test('nobody there', async () => {
    const at = await serve(notFound);
    await new Promise((resolve) => server?.close(resolve));
    expect(await tryGateway(host, at, token, within(5000))).toMatchObject({ state: 'failed' });
  });

  test('an upgrade that is never answered', async () => {
    const http = createServer(notFound);
    server = http;
    http.on('upgrade', () => {});
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    const at = { connectTo: '127.0.0.1', port: (http.address() as { port: number }).port };
    const answer = await tryGateway(host, at, token, within(300));
    expect(answer).toEqual({ state: 'failed', message: 'no answer to the upgrade' });
    expect(JSON.stringify(answer)).not.toContain('canary');
  });
});

describe('reading a page', () => {
  test('the body of a 200, and nothing else', async () => {
    const at = await serve((request, answer) => {
      if (request.url === '/') answer.end(`host ${request.headers.host}`);
      else answer.writeHead(request.url === '/moved' ? 302 : 500, { location: '/' }).end('x');
    });
    expect(await getText(host, at, '/', within(5000))).toBe(`host 127.0.0.1:${at.port}`);
    expect(await getText(host, at, '/moved', within(5000))).toBeNull();
    expect(await getText(host, at, '/broken', within(5000))).toBeNull();
  });

  test('an endless body is cut', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 'a');
    const at = await serve((_, answer) => {
      const more = (): void => {
        while (!answer.destroyed && answer.write(chunk));
        if (!answer.destroyed) answer.once('drain', more);
      };
      more();
    });
    await expect(getText(host, at, '/', within(20_000))).rejects.toThrow('larger than 16 MiB');
  });

  test('a silent server ends with the limit', async () => {
    const at = await serve(() => {});
    await expect(getText(host, at, '/', within(200))).rejects.toThrow();
  });

  test.each([
    ['<script>window.__HERMES_SESSION_TOKEN__="abcDEF-_123456";</script>', 'abcDEF-_123456'],
    ['window.__HERMES_SESSION_TOKEN__ = "abcdefgh"', 'abcdefgh'],
    ['window.__HERMES_SESSION_TOKEN__=""', null],
    ['<html></html>', null],
  ])('the token in %s', (page, expected) => {
    expect(tokenOfPage(page)).toBe(expected);
  });
});
