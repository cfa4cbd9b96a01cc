import { afterEach, describe, expect, test } from 'vitest';

import type { ProbeInput } from '../../src/probe/types.ts';
import { http, login, look, token, ws } from '../probe/servers.ts';
import { type Engine, type EngineOptions, ladder, requireEngines, startEngine } from '../support/engines.ts';

const ready = await requireEngines(...ladder);
const password = 'CANARY-password-0123456789';
const sessionToken = 'CANARY-session-0123456789';

let engine: Engine | null = null;
afterEach(async () => {
  await engine?.stop();
  engine = null;
});

const start = async (options: EngineOptions): Promise<Engine> => {
  engine = await startEngine({ token: sessionToken, ...options });
  return engine;
};

const gated = (version: string): Promise<Engine> =>
  start({
    version,
    host: '127.0.0.2',
    token: null,
    env: { HERMES_DASHBOARD_BASIC_AUTH_USERNAME: 'someone', HERMES_DASHBOARD_BASIC_AUTH_PASSWORD: password },
  });

const seen = async (url: string, more: Partial<ProbeInput> = {}) => {
  const result = await look(url, { credential: token(sessionToken), timeoutMs: 30_000, ...more });
  expect(JSON.stringify(result.facts)).not.toMatch(/CANARY/);
  return result;
};

/** From 0.19.1 on the access token of a login is taken as a bearer too. */
const bearerWorks = async (url: string, { used }: Awaited<ReturnType<typeof seen>>): Promise<void> => {
  const access = used.kind === 'cookie' ? /hermes_session_at=([^;]+)/.exec(used.cookie)?.[1] : undefined;
  const result = await seen(url, { credential: token(access ?? 'none') });
  expect(JSON.stringify(result.facts)).not.toContain(access);
  expect(http(result, 'sessions')).toMatchObject({ status: 200, credential: 'bearer' });
  expect(ws(result)).toMatchObject({ outcome: 'open', credential: 'ticket' });
};

const sessionRows = async (url: string, headers: Record<string, string>): Promise<unknown> =>
  ((await fetch(`${url}/api/sessions`, { headers }).then((answer) => answer.json())) as { total: unknown })
    .total;

describe.skipIf(!ready)('ungated engines', () => {
  test('0.14.0, chat on: the token of the page', async () => {
    const { url } = await start({ version: '0.14.0', env: { HERMES_DASHBOARD_TUI: '1' } });
    const result = await seen(url, { credential: null });
    expect(result.facts.status).toMatchObject({ version: '0.14.0', authRequired: null });
    expect(result.facts.credential).toMatchObject({ source: 'page' });
    expect(http(result, 'page').body?.page).toMatchObject({ embeddedChat: true, token: true });
    expect(http(result, 'asset')).toMatchObject({
      status: 200,
      body: { contentType: expect.stringContaining('javascript') },
    });
    expect(http(result, 'health').status).toBe(401);
    expect(http(result, 'session-messages')).toMatchObject({
      status: 404,
      body: { kind: 'json', detail: '{"detail":"Session not found"}' },
    });
    // An unknown route of this release answers with the page.
    expect(http(result, 'model-library')).toMatchObject({ status: 200, body: { kind: 'html' } });
    expect(http(result, 'openapi').body?.keys).toEqual([
      '/api/sessions',
      '/api/sessions/{session_id}/messages',
      '/api/model/options',
      '/api/model/set',
    ]);
    expect(ws(result)).toMatchObject({ outcome: 'open', firstFrame: { type: 'gateway.ready' } });
    expect(result.facts.rpc).toMatchObject({ outcome: 'answered', errorCode: -32601 });
    expect(result.facts.contract).toMatchObject({ state: 'none', from: 'version' });
    expect(result.facts.flapping).toBeNull();
  });

  test('0.14.0, chat off: a bare refusal, and the page says so', async () => {
    const { url } = await start({ version: '0.14.0' });
    const result = await seen(url, { credential: null });
    expect(http(result, 'page').body?.page?.embeddedChat).toBe(false);
    expect(http(result, 'sessions').status).toBe(200);
    expect(ws(result)).toMatchObject({
      outcome: 'refused',
      status: 403,
      bareRefusal: true,
      credential: 'token',
    });
    expect(ws(result, 'events').why).toBe('the page says that chat is off');
  });

  test.each([
    ['0.16.0', 1, true],
    ['0.19.0', 4, true],
    ['0.22.2.post1', 8, false],
  ])('%s: contract %i over a session that leaves no row', async (version, contract, web) => {
    const { url } = await start({ version });
    const before = await sessionRows(url, { 'X-Hermes-Session-Token': sessionToken });
    const result = await seen(url);
    expect(result.facts.status).toMatchObject({ version, authRequired: false, wrongTypes: [] });
    for (const id of ['sessions', 'model-options'])
      expect(http(result, id)).toMatchObject({
        status: 200,
        credential: 'token',
        body: { kind: 'json', problem: null, detail: null },
      });
    expect(http(result, 'sessions-bare').status).toBe(401);
    expect(http(result, 'session-messages').status).toBe(404);
    expect(http(result, 'model-library')).toMatchObject({ status: 404, body: { kind: 'json' } });
    expect(http(result, 'page').status).toBe(web ? 200 : 404);
    expect(ws(result)).toMatchObject({ outcome: 'open', handshake: 'valid', close: null });
    expect(result.facts.rpc).toMatchObject({ outcome: 'answered', errorCode: -32601 });
    expect(result.facts.contract).toEqual({
      value: contract,
      from: 'rpc',
      state: 'known',
      raw: String(contract),
      why: null,
    });
    expect(await sessionRows(url, { 'X-Hermes-Session-Token': sessionToken })).toBe(before);
    if (web) return;

    const none = await seen(url, { credential: null });
    expect(none.facts.credential).toMatchObject({ kind: 'none', unreadable: 'web-build' });
    expect(http(none, 'openapi').body?.keys).toContain('/api/model/set');
    expect(http(none, 'openapi').body?.keys).not.toContain('/api/model/library');
    expect(ws(none)).toMatchObject({ credential: 'none', bareRefusal: true });
  });

  test('0.19.0: a wrong token, an Origin, a Host, a path, a stop in between', async () => {
    const { url, stop } = await start({ version: '0.19.0' });
    const wrong = await seen(url, { credential: token('not-the-token') });
    expect(http(wrong, 'sessions').status).toBe(401);
    expect(ws(wrong)).toMatchObject({ bareRefusal: true });

    const origin = await seen(url, { origin: 'https://evil.test' });
    expect(ws(origin)).toMatchObject({ bareRefusal: true, origin: 'https://evil.test' });
    expect(ws(origin, 'no-origin').outcome).toBe('open');

    const host = await seen(url, { headers: [['Host', 'evil.test']] });
    expect(http(host, 'status')).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('Invalid Host') },
    });
    expect(http(host, 'status-loopback-host').status).toBe(200);

    const path = await seen(`${url}/hermes`);
    expect(http(path, 'status').body).toMatchObject({ kind: 'html', page: { token: true } });
    expect(http(path, 'status-root').status).toBe(200);

    const probing = seen(url);
    setTimeout(() => void stop(), 60);
    expect((await probing).facts.flapping).toMatchObject({ before: 'status answered 200' });
  });

  test('0.19.0 headless', async () => {
    const { url } = await start({ version: '0.19.0', mode: 'serve' });
    const result = await seen(url, { credential: null });
    expect(result.facts.credential.unreadable).toBe('headless');
    expect((await seen(url)).facts.rpc.outcome).toBe('answered');
  });
});

describe.skipIf(!ready)('gated engines', () => {
  test.each([
    ['0.16.0', 1],
    ['0.19.0', 4],
    ['0.22.2.post1', 8],
  ])('%s: login, ticket, gateway, contract %i; and what goes wrong', async (version, contract) => {
    const { url } = await gated(version);
    const good = await seen(url, { credential: login(password) });
    expect(good.facts.status).toMatchObject({ version, authRequired: true, authProviders: ['basic'] });
    expect(good.facts.credential.login).toMatchObject({
      outcome: 'ok',
      providers: [{ name: 'basic', password: true }],
    });
    expect(http(good, 'login').headers?.setCookies.map(({ name }) => name)).toContain('hermes_session_at');
    for (const id of ['auth-me', 'sessions', 'ws-ticket', 'openapi'])
      expect(http(good, id)).toMatchObject({ status: 200, credential: 'cookie' });
    expect(ws(good)).toMatchObject({ outcome: 'open', credential: 'ticket' });
    expect(good.facts.contract).toMatchObject({ value: contract, from: 'rpc' });

    if (version.startsWith('0.22')) await bearerWorks(url, good);

    const wrong = await seen(url, { credential: login('CANARY-wrong-password') });
    expect(wrong.facts.credential.login).toMatchObject({
      outcome: 'rejected',
      detail: '{"detail":"Invalid credentials"}',
    });
    expect(ws(wrong)).toMatchObject({ credential: 'none', bareRefusal: true });

    const mismatch = await seen(url, { credential: token(sessionToken) });
    expect(http(mismatch, 'sessions')).toMatchObject({ status: 401, credential: 'bearer' });
    expect(ws(mismatch)).toMatchObject({ credential: 'bearer', bareRefusal: true });

    const none = await seen(url, { credential: null });
    expect(none.facts.credential).toMatchObject({ unreadable: 'gated', login: { outcome: 'not-tried' } });
    expect(http(none, 'page')).toMatchObject({ status: 302, headers: { location: '/login?next=%2F' } });

    const origin = await seen(url, { credential: login(password), origin: 'https://evil.test' });
    expect(ws(origin)).toMatchObject({ bareRefusal: true, credential: 'ticket' });
    expect(ws(origin, 'new-ticket').outcome).toBe('refused');
    expect(ws(origin, 'no-origin').outcome).toBe('open');

    for (let attempt = 0; attempt < 8; attempt += 1)
      await fetch(`${url}/auth/password-login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ provider: 'basic', username: 'x', password: 'y' }),
      });
    const limited = await seen(url, { credential: login(password) });
    expect(limited.facts.credential.login?.outcome).toBe('rate-limited');
  });
});
