import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';

import type { ContractOnDisk } from '../../src/engine/schema.ts';
import { closeAll, gateway, hermes, type Hermes, http, look, needs, ready, status, ws } from './servers.ts';

afterEach(closeAll);

const accept = (request: IncomingMessage): string =>
  createHash('sha1')
    .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');

const switching = (request: IncomingMessage, more = '', key = accept(request)): string =>
  `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${key}\r\n${more}\r\n`;

const frame = (payload: Buffer, opcode = 1, declared = payload.length): Buffer => {
  const head = Buffer.alloc(10);
  head[0] = 0x80 | opcode;
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(declared), 2);
  return Buffer.concat([head, payload]);
};

const upgradeWith = (write: (socket: Duplex, request: IncomingMessage) => void): Hermes => ({
  upgrade: (request, socket) => write(socket, request),
});

describe('handshakes', () => {
  it.each([
    ['a wrong accept key', '', 'AAAAAAAAAAAAAAAAAAAAAAAAAAA=', 'bad-accept'],
    ['a protocol that was not offered', 'sec-websocket-protocol: chat\r\n', undefined, 'bad-protocol'],
    [
      'an extension that was not offered',
      'sec-websocket-extensions: permessage-deflate\r\n',
      undefined,
      'bad-protocol',
    ],
  ])('%s', async (_, more, key, handshake) => {
    const { url } = await hermes(
      upgradeWith((socket, request) => socket.write(switching(request, more, key))),
    );
    const result = await look(url);
    expect(ws(result)).toMatchObject({
      outcome: 'failed',
      status: 101,
      handshake,
      error: { phase: 'upgrade' },
    });
    expect(result.facts.rpc.outcome).toBe('skipped');
  });

  it('never answered', async () => {
    const { url } = await hermes(upgradeWith(() => undefined));
    const result = await look(url, { timeoutMs: 800 });
    expect(ws(result)).toMatchObject({
      outcome: 'failed',
      status: null,
      error: { phase: 'upgrade', code: 'DEADLINE' },
    });
  });

  it('cut', async () => {
    const { url } = await hermes(upgradeWith((socket) => socket.end()));
    const result = await look(url);
    expect(ws(result)).toMatchObject({ outcome: 'failed', error: { phase: 'upgrade', code: 'CLOSED' } });
    expect(result.facts.flapping).toBeNull();
  });

  it('bytes that are not HTTP', async () => {
    const { url } = await hermes(upgradeWith((socket) => socket.end('hello\r\n\r\n')));
    expect(ws(await look(url))).toMatchObject({ outcome: 'failed', error: { code: 'HPE_INVALID_CONSTANT' } });
  });

  it('a refusal whose body has no end', async () => {
    const { url } = await hermes(
      upgradeWith((socket) => {
        socket.write('HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\n\r\n');
        const pump = (): void => {
          while (!socket.destroyed && socket.write(Buffer.alloc(65_536, 'x')));
        };
        socket.on('drain', pump);
        pump();
      }),
    );
    expect(ws(await look(url))).toMatchObject({
      outcome: 'refused',
      bareRefusal: false,
      body: { problem: 'too-large' },
    });
  });
});

describe('frames', () => {
  it('RPC answers although gateway.ready never comes', async () => {
    const { url } = await hermes({ socket: gateway({ greet: false }) });
    const started = performance.now();
    const result = await look(url);
    expect(performance.now() - started).toBeLessThan(2000);
    expect(result.facts.rpc).toMatchObject({ outcome: 'answered', errorCode: -32601 });
    expect(result.facts.contract.value).toBe(4);
    expect(ws(result)).toMatchObject({ outcome: 'open', firstFrame: { type: null, json: true } });
  });

  it('silence', async () => {
    const { url } = await hermes({ socket: () => undefined });
    const result = await look(url, { timeoutMs: 800 });
    expect(ws(result)).toMatchObject({ outcome: 'open', firstFrame: null, close: null });
    expect(result.facts.rpc).toMatchObject({ outcome: 'failed', error: { phase: 'rpc', code: 'DEADLINE' } });
    expect(result.facts.contract).toMatchObject({ state: 'unknown', from: null });
  });

  it('closed early, with its reason', async () => {
    const { url } = await hermes({ socket: (socket) => socket.close(4401, 'go\u0007away') });
    const result = await look(url);
    expect(ws(result)).toMatchObject({ outcome: 'open', close: { code: 4401, reason: 'go\ufffdaway' } });
    expect(result.facts.rpc).toMatchObject({ outcome: 'failed', error: { code: 'CLOSED' } });
  });

  it('noise, requests of the server and answers to others are passed by', async () => {
    const { url } = await hermes({
      socket: (socket) => {
        socket.send('not json');
        socket.send(Buffer.from([0, 1, 2]));
        socket.send(
          JSON.stringify({ jsonrpc: '2.0', id: 'hermes-compat-1', method: 'approval.request', params: {} }),
        );
        socket.send(JSON.stringify({ jsonrpc: '2.0', id: 'srq-1', result: {} }));
        socket.send(JSON.stringify([1, null, 'x']));
        gateway()(socket);
      },
    });
    const result = await look(url);
    expect(ws(result).firstFrame).toMatchObject({ json: false, type: null, bytes: 8 });
    expect(result.facts.rpc).toMatchObject({ outcome: 'answered', answer: 'error' });
  });

  it('16 MiB frames are ordinary', async () => {
    const { url } = await hermes({
      socket: (socket) => {
        socket.send(`{"x":"${'y'.repeat(16 * 1024 * 1024)}"}`);
        gateway()(socket);
      },
    });
    const result = await look(url);
    expect(ws(result).firstFrame).toMatchObject({ json: true, bytes: 16 * 1024 * 1024 + 8 });
    expect(result.facts.rpc.outcome).toBe('answered');
  });

  it.each([
    [
      '100 MB',
      (socket: Duplex) => socket.write(frame(Buffer.alloc(1000, 'x'), 1, 100_000_000)),
      'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH',
    ],
    [
      'text that is not UTF-8',
      (socket: Duplex) => socket.write(frame(Buffer.from([0xff, 0xfe]))),
      'WS_ERR_INVALID_UTF8',
    ],
    [
      'an opcode that does not exist',
      (socket: Duplex) => socket.write(frame(Buffer.from('x'), 5)),
      'WS_ERR_INVALID_OPCODE',
    ],
    [
      'masked, as only clients do',
      (socket: Duplex) => socket.write(Buffer.from([0x81, 0x81, 1, 2, 3, 4, 5])),
      'WS_ERR_UNEXPECTED_MASK',
    ],
  ])('a frame of %s', async (_, send, code) => {
    const { url } = await hermes(
      upgradeWith((socket, request) => {
        socket.write(switching(request));
        send(socket);
      }),
    );
    const started = performance.now();
    const result = await look(url);
    expect(performance.now() - started).toBeLessThan(2000);
    expect(ws(result)).toMatchObject({ outcome: 'open', error: { phase: 'frame', code } });
    expect(result.facts.rpc).toMatchObject({ outcome: 'failed' });
  });

  it('a flood of events without an answer ends with the limit', async () => {
    const { url } = await hermes({
      socket: (socket) => {
        const more = setInterval(() => socket.readyState === 1 && socket.send(ready), 1);
        socket.on('close', () => clearInterval(more));
      },
    });
    const result = await look(url, { timeoutMs: 900 });
    expect(result.facts.rpc.error?.code).toBe('DEADLINE');
    expect(ws(result).firstFrame?.type).toBe('gateway.ready');
  });
});

describe('the contract', () => {
  const asked = async (contract: string) => {
    const { url } = await hermes({ socket: gateway({ contract }) });
    return (await look(url)).facts.contract;
  };

  it.each([
    ['8', { value: 8, state: 'known', from: 'rpc', raw: '8' }],
    ['0', { value: 0, state: 'known', raw: '0' }],
    ['"8"', { value: null, state: 'unknown', from: 'rpc', raw: '"8"' }],
    ['null', { value: null, state: 'unknown', raw: 'null' }],
    ['true', { value: null, state: 'unknown', raw: 'true' }],
    ['7.5', { value: null, state: 'unknown', raw: '7.5' }],
    ['1e309', { value: null, state: 'unknown', raw: '1e309' }],
    ['-1', { value: null, state: 'unknown', raw: '-1' }],
    ['99999999999999999999', { value: null, state: 'unknown', raw: '99999999999999999999' }],
    ['{"a":1}', { value: null, state: 'unknown' }],
    ['', { value: null, state: 'unknown', from: null, raw: null, why: 'the new session says none' }],
  ])('said as %s', async (contract, expected) => {
    expect(await asked(contract)).toMatchObject(expected);
  });

  it('is asked by a session that is closed at once', async () => {
    const calls: { method: string; params: unknown }[] = [];
    const { url } = await hermes({ socket: gateway({ calls }) });
    await look(url);
    expect(calls).toEqual([
      { method: 'hermes_compat.probe', params: {} },
      { method: 'session.active_list', params: {} },
      { method: 'session.create', params: { close_on_disconnect: true, source: 'hermes-compat' } },
      { method: 'session.close', params: { session_id: 's9' } },
    ]);
  });

  const disk: ContractOnDisk = { value: 5, state: 'known', raw: '5' };
  const cases: {
    name: string;
    more: Parameters<typeof look>[1];
    version?: unknown;
    expected: Record<string, unknown>;
    sessions: number;
  }[] = [
    {
      name: 'disk knows',
      more: { contractFromDisk: disk },
      expected: { value: 5, from: 'source' },
      sessions: 0,
    },
    {
      name: 'disk knows later',
      more: { contractFromDisk: new Promise((resolve) => setTimeout(resolve, 200, disk)) },
      expected: { value: 5, from: 'source' },
      sessions: 0,
    },
    {
      name: 'disk says none',
      more: { contractFromDisk: { value: null, state: 'none', raw: null } },
      expected: { value: null, from: 'source', state: 'none' },
      sessions: 0,
    },
    {
      name: 'disk could not be read',
      more: { contractFromDisk: { value: null, state: 'unknown', raw: null } },
      expected: { value: 4, from: 'rpc' },
      sessions: 1,
    },
    {
      name: 'disk fails',
      more: {
        get contractFromDisk() {
          return Promise.reject(new Error('x'));
        },
      },
      expected: { value: 4 },
      sessions: 1,
    },
    {
      name: 'always, although disk knows',
      more: { contractFromDisk: disk, needs: { ...needs, sessionProbe: 'always' } },
      expected: { value: 4, from: 'rpc' },
      sessions: 1,
    },
    {
      name: 'never',
      more: { needs: { ...needs, sessionProbe: 'never' } },
      expected: { state: 'unknown' },
      sessions: 0,
    },
    {
      name: 'nobody wants it',
      more: { needs: { ...needs, contract: false } },
      expected: { state: 'unknown', why: 'not-needed' },
      sessions: 0,
    },
    {
      name: '0.14.0',
      more: {},
      version: '0.14.0',
      expected: { state: 'none', from: 'version' },
      sessions: 0,
    },
    {
      name: '0.15.2.post1+x',
      more: {},
      version: 'v0.15.2.post1+x',
      expected: { state: 'none', from: 'version' },
      sessions: 0,
    },
    {
      name: '0.14.0 although always',
      more: { needs: { ...needs, sessionProbe: 'always' } },
      version: '0.14.0',
      expected: { state: 'none' },
      sessions: 0,
    },
    { name: '1.0.0', more: {}, version: '1.0.0', expected: { value: 4 }, sessions: 1 },
    { name: 'a version that is none', more: {}, version: 'nightly', expected: { value: 4 }, sessions: 1 },
  ];
  it.each(cases)('$name', async ({ more, version, expected, sessions }) => {
    const calls: { method: string }[] = [];
    const { url } = await hermes({
      socket: gateway({ calls }),
      routes: { '/api/status': { body: { ...status, ...(version === undefined ? {} : { version }) } } },
    });
    const { facts } = await look(url, more);
    expect(facts.contract).toMatchObject(expected);
    expect(calls.filter(({ method }) => method === 'session.create')).toHaveLength(sessions);
  });

  it('a version that is none, of an engine that may be very old: no session is risked', async () => {
    const calls: { method: string }[] = [];
    const { url } = await hermes({
      socket: gateway({ calls }),
      routes: { '/api/status': { body: { version: 'dev', config_version: 1 } } },
    });
    expect((await look(url)).facts.contract).toMatchObject({
      state: 'unknown',
      why: 'the version is not known',
    });
    expect(calls.map(({ method }) => method)).toEqual(['hermes_compat.probe', 'session.active_list']);
  });

  it('an error instead of a session', async () => {
    const { url } = await hermes({
      socket: (socket) =>
        socket.on('message', (data: Buffer) => {
          const { id } = JSON.parse(data.toString()) as { id: string };
          socket.send(JSON.stringify({ jsonrpc: '2.0', id, error: { code: 5000, message: 'no provider' } }));
        }),
    });
    expect((await look(url)).facts.contract).toMatchObject({
      state: 'unknown',
      why: 'session.create answered an error: 5000 no provider',
    });
  });
});

describe('holding the socket', () => {
  it('stays open, answering pings', async () => {
    let pongs = 0;
    const { url } = await hermes({
      socket: (socket) => {
        gateway()(socket);
        const pinging = setInterval(() => socket.ping(), 100);
        socket.on('pong', () => (pongs += 1)).on('close', () => clearInterval(pinging));
      },
    });
    const result = await look(url, { holdSeconds: 0.6 });
    expect(ws(result).held).toEqual({ seconds: expect.closeTo(0.6, 0), closedAfterMs: null });
    expect(ws(result).close).toBeNull();
    expect(pongs).toBeGreaterThan(2);
  });

  it('is cut', async () => {
    const { url } = await hermes({
      socket: (socket) => {
        gateway()(socket);
        setTimeout(() => socket.terminate(), 300);
      },
    });
    const started = performance.now();
    const result = await look(url, { holdSeconds: 20 });
    expect(performance.now() - started).toBeLessThan(3000);
    expect(ws(result).held?.closedAfterMs).toBeGreaterThan(0);
    expect(ws(result).close).toMatchObject({ code: 1006 });
    expect(result.facts.flapping).toBeNull();
  });
});

it('upgrades have their own connection and leave none open', async () => {
  const { url, server } = await hermes();
  await look(url);
  await expect
    .poll(() => new Promise((resolve) => server.getConnections((_, count) => resolve(count))))
    .toBe(0);
  expect(http(await look(url), 'status').status).toBe(200);
});
