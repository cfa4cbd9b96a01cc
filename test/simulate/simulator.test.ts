import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { releases, type Simulator, startSimulator } from '../../src/simulate/index.ts';
import { findRelease } from '../../src/simulate/release/table.ts';
import { since as isSince } from '../../src/simulate/release/since.ts';
import { chat, closeClients, open, turnsOf } from './client.ts';

/** The stand-in by itself: what the contract suite cannot show because it never chats, and what the options do. */

const since = (release: string, version: string): boolean => isSince(findRelease(release), version);

type Options = Parameters<typeof startSimulator>[0];

let engine: Simulator | null = null;
afterEach(async () => {
  closeClients();
  await engine?.close();
  engine = null;
});

const start = async (options: Options): Promise<Simulator> => {
  engine = await startSimulator(options);
  return engine;
};

const rest = async ({ url, token }: Simulator, path: string): Promise<Record<string, unknown>> =>
  (await (
    await fetch(`${url}${path}`, { headers: { 'x-hermes-session-token': token ?? '' } })
  ).json()) as never;

describe.each(releases.map(({ version }) => version))('%s', (release) => {
  test('a turn runs, is stored, and is restored on another socket', async () => {
    const simulator = await start({ release, chat: true });
    const client = await open(simulator);
    const session = await chat(client);
    const prompt = { session_id: session.id, text: 'SCN:tool-say hello' };
    expect((await client.call('prompt.submit', prompt)).result).toMatchObject({ status: 'streaming' });
    const end = await client.event('message.complete');
    expect(end.params?.payload).toMatchObject({ text: 'The tool ran and printed hi.', status: 'complete' });
    await pause(20);
    const turns = turnsOf(client);
    expect(turns).toMatchObject([
      { outcome: 'completed', final: 'The tool ran and printed hi.', degraded: false },
    ]);
    const stored = await rest(simulator, `/api/sessions/${session.stored}/messages`);
    expect((stored['messages'] as { role: string }[]).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ]);
    const again = await open(simulator);
    const resumed = await again.call('session.resume', { session_id: session.stored });
    expect(resumed.result).toMatchObject({ resumed: session.stored, message_count: 4 });
    expect(JSON.stringify(resumed.result?.['messages'])).toContain('The tool ran and printed hi.');
  });

  test('the first turn outgrows the window: its prompt is stored once, or is in the summary', async () => {
    const simulator = await start({ release, chat: true });
    const client = await open(simulator);
    const { id, stored } = await chat(client);
    const text = 'SCN:grow n=5 base=20000 step=9000';
    await client.call('prompt.submit', { session_id: id, text });
    await client.event('message.complete');
    await pause(20);
    const { messages } = (await rest(simulator, `/api/sessions/${stored}/messages`)) as {
      messages: { id: number; role: string; content: string }[];
    };
    const users = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
    expect(users).toEqual([since(release, '0.21.4') ? expect.stringContaining('CONTEXT COMPACTION') : text]);
    expect(new Set(messages.map((row) => row.id)).size).toBe(messages.length);
    expect(messages.at(-1)).toMatchObject({ role: 'assistant', content: 'It has grown.' });
  });

  test('a turn is interrupted; what failed and what was empty is said', async () => {
    const client = await open(await start({ release, chat: true }));
    const { id } = await chat(client);
    await client.call('prompt.submit', { session_id: id, text: 'SCN:slow delay=20' });
    await client.event('message.delta', 3);
    expect((await client.call('session.interrupt', { session_id: id })).result).toEqual({
      status: 'interrupted',
    });
    expect((await client.event('message.complete')).params?.payload?.['status']).toBe('interrupted');
    await pause(20);
    await client.call('prompt.submit', { session_id: id, text: 'SCN:http code=500' });
    expect((await client.event('message.complete', 2)).params?.payload?.['status']).toBe('error');
    await pause(20);
    await client.call('prompt.submit', { session_id: id, text: 'SCN:empty' });
    await client.event('message.complete', 3);
    await pause(20);
    const turns = turnsOf(client);
    expect(turns.map(({ outcome }) => outcome)).toEqual(['cancelled', 'error', 'no_response']);
  });
});

describe('turns that do not simply end', () => {
  test.each(['0.14.0', '0.16.0', '0.19.0', '0.21.0'])(
    '%s: an approval is an event, answered by a call',
    async (release) => {
      const client = await open(await start({ release, chat: true }));
      const { id } = await chat(client);
      for (const [at, choice] of ['once', 'deny'].entries()) {
        await client.call('prompt.submit', { session_id: id, text: `SCN:danger ${choice}` });
        await client.event('approval.request', at + 1);
        const answer = await client.call('approval.respond', { session_id: id, choice });
        expect(answer.result).toEqual({ resolved: 1 });
        await client.event('message.complete', at + 1);
        await pause(20);
      }
      const tools = turnsOf(client).flatMap(({ parts }) => parts.filter((part) => part.type === 'tool'));
      expect(tools).toMatchObject([{ status: 'completed' }, { status: 'denied' }]);
      const late = await client.call('approval.respond', { session_id: id, choice: 'once' });
      expect(late.result).toEqual({ resolved: 0 });
    },
  );

  test('0.22.2: an approval is a request, for clients that said they answer such', async () => {
    const client = await open(await start({ release: '0.22.2' }));
    const { id } = await chat(client);
    await client.call('prompt.submit', { session_id: id, text: 'SCN:danger nobody answers' });
    const refused = await client.event('tool.complete');
    expect(JSON.stringify(refused)).toContain('BLOCKED: Command approval was withdrawn');
    await client.event('message.complete');
    await client.call('client.capabilities', { server_requests: true });
    await client.call('prompt.submit', { session_id: id, text: 'SCN:danger answered' });
    const request = await client.request('approval');
    client.answer(request, { choice: 'once' });
    const done = await client.event('tool.complete', 2);
    expect(JSON.stringify(done)).toContain('approved by the user');
    await client.event('message.complete', 2);
    await client.call('prompt.submit', { session_id: id, text: 'SCN:clarify' });
    client.answer(await client.request('clarify'), { answers: { q0: 'red' } });
    expect(JSON.stringify(await client.event('tool.complete', 3))).toContain('"user_response":"red"');
  });

  test.each(['0.14.0', '0.19.0', '0.22.2'])('%s: a tool is stopped', async (release) => {
    const client = await open(await start({ release, chat: true }));
    const { id } = await chat(client);
    await client.call('prompt.submit', { session_id: id, text: 'SCN:slow-tool' });
    await client.event('tool.start');
    await client.call('session.interrupt', { session_id: id });
    await client.event('message.complete');
    expect(turnsOf(client)).toMatchObject([{ outcome: 'cancelled', degraded: false }]);
  });

  test.each([
    ['SCN:loop', 'tool_limit_reached'],
    ['SCN:bad-tool', 'error'],
    ['SCN:bad-json', 'error'],
    ['SCN:tool-empty', 'no_response'],
    ['SCN:write', 'completed'],
  ])('%s: %s', async (text, outcome) => {
    const client = await open(await start({ release: '0.19.0' }));
    const { id } = await chat(client);
    await client.call('prompt.submit', { session_id: id, text });
    await client.event('message.complete');
    expect(turnsOf(client)).toMatchObject([{ outcome }]);
  });
});

describe('busy', () => {
  test.each([
    ['0.16.0', 'session busy', 1],
    ['0.19.0', 'queued', 2],
    ['0.22.2', 'redirected', 1],
  ])('%s: %s', async (release, word, ends) => {
    const client = await open(await start({ release }));
    const { id } = await chat(client);
    await client.call('prompt.submit', { session_id: id, text: 'SCN:slow n=20 delay=10' });
    await client.event('message.delta', 2);
    const second = await client.call('prompt.submit', { session_id: id, text: 'SCN:plain second' });
    expect(second.result?.['status'] ?? second.error?.message).toBe(word);
    await client.event('message.complete', ends);
  });
});

describe('two clients of one session', () => {
  test.each([
    ['0.19.0', false],
    ['0.22.2', true],
  ])('%s: the first still gets events: %s', async (release, both) => {
    const simulator = await start({ release });
    const first = await open(simulator);
    const session = await chat(first);
    await first.call('prompt.submit', { session_id: session.id, text: 'SCN:plain' });
    await first.event('message.complete');
    await pause(20);
    const second = await open(simulator);
    await second.call('session.resume', { session_id: session.stored });
    await second.call('prompt.submit', { session_id: session.id, text: 'SCN:plain again' });
    await second.event('message.complete');
    await pause(30);
    const seen = first.frames.filter(({ params }) => params?.type === 'message.complete').length;
    expect(seen).toBe(both ? 2 : 1);
  });

  test('0.22.2: missed events come by number', async () => {
    const simulator = await start({ release: '0.22.2' });
    const first = await open(simulator);
    const session = await chat(first);
    await first.call('prompt.submit', { session_id: session.id, text: 'SCN:plain' });
    const end = await first.event('message.complete');
    const second = await open(simulator);
    const missed = await second.call('session.events.since', { session_id: session.id, last_seen: 2 });
    const events = missed.result?.['events'] as { seq: number }[] | undefined;
    const seqs = (events ?? []).map(({ seq }) => seq);
    expect(seqs[0]).toBe(3);
    expect(seqs).toContain(end.params?.seq);
  });
});

describe('refused calls', () => {
  test('from 0.21.4 on a parameter that the engine does not know is an error', async () => {
    const params = { session_id: 'nope', made_up: 1 };
    const old = await open(await start({ release: '0.21.0' }));
    expect((await old.call('session.usage', params)).error?.code).toBe(4001);
    await engine?.close();
    const fresh = await open(await start({ release: '0.21.4' }));
    const { error } = await fresh.call('session.usage', params);
    expect(error?.code).toBe(4000);
    expect(error?.message).toContain('invalid params for session.usage: made_up');
  });
});

describe('options', () => {
  test('below a prefix, as behind a proxy that strips it', async () => {
    const simulator = await start({ release: '0.19.0', prefix: '/hermes' });
    expect(simulator.url).toMatch(/\/hermes$/);
    const page = await (await fetch(simulator.url)).text();
    expect(page).toContain('__HERMES_BASE_PATH__="/hermes"');
    expect((await fetch(new URL('/api/status', simulator.url))).status).toBe(404);
    expect(await rest(simulator, '/api/status')).toMatchObject({ version: '0.19.0' });
    await open(simulator);
  });

  test('with the model library', async () => {
    const { url, token } = await start({ release: '0.19.0', library: true });
    const send = async (method: string, path: string, body?: unknown): Promise<[number, unknown]> => {
      const answer = await fetch(`${url}/api/model/library${path}`, {
        method,
        headers: { 'x-hermes-session-token': token ?? '' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return [answer.status, await answer.json()];
    };
    expect(await send('GET', '')).toEqual([200, { models: [] }]);
    expect(await send('POST', '', { provider: 'x' })).toEqual([
      400,
      { detail: 'provider and model required' },
    ]);
    const [, row] = await send('POST', '', { provider: 'x', model: 'a/b', baseUrl: 'http://h/' });
    expect(row).toMatchObject({ name: 'b', provider: 'x', model: 'a/b' });
    const [, same] = await send('POST', '', { provider: 'X', model: 'A/b', baseUrl: 'http://h' });
    expect(same).toEqual(row);
    const { id } = row as { id: string };
    expect(await send('PATCH', `/${id}`, { name: 'mine' })).toMatchObject([
      200,
      { ok: true, model: { name: 'mine' } },
    ]);
    expect(await send('DELETE', `/${encodeURIComponent(id)}`)).toEqual([200, { ok: true }]);
    expect((await send('DELETE', `/${id}`))[0]).toBe(404);
  });

  test('a login: name, password, cookie, ticket; a ticket works once and not after it is refused', async () => {
    const simulator = await start({ release: '0.22.2', gated: true });
    const { url, login } = simulator;
    expect(simulator.token).toBeNull();
    const answer = await fetch(`${url}/auth/password-login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ provider: 'basic', ...login, next: '' }),
    });
    const cookie = answer.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
    const ticket = async (): Promise<string> => {
      const minted = await fetch(`${url}/api/auth/ws-ticket`, { method: 'POST', headers: { cookie } });
      return ((await minted.json()) as { ticket: string }).ticket;
    };
    const used = await ticket();
    await open(simulator, `ticket=${used}`);
    await expect(open(simulator, `ticket=${used}`)).rejects.toThrow('403');
    const burnt = await ticket();
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/ws?ticket=${burnt}`, {
      origin: 'https://evil.test',
    });
    await expect(once(socket, 'open')).rejects.toThrow('403');
    await expect(open(simulator, `ticket=${burnt}`)).rejects.toThrow('403');
  });

  test('what it does not model says so', async () => {
    const simulator = await start({ release: '0.19.0' });
    expect(JSON.stringify(await rest(simulator, '/api/cron/jobs'))).toContain('does not model');
    expect(JSON.stringify(await rest(simulator, '/api/nothing'))).toContain('No such API endpoint');
  });

  test.each<[Options, string]>([
    [{ release: '9.9.9' }, 'no release'],
    [{ release: '0.19.0', faults: ['nope'] }, 'no fault'],
    [{ release: '0.14.0', gated: true }, 'no login'],
    [{ release: '0.16.0', headless: true }, 'no headless'],
    [{ release: '0.19.0', prefix: 'x' }, 'prefix'],
    [{ release: '0.19.0', play: 'not a recording' }, 'line 1'],
  ])('%j is refused', async (options, words) => {
    await expect(startSimulator(options)).rejects.toThrow(words);
  });
});

test('the refusal is the engine’s, byte for byte', async () => {
  const { port } = await start({ release: '0.19.0' });
  const socket = connect(port, '127.0.0.1');
  const head = [
    `GET /api/ws HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
  ];
  socket.write(
    [...head, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13', '', ''].join(
      '\r\n',
    ),
  );
  let text = '';
  for await (const chunk of socket) text += (chunk as Buffer).toString();
  expect(text.replace(/Date: [^\r]+/, 'Date: D')).toBe(
    'HTTP/1.1 403 Forbidden\r\nDate: D\r\nConnection: close\r\nContent-Length: 0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n',
  );
});

test('nothing is left when it is closed', async () => {
  const simulator = await startSimulator({ release: '0.19.0' });
  const client = await open(simulator);
  const { id } = await chat(client);
  await client.call('prompt.submit', { session_id: id, text: 'SCN:slow n=1000' });
  await simulator.close();
  await expect(fetch(simulator.url)).rejects.toThrow();
});
