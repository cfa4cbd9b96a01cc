import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { isLost, openChat, type Chat } from '../../src/live/chat.ts';

// What a chat waits for, against a WebSocket server that answers as engines were seen to.

const undo: (() => void)[] = [];
afterEach(() => {
  for (const step of undo.splice(0).toReversed()) step();
});

type Answer = (method: string, socket: WebSocket, event: (type: string, payload: object) => void) => object;

async function chatWith(answer: Answer): Promise<Chat> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  undo.push(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  server.on('connection', (socket) =>
    socket.on('message', (data: Buffer) => {
      const { id, method } = JSON.parse(data.toString()) as { id: string; method: string };
      const later: object[] = [];
      const event = (type: string, payload: object): void => {
        later.push({ method: 'event', params: { type, session_id: 'rt', payload } });
      };
      const result = answer(method, socket, event);
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, result }));
      for (const frame of later) socket.send(JSON.stringify({ jsonrpc: '2.0', ...frame }));
    }),
  );
  const { port } = server.address() as AddressInfo;
  const chat = await openChat({
    way: { url: `http://127.0.0.1:${port}`, used: { kind: 'none' }, origin: null, connection: {} },
    signal: AbortSignal.timeout(20_000),
    onQuestion: () => null,
  });
  undo.push(() => chat.close());
  return chat;
}

const created = { session_id: 'rt', stored_session_id: 'st' };

test('an attach that is answered after the end and before the idle word is asked again', async () => {
  let resumes = 0;
  const chat = await chatWith((method, _socket, event) => {
    if (method === 'session.create') return created;
    if (method === 'prompt.submit') {
      event('message.start', {});
      event('message.delta', { text: 'w0 ' });
      return { status: 'streaming' };
    }
    if (method !== 'session.resume') return {};
    resumes += 1;
    const messages = [
      { role: 'user', text: 'go' },
      { role: 'assistant', text: 'w0 w1' },
    ];
    if (resumes > 1) return { ...created, running: false, messages };
    event('session.info', { running: false });
    return { ...created, running: true, inflight: { user: 'go', assistant: 'w0 w1', streaming: true } };
  });
  const session = await chat.gateway.create();
  await chat.gateway.submit(session, 'go');
  await chat.gateway.resume('st', session);
  await chat.settled(session, 1, 5000);
  expect(resumes).toBe(2);
  expect(chat.turns()).toMatchObject([{ outcome: 'completed', degraded: true, final: 'w0 w1' }]);
});

test('a socket that goes away by itself ends the wait, and can come back', async () => {
  const chat = await chatWith((method, socket) => {
    if (method === 'prompt.submit') setTimeout(() => socket.terminate(), 20);
    if (method === 'session.resume')
      return { ...created, running: false, messages: [{ role: 'user', text: 'go' }] };
    return method === 'session.create' ? created : { status: 'streaming' };
  });
  const session = await chat.gateway.create();
  await chat.gateway.submit(session, 'go');
  const failure = await chat.settled(session, 1, 5000).catch((error: unknown) => error);
  expect(isLost(failure)).toBe(true);
  await chat.recover();
  await chat.settled(session, 1, 5000);
  expect(chat.turns()).toMatchObject([{ outcome: 'interrupted', degraded: true }]);
});
