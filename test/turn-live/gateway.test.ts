import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocketServer, WebSocket } from 'ws';
import { isGatewayFailure, openGateway, type Connect, type Gateway } from '../../src/turn/index.ts';

// The client against a real WebSocket server that answers as the engines were seen to (facts of each version).

type Handler = (
  method: string,
  params: Record<string, unknown>,
  send: (frame: object) => void,
) => object | 'silent' | 'cut';

const servers: WebSocketServer[] = [];
const gateways: Gateway[] = [];
afterEach(() => {
  for (const gateway of gateways.splice(0)) gateway.close();
  for (const server of servers.splice(0)) {
    for (const client of server.clients) client.terminate();
    server.close();
  }
});

interface Asked {
  method: string;
  params: Record<string, unknown>;
}

async function serve(handler: Handler): Promise<{ connect: Connect; asked: Asked[]; answers: unknown[] }> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  servers.push(server);
  await once(server, 'listening');
  const asked: Asked[] = [];
  const answers: unknown[] = [];
  server.on('connection', (socket) => {
    const send = (frame: object): void => socket.send(JSON.stringify({ jsonrpc: '2.0', ...frame }));
    socket.on('message', (data: Buffer) => {
      const { id, method, params, ...rest } = JSON.parse(data.toString()) as Asked & { id: unknown };
      if (method === undefined) {
        answers.push({ id, ...rest });
        return;
      }
      if (method === 'client.capabilities') return send({ id, error: { code: -32601, message: 'unknown' } });
      asked.push({ method, params });
      const answer = handler(method, params, send);
      if (answer === 'cut') socket.terminate();
      else if (answer !== 'silent') send({ id, ...answer });
    });
  });
  const { port } = server.address() as AddressInfo;
  const connect: Connect = async (events) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}`);
    socket.on('message', (data: Buffer) => events.onText(data.toString()));
    socket.on('close', () => events.onClose('closed'));
    await once(socket, 'open');
    return { send: (text) => socket.send(text), close: () => socket.terminate() };
  };
  return { connect, asked, answers };
}

const open = async (options: Parameters<typeof openGateway>[0]): Promise<Gateway> => {
  const gateway = await openGateway(options);
  gateways.push(gateway);
  return gateway;
};

const created = { result: { session_id: 'rt-1', stored_session_id: 'stored-1' } };
const forgotten = { error: { code: 4001, message: 'session not found' } };

describe('submit', () => {
  test('a forgotten session is resumed by its stored id and the prompt sent once more, to the new runtime id', async () => {
    const { connect, asked } = await serve((method, params) => {
      if (method === 'session.create') return created;
      if (method === 'session.resume')
        return { result: { session_id: 'rt-2', resumed: 'stored-1', messages: [] } };
      return params['session_id'] === 'rt-2' ? { result: { status: 'streaming' } } : forgotten;
    });
    const gateway = await open({ connect });
    const session = await gateway.create();
    expect(await gateway.submit(session, 'hello')).toMatchObject({ status: 'started', recovered: true });
    expect(asked.slice(1)).toEqual([
      { method: 'prompt.submit', params: { session_id: 'rt-1', text: 'hello' } },
      { method: 'session.resume', params: { session_id: 'stored-1', cols: 100 } },
      { method: 'prompt.submit', params: { session_id: 'rt-2', text: 'hello' } },
    ]);
    expect(session).toMatchObject({ runtimeId: 'rt-2', storedId: 'stored-1', running: true });
  });

  test.each([
    ['takes the turn up by itself', { auto_continue: { attempt: 1 } }],
    ['runs a turn', { running: true, inflight: { user: 'hello', streaming: true } }],
  ])('an engine that %s gets no second prompt', async (_, more) => {
    const { connect, asked } = await serve((method) => {
      if (method === 'session.create') return created;
      return method === 'session.resume'
        ? { result: { session_id: 'rt-2', resumed: 'stored-1', ...more } }
        : forgotten;
    });
    const gateway = await open({ connect });
    const session = await gateway.create();
    expect(await gateway.submit(session, 'hello')).toMatchObject({ status: 'held' });
    expect(asked.filter(({ method }) => method === 'prompt.submit')).toHaveLength(1);
  });

  test('a session that stays forgotten after the attach is an error, not a loop', async () => {
    const { connect, asked } = await serve((method) => {
      if (method === 'session.create') return created;
      return method === 'session.resume' ? { result: { session_id: 'rt-2' } } : forgotten;
    });
    const gateway = await open({ connect });
    await expect(gateway.submit(await gateway.create(), 'hello')).rejects.toThrow('does not know');
    expect(asked.filter(({ method }) => method === 'prompt.submit')).toHaveLength(2);
  });

  test('busy answers are told apart', async () => {
    const answers: object[] = [
      { error: { code: 4009, message: 'session busy' } },
      { result: { status: 'queued' } },
      { result: { status: 'redirected' } },
    ];
    const { connect } = await serve((method) =>
      method === 'session.create' ? created : (answers.shift() ?? {}),
    );
    const gateway = await open({ connect });
    const session = await gateway.create();
    const seen = [];
    for (let i = 0; i < 3; i += 1) seen.push((await gateway.submit(session, 'x')).status);
    expect(seen).toEqual(['busy', 'queued', 'redirected']);
  });

  test('a socket that closes before the answer leaves the prompt unknown, and it is never sent again', async () => {
    const { connect, asked } = await serve((method) =>
      method === 'session.create'
        ? created
        : method === 'session.resume'
          ? { result: { session_id: 'rt-1', resumed: 'stored-1' } }
          : 'cut',
    );
    const gateway = await open({ connect });
    const session = await gateway.create();
    expect(await gateway.submit(session, 'hello')).toEqual({ status: 'unknown' });
    await gateway.reconnect();
    expect(asked.map(({ method }) => method)).toEqual(['session.create', 'prompt.submit', 'session.resume']);
  });
});

describe('stop', () => {
  test('is not sent when nothing runs, before a turn or after it', async () => {
    const { connect, asked } = await serve((method, _, send) => {
      if (method !== 'prompt.submit') return method === 'session.create' ? created : { result: {} };
      setTimeout(
        () =>
          send({ method: 'event', params: { type: 'message.complete', session_id: 'rt-1', payload: {} } }),
        30,
      );
      return { result: { status: 'streaming' } };
    });
    const ends: unknown[] = [];
    const gateway = await open({ connect, onEvent: (params) => ends.push(params) });
    const session = await gateway.create();
    expect(await gateway.interrupt(session)).toBe(false);
    await gateway.submit(session, 'x');
    expect(await gateway.interrupt(session)).toBe(true);
    await expect.poll(() => ends.length).toBe(1);
    expect(await gateway.interrupt(session)).toBe(false);
    expect(asked.filter(({ method }) => method === 'session.interrupt')).toHaveLength(1);
  });
});

test('0.14 tells the stored id by session.title', async () => {
  const { connect } = await serve((method) =>
    method === 'session.create'
      ? { result: { session_id: 'rt-1' } }
      : { result: { session_key: 'stored-9' } },
  );
  expect(await (await open({ connect })).create()).toMatchObject({ runtimeId: 'rt-1', storedId: 'stored-9' });
});

test('questions of both styles are answered in their own', async () => {
  const { connect, asked, answers } = await serve((method, _, send) => {
    if (method !== 'session.create') return { result: { resolved: 1 } };
    setTimeout(() => {
      send({
        method: 'event',
        params: {
          type: 'approval.request',
          session_id: 'rt-1',
          payload: { command: 'rm', request_id: 'q1' },
        },
      });
      send({ id: 'srq-1', method: 'approval', params: { session_id: 'rt-1', command: 'rm' } });
      send({
        id: 'srq-2',
        method: 'clarify',
        params: { session_id: 'rt-1', questions: [{ qid: 'a', question: 'Red?' }] },
      });
      send({ id: 'srq-3', method: 'window.read', params: { session_id: 'rt-1' } });
    }, 10);
    return created;
  });
  const gateway = await open({ connect, onQuestion: ({ kind }) => (kind === 'approval' ? 'deny' : 'red') });
  await gateway.create();
  await expect.poll(() => answers.length).toBe(3);
  expect(answers).toEqual([
    { id: 'srq-3', jsonrpc: '2.0', error: { code: -32601, message: 'unknown method: window.read' } },
    { id: 'srq-1', jsonrpc: '2.0', result: { choice: 'deny' } },
    { id: 'srq-2', jsonrpc: '2.0', result: { answers: { a: 'red' } } },
  ]);
  await expect.poll(() => asked.length).toBe(2);
  expect(asked[1]).toEqual({
    method: 'approval.respond',
    params: { session_id: 'rt-1', choice: 'deny', request_id: 'q1' },
  });
});

test('after a lost socket: resume first, then the events after the last one seen', async () => {
  const { connect, asked } = await serve((method, _, send) => {
    if (method === 'session.create') {
      setTimeout(
        () => send({ method: 'event', params: { type: 'message.start', session_id: 'rt-1', seq: 7 } }),
        10,
      );
      return created;
    }
    return { result: { session_id: 'rt-1', resumed: 'stored-1', running: true } };
  });
  const gateway = await open({ connect });
  const session = await gateway.create();
  await expect.poll(() => session.lastSeq).toBe(7);
  gateway.drop();
  expect(gateway.isOpen()).toBe(false);
  const error: unknown = await gateway.usage(session).catch((caught: unknown) => caught);
  expect(isGatewayFailure(error) && error.kind).toBe('not-sent');
  const [attached] = await gateway.reconnect();
  expect(attached).toMatchObject({ running: true, continues: false });
  expect(asked.slice(1)).toEqual([
    { method: 'session.resume', params: { session_id: 'stored-1', cols: 100 } },
    { method: 'session.events.since', params: { session_id: 'rt-1', last_seen: 7 } },
  ]);
});

test('an end that comes before the attach answer counts, although the answer still says running', async () => {
  const { connect } = await serve((method, _, send) => {
    if (method === 'session.create') return created;
    send({ method: 'event', params: { type: 'message.complete', session_id: 'rt-1', payload: {} } });
    return { result: { session_id: 'rt-1', resumed: 'stored-1', running: true } };
  });
  const gateway = await open({ connect });
  const session = await gateway.create();
  await gateway.reconnect();
  expect(session).toMatchObject({ running: false, ends: 1 });
});

test('an answer that does not come ends the request after its time', async () => {
  const { connect } = await serve(() => 'silent');
  const gateway = await open({ connect });
  await expect(gateway.call('session.usage', {}, 50)).rejects.toMatchObject({ kind: 'timeout' });
});

describe('attachments', () => {
  const image = { name: 'a.png', mime: 'image/png' };
  test('a path where the engine can read it, else the bytes', async () => {
    const { connect, asked } = await serve((method) => {
      if (method === 'session.create') return created;
      return method === 'image.attach'
        ? { error: { code: 4016, message: 'image not found' } }
        : { result: { ref_text: '@file:a.txt' } };
    });
    const gateway = await open({ connect });
    const session = await gateway.create();
    expect(await gateway.attach(session, { ...image, path: '/far/a.png', base64: 'AAAA' })).toMatchObject({
      how: 'image.attach_bytes',
    });
    expect(
      await gateway.attach(session, { name: 'a.txt', mime: 'text/plain', path: null, base64: 'AAAA' }),
    ).toEqual({ how: 'file.attach', reference: '@file:a.txt' });
    expect(asked.slice(1).map(({ method }) => method)).toEqual([
      'image.attach',
      'image.attach_bytes',
      'file.attach',
    ]);
    await expect(gateway.attach(session, { ...image, path: null, base64: null })).rejects.toMatchObject({
      kind: 'not-sent',
    });
  });
});

test('an end that only the replay holds ends the turn, and an older start in it does not begin one', async () => {
  const event = (seq: number, type: string, payload = {}) => ({ seq, type, session_id: 'rt-1', payload });
  const { connect } = await serve((method, _, send) => {
    if (method === 'session.create') return created;
    if (method === 'prompt.submit') {
      send({ method: 'event', params: event(7, 'message.start') });
      return { result: { status: 'streaming' } };
    }
    if (method === 'session.resume')
      return { result: { session_id: 'rt-1', resumed: 'stored-1', running: true } };
    return { result: { events: [event(8, 'message.delta'), event(9, 'message.complete')], latest_seq: 9 } };
  });
  const gateway = await open({ connect });
  const session = await gateway.create();
  await gateway.submit(session, 'go');
  gateway.drop();
  await gateway.reconnect();
  expect(session).toMatchObject({ running: false, lastSeq: 9, ends: 1 });

  const late = await serve((method, _, send) => {
    if (method === 'session.create') return created;
    for (const seq of [7, 12])
      send({ method: 'event', params: event(seq, seq === 7 ? 'message.start' : 'message.complete') });
    return { result: { events: [event(8, 'message.start'), event(12, 'message.complete')] } };
  });
  const other = await open({ connect: late.connect });
  const same = await other.create();
  await other.submit(same, 'go');
  await other.eventsSince(same);
  expect(same).toMatchObject({ running: false, lastSeq: 12, ends: 1 });
});
