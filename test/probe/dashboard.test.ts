import { connect as connectTcp } from 'node:net';
import { createServer } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';

import { fingerprint } from '../../src/target/credential.ts';
import {
  bareRefusal,
  canary,
  closeAll,
  gateway,
  hermes,
  http,
  listen,
  login,
  look,
  needs,
  page,
  raw,
  status,
  token,
  ws,
} from './servers.ts';

afterEach(closeAll);

describe('a dashboard that works', () => {
  it('is seen whole, and protected content is not kept', async () => {
    const { url } = await hermes();
    const result = await look(url);
    const { facts } = result;
    expect(facts.http.map(({ id, outcome, status }) => [id, outcome, status])).toEqual([
      ['status', 'answered', 200],
      ['page', 'answered', 200],
      ['asset', 'answered', 200],
      ['health', 'answered', 401],
      ['sessions-bare', 'answered', 401],
      ['sessions', 'answered', 200],
      ['session-messages', 'answered', 404],
      ['model-options', 'answered', 200],
      ['model-library', 'answered', 404],
      ['openapi', 'answered', 200],
    ]);
    expect(http(result, 'sessions')).toMatchObject({
      credential: 'token',
      body: { kind: 'json', keys: ['sessions', 'total'], count: 1, detail: null },
    });
    expect(http(result, 'model-options').body).toMatchObject({ count: 1, detail: null });
    expect(JSON.stringify(facts)).not.toContain('PRIVATE');
    expect(http(result, 'openapi').body).toMatchObject({
      keys: ['/api/sessions', '/api/model/options', '/api/model/set'],
      count: 3,
    });
    expect(http(result, 'asset')).toMatchObject({
      url: `${url}/assets/index-abc.js`,
      body: { contentType: 'text/javascript' },
    });
    expect(http(result, 'page').body?.page).toMatchObject({
      token: true,
      tokenFingerprint: fingerprint(canary),
      embeddedChat: true,
      authRequired: false,
      basePath: '',
      script: '/assets/index-abc.js',
    });
    expect(facts.ws).toHaveLength(1);
    expect(ws(result)).toMatchObject({
      outcome: 'open',
      status: 101,
      handshake: 'valid',
      credential: 'token',
      origin: null,
      firstFrame: { type: 'gateway.ready', json: true },
      close: null,
      error: null,
    });
    expect(ws(result).url).toBe(`${url.replace('http', 'ws')}/api/ws?token=[redacted]`);
    expect(facts.rpc).toMatchObject({ outcome: 'answered', answer: 'error', errorCode: -32601 });
    expect(facts.contract).toEqual({ value: 4, from: 'rpc', state: 'known', raw: '4', why: null });
    expect(facts.credential).toEqual({
      kind: 'token',
      source: 'env',
      fingerprint: fingerprint(canary),
      unreadable: null,
      login: null,
    });
    expect(facts.flapping).toBeNull();
    expect(facts.phases.total).toBeGreaterThan(0);
    for (const phase of ['tcp', 'firstByte', 'upgrade', 'rpc'] as const)
      expect(facts.phases[phase]).toBeGreaterThan(0);
  });

  it('gets the credential only after its bare status, in query and header of the upgrade, without an Origin', async () => {
    const { url, seen } = await hermes();
    await look(url);
    expect(seen[0]).toMatchObject({ method: 'GET', url: '/api/status' });
    expect(JSON.stringify(seen[0])).not.toContain('CANARY');
    const upgrade = seen.find(({ method }) => method === 'UPGRADE');
    expect(upgrade?.url).toBe(`/api/ws?token=${encodeURIComponent(canary)}`);
    expect(upgrade?.headers).toMatchObject({ 'x-hermes-session-token': canary });
    expect(upgrade?.headers).not.toHaveProperty('origin');
    expect(upgrade?.headers).not.toHaveProperty('sec-websocket-extensions');
    for (const { headers, url: path } of seen.filter(({ method }) => method === 'GET')) {
      expect(headers).not.toHaveProperty('accept-encoding');
      if (/status|health|openapi|assets|^\/$/.test(path))
        expect(headers).not.toHaveProperty('x-hermes-session-token');
    }
  });

  it('is asked for nothing that is not needed', async () => {
    const { url, seen } = await hermes();
    const none = {
      ...needs,
      sessionMessages: false,
      modelOptions: false,
      modelLibrary: false,
      modelSet: false,
      asset: false,
    };
    const result = await look(url, { needs: none });
    for (const id of ['session-messages', 'model-options', 'model-library', 'openapi', 'asset'])
      expect(http(result, id)).toMatchObject({ outcome: 'skipped', why: 'not-needed' });
    expect(
      seen.map(({ url: path }) => path).filter((path) => /model|messages|openapi|assets/.test(path)),
    ).toEqual([]);
  });

  it('below a prefix: every path keeps it, without doubled slashes', async () => {
    const inner = await hermes();
    const outer = await listen(
      createServer().on('request', (request, response) => {
        outer.seen.push({ method: 'GET', url: request.url ?? '', headers: request.headers, body: '' });
        void fetch(`${inner.url}${request.url?.replace('/deep/er', '')}`, {
          headers: { 'x-hermes-session-token': canary },
        }).then(async (answer) =>
          response
            .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
            .end(await answer.text()),
        );
      }),
    );
    const result = await look(`${outer.url}/deep/er`);
    expect(result.facts.status?.version).toBe('0.19.0');
    const paths = outer.seen.map(({ url }) => url);
    expect(paths).toContain('/deep/er/api/status');
    expect(paths).toContain('/deep/er/');
    expect(ws(result).url).toContain('/deep/er/api/ws?token=');
    // As a browser would: the page's script stands at the root of the origin, outside the prefix.
    expect(http(result, 'asset').url).toBe(`${outer.url}/assets/index-abc.js`);
  });

  it('headers from a file go with requests and upgrades, and their values are hidden', async () => {
    const secret = 'edge-secret-0123456789';
    const { url, seen } = await hermes({
      routes: {
        '/api/health': {
          status: 403,
          headers: { 'content-type': 'text/plain' },
          body: `denied for ${secret}`,
        },
      },
    });
    const result = await look(url, {
      headers: [
        ['CF-Access-Client-Secret', secret],
        ['X-Short', 'true'],
      ],
    });
    for (const { headers } of seen) expect(headers).toMatchObject({ 'cf-access-client-secret': secret });
    expect(seen.some(({ method }) => method === 'UPGRADE')).toBe(true);
    expect(http(result, 'health').body?.detail).toBe('denied for [redacted]');
  });

  it('a token that no header can carry is a fact, not a crash', async () => {
    const { url } = await hermes();
    const result = await look(url, { credential: token('tök€n-0123456789') });
    expect(http(result, 'sessions').error?.code).toBe('ERR_INVALID_CHAR');
    expect(ws(result)).toMatchObject({ outcome: 'failed', error: { code: 'ERR_INVALID_CHAR' } });
    expect(JSON.stringify(result.facts)).not.toContain('tök€n');
  });

  it('through a stream of another host, under the name that it has there', async () => {
    const { port, seen } = await hermes();
    const asked: unknown[] = [];
    const connect = async (host: string, to: number) => {
      asked.push([host, to]);
      return connectTcp(port, '127.0.0.1');
    };
    const result = await look('http://127.0.0.1:9119', { connect });
    expect(result.facts.rpc.outcome).toBe('answered');
    expect(new Set(asked.map(String))).toEqual(new Set(['127.0.0.1,9119']));
    expect(new Set(seen.map(({ headers }) => headers.host))).toEqual(new Set(['127.0.0.1:9119']));
  });

  it('a tunnel that fails is a fact', async () => {
    const connect = () =>
      Promise.reject(Object.assign(new Error('open failed'), { code: 'SSH_FORWARD_FORBIDDEN' }));
    const result = await look('http://127.0.0.1:9119', { connect });
    expect(http(result, 'status').error).toEqual({
      phase: 'tcp',
      code: 'SSH_FORWARD_FORBIDDEN',
      message: 'open failed',
    });
  });

  it('keeps connections, and retries one that had died', async () => {
    let connections = 0;
    const { url, server } = await hermes();
    server.on('connection', () => (connections += 1));
    await look(url);
    expect(connections).toBeLessThanOrEqual(8);

    let answered = 0;
    const flaky = await raw((socket) => {
      let requests = 0;
      socket.on('data', (data) => {
        requests += 1;
        // The second request on a connection meets a closed door, as when a keep-alive timeout strikes.
        if (requests > 1) return void socket.destroy();
        answered += 1;
        const body = data.toString().startsWith('GET /api/status') ? JSON.stringify(status) : '{}';
        socket.write(
          `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
        );
      });
    });
    const result = await look(flaky.url);
    expect(answered).toBeGreaterThan(5);
    expect(result.facts.http.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
  });
});

describe('the token of the page', () => {
  it('is used on loopback when none was given, and appears nowhere', async () => {
    const { url } = await hermes();
    const result = await look(url, { credential: null });
    expect(result.facts.credential).toMatchObject({
      kind: 'token',
      source: 'page',
      fingerprint: fingerprint(canary),
    });
    expect(result.facts.rpc.outcome).toBe('answered');
    expect(result.used).toEqual({ kind: 'token', token: canary });
  });

  it('is not asked of another machine', async () => {
    const { port, seen } = await hermes();
    const connect = async () => connectTcp(port, '127.0.0.1');
    const result = await look('http://dash.example:9119', { connect, credential: null });
    expect(result.facts.credential).toMatchObject({ kind: 'none', unreadable: 'not-asked' });
    expect(ws(result)).toMatchObject({ credential: 'none', outcome: 'refused', bareRefusal: true });
    expect(http(result, 'sessions')).toMatchObject({ outcome: 'skipped', why: 'no credential' });
    expect(JSON.stringify(seen)).not.toContain('CANARY');
  });

  it('differs from the one that was given: both fingerprints are there', async () => {
    const { url } = await hermes();
    const result = await look(url, { credential: token('another-token') });
    expect(result.facts.credential.fingerprint).toBe(fingerprint('another-token'));
    expect(http(result, 'page').body?.page?.tokenFingerprint).toBe(fingerprint(canary));
  });

  const html = { 'content-type': 'text/html' };
  it.each([
    ['web-build', { status: 404, body: { error: 'Frontend not built. Run: cd web && npm run build' } }],
    ['headless', { status: 404, body: { detail: 'Headless backend (hermes serve) has no web page.' } }],
    ['gated', { status: 302, headers: { location: '/login?next=%2F' } }],
    ['page-failed', { status: 500, headers: html, body: '<h1>Internal Server Error</h1>' }],
    ['no-token-in-page', { headers: html, body: page(null) }],
    ['no-token-in-page', { headers: html, body: '<!doctype html><title>nothing</title>' }],
    ['no-token-in-page', { headers: html, body: page('with blanks and \\u0000') }],
  ])('is unreadable: %s', async (unreadable, reply) => {
    const { url } = await hermes({ routes: { '/': reply } });
    const result = await look(url, { credential: null });
    expect(result.facts.credential).toMatchObject({ kind: 'none', source: null, unreadable });
    // The lists of an ungated dashboard need no credential.
    expect(http(result, 'openapi').status).toBe(200);
  });

  it('a login that was given to a dashboard without one does not hide the page', async () => {
    const { url, seen } = await hermes({
      token: 'page-token-1234',
      routes: { '/': { headers: html, body: page('page-token-1234') } },
    });
    const result = await look(url, { credential: login() });
    expect(result.facts.credential).toMatchObject({ source: 'page', login: { outcome: 'not-tried' } });
    expect(JSON.stringify(seen)).not.toContain('CANARY');
  });
});

describe('where the credential never goes', () => {
  it('behind a redirect, of status, page, reads or upgrade', async () => {
    const elsewhere = await hermes();
    const away = { status: 307, headers: { location: `${elsewhere.url}/api/status` } };
    const first = await hermes({ routes: { '/api/status': away } });
    await look(first.url);
    const second = await hermes({
      routes: { '/': away, '/api/sessions': away, '/api/model/options': away },
      upgrade: (request, socket) =>
        void socket.end(
          `HTTP/1.1 301 Moved\r\nlocation: ${elsewhere.url}${request.url}\r\ncontent-length: 0\r\n\r\n`,
        ),
    });
    const result = await look(second.url);
    expect(ws(result)).toMatchObject({ outcome: 'refused', status: 301, bareRefusal: false });
    expect(ws(result).headers?.location).toBe(`${elsewhere.url}/api/ws?token=[redacted]`);
    expect(elsewhere.seen).toEqual([]);
  });

  it('a script on another origin is not loaded', async () => {
    const elsewhere = await hermes();
    const body = page(null).replace('/assets/index-abc.js', `${elsewhere.url}/x.js`);
    const { url } = await hermes({ routes: { '/': { headers: { 'content-type': 'text/html' }, body } } });
    expect(http(await look(url), 'asset')).toMatchObject({
      outcome: 'skipped',
      why: 'the script is on another origin',
    });
    expect(elsewhere.seen).toEqual([]);
  });
});

describe('when it goes away', () => {
  it('stops while it is probed', async () => {
    const listening = await hermes({
      routes: {
        '/api/sessions': () => {
          void listening.close();
          return null;
        },
      },
    });
    const { facts } = await look(listening.url);
    expect(facts.flapping).toMatchObject({ before: 'status answered 200' });
    expect(facts.flapping?.after).toMatch(/: (?:ECONNREFUSED|ECONNRESET|CLOSED)$/);
  });

  it('stops in good order: answers what it was asked, closes the socket, and is gone', async () => {
    const listening = await hermes({
      socket: (socket) => {
        gateway()(socket);
        setTimeout(() => socket.close(1012, 'service restart'), 200);
      },
      routes: {
        '/api/model/options': () => {
          setTimeout(() => void listening.close(), 400);
          return { body: { providers: [] } };
        },
        '/api/model/library': () => null,
      },
    });
    const result = await look(listening.url);
    expect(ws(result).close).toMatchObject({ code: 1012 });
    expect(result.facts.rpc.outcome).toBe('answered');
    expect(result.facts.flapping?.after).toMatch(/ECONNREFUSED|ECONNRESET|CLOSED/);
  });

  it('one endpoint that cuts its answers is no flapping', async () => {
    const listening = await hermes();
    listening.server.prependListener('request', (request: { url: string; socket: { destroy(): void } }) => {
      if (request.url.startsWith('/api/model/options')) request.socket.destroy();
    });
    const result = await look(listening.url);
    expect(http(result, 'model-options').error?.code).toMatch(/CLOSED|ECONNRESET/);
    expect(http(result, 'status-again').status).toBe(200);
    expect(result.facts.flapping).toBeNull();
  });

  it('an interruption ends at once with what was seen', async () => {
    const { url } = await hermes({ routes: { '/api/model/options': () => null } });
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 300);
    const started = performance.now();
    const result = await look(url, { signal: controller.signal, timeoutMs: 10_000 });
    expect(performance.now() - started).toBeLessThan(1500);
    expect(http(result, 'model-options')).toMatchObject({ outcome: 'failed', error: { code: 'ABORTED' } });
    expect(http(result, 'sessions').status).toBe(200);
  });

  it('one slow endpoint holds up nobody, and the limit counts for all', async () => {
    const { url } = await hermes({
      routes: { '/api/model/options': () => null, '/api/model/library': () => null },
    });
    const started = performance.now();
    const result = await look(url, { timeoutMs: 700 });
    expect(performance.now() - started).toBeLessThan(2000);
    expect(http(result, 'model-options').error).toMatchObject({ phase: 'first-byte', code: 'DEADLINE' });
    expect(result.facts.rpc.outcome).toBe('answered');
    expect(http(result, 'session-messages').status).toBe(404);
  });
});

describe('a CONNECT proxy', () => {
  const proxy = async (answer: string, port: number) =>
    raw((socket) => {
      socket.once('data', (data) => {
        proxySaw.push(data.toString());
        socket.write(answer);
        if (!answer.includes(' 200 ')) return void socket.end();
        const to = connectTcp(port, '127.0.0.1');
        to.on('error', () => undefined).pipe(socket);
        socket.pipe(to);
      });
    });
  const proxySaw: string[] = [];

  it('carries requests and upgrades, and its password stays hidden', async () => {
    const { port } = await hermes();
    const { url } = await proxy('HTTP/1.1 200 Connection established\r\n\r\n', port);
    const through = url.replace('http://', 'http://me:proxy-password-1@');
    const result = await look('http://dash.example:9119', { proxy: through });
    expect(result.facts.rpc.outcome).toBe('answered');
    expect(proxySaw[0]).toContain('CONNECT dash.example:9119 HTTP/1.1\r\n');
    expect(proxySaw[0]).toContain(
      `Proxy-Authorization: Basic ${Buffer.from('me:proxy-password-1').toString('base64')}`,
    );
    expect(JSON.stringify(result.facts)).not.toContain('proxy-password');
  });

  it('never stands before loopback', async () => {
    const { url } = await hermes();
    const result = await look(url, { proxy: 'http://127.0.0.1:1' });
    expect(result.facts.status?.version).toBe('0.19.0');
  });

  it.each([
    ['HTTP/1.1 407 Proxy Authentication Required\r\n\r\n', 'PROXY_407'],
    ['SSH-2.0-x\r\n\r\n', 'PROXY_INVALID'],
    ['', 'PROXY_CLOSED'],
  ])('%j is the failure of the proxy', async (answer, code) => {
    const { url } = await proxy(answer, 1);
    const result = await look('http://dash.example:9119', { proxy: url });
    expect(http(result, 'status').error).toMatchObject({ phase: 'tcp', code });
  });

  it('refused itself', async () => {
    const gone = await raw(() => undefined);
    await gone.close();
    const result = await look('http://dash.example:9119', { proxy: gone.url });
    expect(http(result, 'status').error?.code).toBe('PROXY_ECONNREFUSED');
  });
});

describe('legacy mode', () => {
  const api = {
    '/api/status': { status: 404, headers: { 'content-type': 'text/plain' }, body: '404: Not Found' },
    '/health': { body: { status: 'ok', platform: 'hermes-agent', version: '0.19.0' } },
    '/v1/models': ({ headers }: { headers: Record<string, unknown> }) =>
      headers['authorization'] === `Bearer ${canary}`
        ? { body: { object: 'list', data: [{ id: 'hermes-agent' }] } }
        : { status: 401, body: { error: { message: 'Invalid API key', code: 'invalid_api_key' } } },
  };

  it('asks the API server, with the key only after its health has named it', async () => {
    const { url, seen } = await hermes({ routes: api });
    const result = await look(`${url}/v1`, { mode: 'legacy' });
    expect(http(result, 'api-server-health')).toMatchObject({
      status: 200,
      body: { detail: expect.stringContaining('hermes-agent') },
    });
    expect(http(result, 'api-server-models-bare')).toMatchObject({ status: 401 });
    expect(http(result, 'api-server-models')).toMatchObject({
      status: 200,
      credential: 'bearer',
      body: { count: 1, detail: null },
    });
    expect(ws(result)).toMatchObject({ outcome: 'skipped', why: 'legacy mode' });
    expect(seen.slice(0, 2).map(({ headers }) => headers['authorization'])).toEqual([undefined, undefined]);
  });

  it('something else gets no key', async () => {
    const { url, seen } = await hermes({ routes: { '/health': { body: { ok: true } } } });
    const result = await look(url, { mode: 'legacy' });
    expect(http(result, 'api-server-models')).toMatchObject({
      outcome: 'skipped',
      why: 'no API server answered',
    });
    expect(result.facts.status?.version).toBe('0.19.0');
    expect(JSON.stringify(seen)).not.toContain('CANARY');
  });
});

describe('refused upgrades', () => {
  const open =
    (allowed: (request: { headers: Record<string, unknown>; url: string }) => boolean) =>
    (request: { method: string; headers: Record<string, unknown>; url: string }) =>
      request.method !== 'UPGRADE' ? request.headers['x-hermes-session-token'] === canary : allowed(request);
  const outcomes = (result: Awaited<ReturnType<typeof look>>) =>
    Object.fromEntries(
      result.facts.ws.map(({ id, outcome, why }) => [id, outcome === 'skipped' ? why : outcome]),
    );

  it('a wrong token: nothing to differ by', async () => {
    const { url } = await hermes({ token: 'the-right-one' });
    const result = await look(url);
    expect(http(result, 'sessions').status).toBe(401);
    expect(ws(result)).toMatchObject({
      bareRefusal: true,
      status: 403,
      body: { kind: 'empty' },
      credential: 'token',
    });
    expect(ws(result, 'no-origin').why).toBe('the credential is not proved');
    expect(result.facts.rpc).toMatchObject({ outcome: 'skipped', why: 'no WebSocket' });
  });

  it('an Origin', async () => {
    const { url, seen } = await hermes({ accepts: open(({ headers }) => headers['origin'] === undefined) });
    const result = await look(url, { origin: 'https://evil.test' });
    expect(ws(result)).toMatchObject({ origin: 'https://evil.test', outcome: 'refused' });
    expect(outcomes(result)).toEqual({
      main: 'refused',
      'new-ticket': 'no ticket is used here',
      'no-origin': 'open',
      'loopback-host': 'the Host is loopback already',
      events: 'refused',
      console: 'not-needed',
    });
    expect(seen.find(({ url: path }) => path.startsWith('/api/events'))?.headers['origin']).toBe(
      'https://evil.test',
    );
  });

  it('a Host, on the upgrade only', async () => {
    const { port } = await hermes({ accepts: open(({ headers }) => headers['host'] === '127.0.0.1') });
    const result = await look('http://dash.example:9119', {
      connect: async () => connectTcp(port, '127.0.0.1'),
    });
    expect(outcomes(result)).toMatchObject({ main: 'refused', 'loopback-host': 'open', events: 'refused' });
    expect(ws(result, 'loopback-host').hostHeader).toBe('127.0.0.1');
  });

  it('a path that leads elsewhere', async () => {
    const { url } = await hermes({ accepts: open(({ url: path }) => path.startsWith('/api/events')) });
    expect(outcomes(await look(url))).toMatchObject({ main: 'refused', events: 'open' });
  });

  it('everything: the console is asked where that is wanted', async () => {
    const { url } = await hermes({ accepts: open(() => false) });
    const result = await look(url, { needs: { ...needs, console: true } });
    expect(outcomes(result)).toMatchObject({ main: 'refused', events: 'refused', console: 'refused' });
  });

  it('chat off: the page says so', async () => {
    const off = page(canary).replace('CHAT__=true', 'CHAT__=false');
    const { url } = await hermes({
      accepts: open(() => false),
      routes: { '/': { headers: { 'content-type': 'text/html' }, body: off } },
    });
    const result = await look(url);
    expect(http(result, 'page').body?.page?.embeddedChat).toBe(false);
    expect(ws(result, 'events').why).toBe('the page says that chat is off');
  });

  it.each([
    [
      'a 403 with a body',
      `HTTP/1.1 403 Forbidden\r\ncontent-type: text/html\r\nserver: nginx\r\nserver: edge\r\ncontent-length: 31\r\n\r\n<html><title>WAF</title></html>`,
      {
        status: 403,
        bareRefusal: false,
        body: { kind: 'html', title: 'WAF' },
        headers: { server: ['nginx', 'edge'] },
      },
    ],
    [
      'through a proxy',
      bareRefusal.replace('\r\n', '\r\nserver: nginx\r\n'),
      { status: 403, bareRefusal: true },
    ],
    [
      'the engine as plain HTTP',
      'HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\ncontent-length: 43\r\n\r\n{"detail":"No such API endpoint: /api/ws"}\n',
      { status: 404, body: { kind: 'json', detail: '{"detail":"No such API endpoint: /api/ws"}' } },
    ],
    [
      'a 200 page',
      'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<!doctype html><title>Sign in</title>',
      { status: 200, body: { kind: 'html', title: 'Sign in' } },
    ],
    ['426', 'HTTP/1.1 426 Upgrade Required\r\ncontent-length: 0\r\n\r\n', { status: 426 }],
  ])('%s', async (_, answer, expected) => {
    const { url } = await hermes({ upgrade: (_request, socket) => void socket.end(answer) });
    expect(ws(await look(url))).toMatchObject({ outcome: 'refused', handshake: 'none', ...expected });
  });
});
