import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocketServer, WebSocket } from 'ws';
import {
  createReducer,
  openGateway,
  type Connect,
  type Gateway,
  type GatewayOptions,
} from '../../src/turn/index.ts';

// What a client does when sockets go away, and what it may say to questions that are not its own (facts of 0.22.2).

interface Frame {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: { code: number };
}
type Send = (frame: object) => void;
/** What a server does with a frame: the result, or nothing. */
type Handler = (frame: Frame, send: Send, socket: WebSocket) => object | undefined;

const undo: (() => void)[] = [];
afterEach(() => {
  for (const step of undo.splice(0).toReversed()) step();
});

interface Served {
  connect: Connect;
  server: WebSocketServer;
  /** Frames of the client that answer a request of the engine. */
  answers: Frame[];
  opened: () => number;
  /** Ends each new socket at once, in milliseconds; null serves again. */
  flap(afterMs: number | null): void;
}

async function serve(handler: Handler): Promise<Served> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  undo.push(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  const answers: Frame[] = [];
  let opened = 0;
  let flapMs: number | null = null;
  server.on('connection', (socket) => {
    opened += 1;
    if (flapMs !== null) return void setTimeout(() => socket.close(4401), flapMs);
    const send: Send = (frame) => socket.send(JSON.stringify({ jsonrpc: '2.0', ...frame }));
    socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as Frame;
      if (frame.method === undefined) return void answers.push(frame);
      const result = handler(frame, send, socket);
      if (result !== undefined) send({ id: frame.id, result });
    });
  });
  const { port } = server.address() as AddressInfo;
  const connect: Connect = async ({ onText, onClose }) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}`);
    socket.on('message', (data: Buffer) => onText(data.toString()));
    socket.on('close', (code) => onClose(`closed with ${code}`));
    await once(socket, 'open');
    return { send: (text) => socket.send(text), close: () => socket.close() };
  };
  return { connect, server, answers, opened: () => opened, flap: (ms) => (flapMs = ms) };
}

async function open(options: GatewayOptions): Promise<Gateway> {
  const gateway = await openGateway(options);
  undo.push(() => gateway.close());
  return gateway;
}

const capabilities = { server_requests: ['approval', 'sudo'], declines_not_shown: true };
const created = { session_id: 'rt-1', stored_session_id: 'stored-1' };
const joined = { session_id: 'rt-9', resumed: 'stored-9', running: true };

const ordinary: Handler = ({ method }) => {
  if (method === 'client.capabilities') return capabilities;
  if (method === 'session.create') return created;
  return method === 'session.resume' ? { ...joined, session_id: 'rt-1', resumed: 'stored-1' } : {};
};

describe('what is asked of another client', () => {
  const askAll = (send: Send, session: string): void => {
    for (const [i, method] of [
      'sudo',
      'secret',
      'vault.code',
      'setup_beat',
      'tour',
      'preview.read',
    ].entries())
      send({ id: `srq-${i}`, method, params: { session_id: session } });
  };

  test.each([
    ['0.22.2', capabilities, ['srq-4', 'srq-5']],
    ['an engine that settles on every error', { server_requests: [] }, []],
  ])('%s: in a joined session nothing is settled', async (_, answer, declined) => {
    const { connect, answers } = await serve((frame, send) => {
      if (frame.method === 'client.capabilities') return answer;
      if (frame.method !== 'session.resume') return {};
      setTimeout(() => askAll(send, 'rt-9'), 10);
      return joined;
    });
    const gateway = await open({ connect });
    await gateway.resume('stored-9');
    await pause(100);
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual(declined.map((id) => [id, 4404]));
  });

  test('in a session that was made here it is refused, also after a reconnect', async () => {
    const { connect, answers } = await serve((frame, send, socket) => {
      if (frame.method === 'session.create' || frame.method === 'session.resume')
        setTimeout(() => askAll(send, 'rt-1'), 10);
      return ordinary(frame, send, socket);
    });
    const gateway = await open({ connect });
    await gateway.create();
    await expect.poll(() => answers.length).toBe(6);
    gateway.drop();
    await gateway.reconnect();
    await expect.poll(() => answers.length).toBe(12);
    expect(new Set(answers.map(({ error }) => error?.code))).toEqual(new Set([-32601]));
  });
});

describe('a lost socket', () => {
  test('a server that closes every new socket is tried as often as was said, by one reconnect', async () => {
    const { connect, server, opened, flap } = await serve(ordinary);
    const reconnects: Promise<unknown>[] = [];
    const gateway: Gateway = await open({
      connect,
      attempts: 3,
      pauseMs: 20,
      onLost: () => void reconnects.push(gateway.reconnect().catch((error: unknown) => error)),
    });
    await gateway.create();
    flap(5);
    for (const client of server.clients) client.close(1012);
    await expect.poll(() => reconnects.length).toBe(1);
    expect(gateway.reconnect()).toBe(gateway.reconnect());
    await expect(gateway.reconnect()).rejects.toMatchObject({ kind: 'closed' });
    await pause(200);
    expect([opened(), reconnects.length, gateway.isOpen()]).toEqual([4, 1, false]);
    flap(null);
    expect(await gateway.reconnect()).toHaveLength(1);
  });

  test('one that lets everybody in and throws everybody out is asked ever more seldom', async () => {
    const { connect, server, opened } = await serve((frame, send, socket) => {
      if (frame.method === 'session.resume') setTimeout(() => socket.close(4401), 5);
      return ordinary(frame, send, socket);
    });
    const gateway: Gateway = await open({
      connect,
      pauseMs: 100,
      onLost: () => void gateway.reconnect().catch(() => undefined),
    });
    await gateway.create();
    for (const client of server.clients) client.close(1012);
    await pause(1200);
    expect(opened()).toBeGreaterThan(3);
    expect(opened()).toBeLessThan(8);
  });

  test('a socket that goes while sessions are attached again is another attempt, not another loss', async () => {
    let resumes = 0;
    const { connect } = await serve((frame, send, socket) => {
      if (frame.method === 'session.resume' && (resumes += 1) === 1) {
        socket.terminate();
        return undefined;
      }
      return ordinary(frame, send, socket);
    });
    const losses: string[] = [];
    const gateway = await open({ connect, pauseMs: 10, onLost: (why) => losses.push(why) });
    await gateway.create();
    gateway.drop();
    expect(await gateway.reconnect()).toHaveLength(1);
    expect([resumes, losses]).toEqual([2, []]);
  });

  test('one that closes in its handshake is an error of openGateway, and no loss', async () => {
    const { connect, flap } = await serve(ordinary);
    flap(5);
    const losses: string[] = [];
    await expect(openGateway({ connect, onLost: (why) => losses.push(why) })).rejects.toMatchObject({
      kind: 'closed',
    });
    expect(losses).toEqual([]);
  });

  test('one that stays silent in its handshake is closed', async () => {
    const { connect, server } = await serve(() => undefined);
    await expect(openGateway({ connect, timeoutMs: 50 })).rejects.toMatchObject({ kind: 'timeout' });
    await expect.poll(() => server.clients.size).toBe(0);
  });

  test('a close while it reconnects leaves no socket', async () => {
    let silent = false;
    const { connect, server } = await serve((...all) => (silent ? undefined : ordinary(...all)));
    const gateway = await open({ connect });
    await gateway.create();
    silent = true;
    const again = gateway.reconnect();
    await expect.poll(() => server.clients.size).toBeGreaterThan(0);
    await pause(30);
    gateway.close();
    await expect(again).rejects.toMatchObject({ kind: 'closed' });
    await expect.poll(() => server.clients.size).toBe(0);
  });
});

describe('a question that waits', () => {
  const request = {
    id: 'srq-1',
    method: 'approval',
    params: { session_id: 'rt-1', command: 'rm -rf x' },
  };
  const start = { type: 'message.start', session_id: 'rt-1', seq: 1, payload: {} };
  const asking =
    (sentLive: boolean): Handler =>
    (frame, send, socket) => {
      if (frame.method === 'prompt.submit') {
        setTimeout(() => {
          send({ method: 'event', params: start });
          if (sentLive) send(request);
        }, 10);
        return { status: 'streaming' };
      }
      if (frame.method === 'session.resume')
        return { ...joined, session_id: 'rt-1', resumed: 'stored-1', open_requests: [request] };
      if (frame.method === 'session.events.since') return { events: [], open_requests: [request] };
      return ordinary(frame, send, socket);
    };

  test.each([true, false])('is asked again after a reconnect, once (seen before: %s)', async (sentLive) => {
    const { connect, answers } = await serve(asking(sentLive));
    const reducer = createReducer();
    const asked: unknown[] = [];
    let ready = false;
    const gateway = await open({
      connect,
      onRecord: (record) => reducer.push(record),
      onQuestion: ({ id }) => {
        asked.push(id);
        return ready ? 'once' : null;
      },
    });
    const phase = (): unknown => reducer.snapshot().turns.at(-1)?.phase;
    const session = await gateway.create();
    await gateway.submit(session, 'danger');
    await expect.poll(phase).toBe(sentLive ? 'waiting' : 'running');
    gateway.drop();
    ready = true;
    await gateway.reconnect();
    await expect.poll(() => answers).toMatchObject([{ id: 'srq-1', result: { choice: 'once' } }]);
    expect(asked).toEqual(sentLive ? ['srq-1', 'srq-1'] : ['srq-1']);
    expect(phase()).toBe('running');
  });

  test('is not asked a second time while the first call for it is at work; its answer takes the new socket', async () => {
    const { connect, answers } = await serve(asking(true));
    const calls: ((answer: string) => void)[] = [];
    const gateway = await open({
      connect,
      onQuestion: () => new Promise<string>((resolve) => calls.push(resolve)),
    });
    await gateway.submit(await gateway.create(), 'danger');
    await expect.poll(() => calls.length).toBe(1);
    gateway.drop();
    await gateway.reconnect();
    expect(calls).toHaveLength(1);
    calls[0]?.('deny');
    await expect.poll(() => answers).toMatchObject([{ id: 'srq-1', result: { choice: 'deny' } }]);
  });

  test('stays open when onQuestion throws, and the error is told', async () => {
    const { connect, answers } = await serve(asking(true));
    const errors: unknown[] = [];
    const gateway = await open({
      connect,
      onQuestion: () => {
        throw new Error('the page broke');
      },
      onError: (error) => errors.push(error),
    });
    await gateway.submit(await gateway.create(), 'danger');
    await expect.poll(() => errors.map(String)).toEqual(['Error: the page broke']);
    expect([answers, gateway.isOpen()]).toEqual([[], true]);
  });
});

describe('a prompt whose answer did not come', () => {
  const at = (type: string) => ({ method: 'event', params: { type, session_id: 'rt-1', payload: {} } });
  const submitting =
    (onSubmit: (send: Send, id: unknown) => void): Handler =>
    (frame, send, socket) => {
      if (frame.method !== 'prompt.submit') return ordinary(frame, send, socket);
      onSubmit(send, frame.id);
      return undefined;
    };

  test.each<[string, (send: Send, id: unknown) => void, string, boolean]>([
    ['in time, and it runs', (send) => send(at('message.start')), 'unknown', true],
    [
      'in time, and it is over',
      (send) => (send(at('message.start')), send(at('message.complete'))),
      'unknown',
      false,
    ],
    [
      'because another runs',
      (send, id) => send({ id, error: { code: 4009, message: 'busy' } }),
      'busy',
      true,
    ],
  ])('%s', async (_, onSubmit, status, runs) => {
    const { connect } = await serve(submitting(onSubmit));
    const gateway = await open({ connect, timeoutMs: 100 });
    const session = await gateway.create();
    expect(await gateway.submit(session, 'x')).toMatchObject({ status });
    expect(session.running).toBe(runs);
    expect(await gateway.interrupt(session)).toBe(runs);
  });

  test.each([
    [false, false],
    [true, true],
  ])('a refusal leaves what was known, or what an event said meanwhile: %s', async (starts, runs) => {
    const { connect } = await serve(
      submitting((send, id) => {
        if (starts) send(at('message.start'));
        send({ id, error: { code: 4002, message: 'no' } });
      }),
    );
    const gateway = await open({ connect });
    const session = await gateway.create();
    await expect(gateway.submit(session, 'x')).rejects.toMatchObject({ kind: 'refused' });
    expect(session.running).toBe(runs);
    gateway.drop();
    await expect(gateway.submit(session, 'x')).rejects.toMatchObject({ kind: 'not-sent' });
    expect(session.running).toBe(runs);
  });
});
