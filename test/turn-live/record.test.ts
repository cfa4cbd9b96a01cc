import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import {
  findSession,
  recordSession,
  type Recorded,
  type RecordOptions,
} from '../../src/live/record-session.ts';
import type { Way } from '../../src/live/way.ts';

// How a recording ends when the dashboard does not do its part, against a server that answers as engines were seen to.

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

interface Dashboard {
  way: Way;
  /** HTTP requests, in order. */
  log: string[];
  end(): void;
}

const created = { session_id: 'rt', stored_session_id: 'st' };

async function dashboard(refuses: string[] = []): Promise<Dashboard> {
  const log: string[] = [];
  const server = createServer((request, response) => {
    log.push(`${request.method} ${request.url}`);
    const isKnown = request.url === '/api/sessions/st/messages' || request.url === '/api/sessions/s/messages';
    response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isKnown ? { session_id: 'st', messages: [] } : { detail: 'not found' }));
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket: WebSocket) =>
    socket.on('message', (data: Buffer) => {
      const { id, method } = JSON.parse(data.toString()) as { id: string; method: string };
      const error = { code: 4007, message: 'session not found' };
      const answer = refuses.includes(method) ? { error } : { result: created };
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
    }),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const end = (): void => {
    for (const client of sockets.clients) client.terminate();
    server.closeAllConnections();
    server.close();
  };
  undo.push(end);
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return { way: { url, used: { kind: 'none' }, origin: null, connection: {} }, log, end };
}

const start = (way: Way, more: Partial<RecordOptions>): Promise<Recorded> =>
  recordSession({
    way,
    prompts: [],
    attach: null,
    limitMs: null,
    keep: false,
    signal: AbortSignal.timeout(20_000),
    onRecord: () => {},
    flush: () => Promise.resolve(),
    ...more,
  });

test('a joined session whose dashboard goes away: it ends, and says so', { timeout: 30_000 }, async () => {
  const { way, end } = await dashboard();
  setTimeout(end, 300);
  const recorded = await start(way, { attach: 'st', limitMs: 15_000 });
  expect(recorded).toMatchObject({ storedId: 'st', removed: false, left: [] });
  expect(recorded.failure).toContain('was lost and did not come back');
});

test(
  'a dashboard that goes away in the middle of a turn: the session that stays is named',
  { timeout: 30_000 },
  async () => {
    const { way, end } = await dashboard();
    setTimeout(end, 300);
    const made = new Set<string>();
    const recorded = await start(way, { prompts: ['go'], made });
    expect(recorded).toMatchObject({ storedId: 'st', removed: false, left: [{ id: 'st', why: 'away' }] });
    expect(recorded.failure).toContain('was lost and did not come back');
    expect([...made]).toEqual(['st']);
  },
);

test('an attach that is refused is no bug', async () => {
  const { way } = await dashboard(['session.resume']);
  const recorded = await start(way, { attach: 'st' });
  expect(recorded).toMatchObject({ storedId: null, failure: 'session.resume: session not found' });
});

test('an engine that does not delete is told of, and nothing of another session is deleted', async () => {
  const { way, log } = await dashboard();
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 300);
  const recorded = await start(way, { prompts: ['go'], signal: stop.signal });
  expect(recorded).toMatchObject({ failure: null, removed: false });
  expect(recorded.left.map(({ id }) => id)).toEqual(['st']);
  const deleted = log.filter((line) => line.startsWith('DELETE'));
  expect(new Set(deleted)).toEqual(new Set(['DELETE /api/sessions/st']));
}, 20_000);

test('an id is looked up before anything is attached', async () => {
  const { way } = await dashboard();
  expect(await findSession(way, 'st')).toBe('st');
  expect(await findSession(way, 's')).toBe('st');
  await expect(findSession(way, 'other')).rejects.toMatchObject({ kind: 'usage' });
  await expect(findSession({ ...way, url: 'http://127.0.0.1:1' }, 'st')).rejects.toMatchObject({
    kind: 'unchecked',
  });
});
