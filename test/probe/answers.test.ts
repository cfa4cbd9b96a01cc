import { createServer as createHttp2 } from 'node:http2';
import { createServer as createTls } from 'node:https';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';

import {
  bytes,
  closeAll,
  hermes,
  http,
  type Listening,
  listen,
  look,
  raw,
  status,
  token,
  ws,
} from './servers.ts';

afterEach(closeAll);

const pem = (name: string): string => readFileSync(new URL(`certs/${name}.pem`, import.meta.url), 'utf8');
const json = (body: string | Buffer, headers = ''): Buffer =>
  Buffer.concat([
    Buffer.from(
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${headers || `content-length: ${Buffer.byteLength(body)}\r\n`}\r\n`,
    ),
    Buffer.from(body),
  ]);
const tlsServer = (name: string, options = {}): Promise<Listening> =>
  listen(
    createTls({ cert: pem(name), key: pem(name), ...options }, (_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(status));
    }),
    'https',
  );

/** What the status probe keeps of a server that is no dashboard, or none that works. */
const refusals: {
  name: string;
  server: () => Promise<Listening>;
  expected: Record<string, unknown>;
  scheme?: string;
}[] = [
  {
    name: 'nothing listens',
    server: async () => {
      const gone = await raw(() => undefined);
      await gone.close();
      return gone;
    },
    expected: { outcome: 'failed', status: null, error: { phase: 'tcp', code: 'ECONNREFUSED' } },
  },
  {
    name: 'reset at once',
    server: () => raw((socket) => socket.once('data', () => socket.resetAndDestroy())),
    expected: { outcome: 'failed', error: { phase: 'first-byte', code: 'ECONNRESET' } },
  },
  {
    name: 'closed without an answer',
    server: () => raw((socket) => socket.once('data', () => socket.end())),
    expected: { outcome: 'failed', error: { phase: 'first-byte', code: 'CLOSED' } },
  },
  {
    name: 'silent',
    server: () => raw((socket) => socket.resume()),
    expected: { outcome: 'failed', error: { phase: 'first-byte', code: 'DEADLINE' } },
  },
  {
    name: 'an SSH server',
    server: () => raw((socket) => socket.end('SSH-2.0-OpenSSH_9.2p1 Debian\r\n')),
    expected: {
      outcome: 'failed',
      error: {
        code: 'HPE_INVALID_CONSTANT',
        message: expect.stringContaining('begins with: SSH-2.0-OpenSSH_9.2p1'),
      },
    },
  },
  {
    name: 'HTTP/2 in the clear',
    server: () => listen(createHttp2((_, response) => response.end())),
    expected: {
      outcome: 'failed',
      error: { code: expect.stringMatching(/^(?:HTTP2_FRAMES|CLOSED|ECONNRESET)$/) },
    },
  },
  {
    name: 'an HTTP/2 settings frame',
    server: () => bytes(Buffer.from('00001204000000000000030000006400040000ffff000600004000', 'hex')),
    expected: { outcome: 'failed', error: { code: 'HTTP2_FRAMES' } },
  },
  {
    name: 'a TLS alert',
    server: () => bytes(Buffer.from('15030100020246', 'hex')),
    expected: { outcome: 'failed', error: { code: 'TLS_RECORD' } },
  },
  {
    name: 'http to https',
    server: () => tlsServer('good'),
    scheme: 'http',
    expected: {
      outcome: 'failed',
      error: { code: expect.stringMatching(/^(?:TLS_RECORD|CLOSED|ECONNRESET)$/) },
    },
  },
  {
    name: 'https to http',
    server: () => hermes(),
    scheme: 'https',
    expected: { outcome: 'failed', error: { phase: 'tls', code: expect.stringMatching(/^ERR_SSL_/) } },
  },
  {
    name: 'a redirect that carries what it was asked with',
    server: () =>
      hermes({
        routes: {
          '/api/status': {
            status: 301,
            headers: { location: 'https://x.example/api/status?token=secret-one&a=1' },
          },
        },
      }),
    expected: { status: 301, headers: { location: 'https://x.example/api/status?token=[redacted]&a=1' } },
  },
  {
    name: 'basic auth in front',
    server: () =>
      hermes({
        routes: {
          '/api/status': {
            status: 401,
            headers: { 'www-authenticate': 'Basic realm="edge"' },
            body: '<html><title>401 Authorization Required</title></html>',
          },
        },
      }),
    expected: {
      status: 401,
      headers: { wwwAuthenticate: 'Basic realm="edge"' },
      body: { kind: 'html', title: '401 Authorization Required' },
    },
  },
  {
    name: 'an upstream that is down',
    server: () =>
      hermes({
        routes: {
          '/api/status': {
            status: 502,
            headers: { 'content-type': 'text/html', 'cf-ray': '1' },
            body: '<html><head><title>502 Bad Gateway</title></head><body><h1>502</h1></body></html>',
          },
        },
      }),
    expected: {
      status: 502,
      headers: { cfRay: true },
      body: { title: '502 Bad Gateway', detail: '502 Bad Gateway 502' },
    },
  },
  {
    name: 'HTML where JSON is due',
    server: () =>
      hermes({
        routes: {
          '/api/status': {
            headers: { 'content-type': 'text/html' },
            body: '<!doctype html><title>Other product</title>',
          },
        },
      }),
    expected: { status: 200, body: { kind: 'html', title: 'Other product', page: null } },
  },
  {
    name: 'the Hermes page where JSON is due',
    server: () =>
      hermes({
        routes: {
          '/api/status': {
            headers: { 'content-type': 'text/html' },
            body: '<script>window.__HERMES_BASE_PATH__="/x"</script>',
          },
        },
      }),
    expected: { status: 200, body: { kind: 'html', page: { basePath: '/x', token: false } } },
  },
  {
    name: 'JSON of something else',
    server: () =>
      hermes({
        routes: { '/api/status': { body: { version: '3.1', ok: true, session_token: 'secret-two-secret' } } },
      }),
    expected: {
      status: 200,
      body: {
        kind: 'json',
        keys: ['version', 'ok', 'session_token'],
        detail: expect.not.stringContaining('secret-two'),
      },
    },
  },
  {
    name: 'JSON that does not parse',
    server: () => bytes(json('{"version": "0.19.0", ')),
    expected: { status: 200, body: { kind: 'json', problem: 'not-json', keys: [] } },
  },
  {
    name: 'invalid UTF-8',
    server: () =>
      bytes(
        json(
          Buffer.concat([
            Buffer.from('{"version":"'),
            Buffer.from([0xff, 0xfe]),
            Buffer.from('","config_version":1}'),
          ]),
        ),
      ),
    expected: { status: 200, body: { problem: 'not-utf8', keys: [] } },
  },
  {
    name: 'a body that is cut',
    server: () => bytes(json('{"version"', 'content-length: 5000\r\n')),
    expected: {
      outcome: 'answered',
      status: 200,
      error: { phase: 'body' },
      body: { problem: 'cut', bytes: 10 },
    },
  },
  {
    name: 'a body that comes too slowly',
    server: () => bytes(json('{"version"', 'content-length: 5000\r\n'), false),
    expected: {
      outcome: 'answered',
      status: 200,
      error: { phase: 'body', code: 'DEADLINE' },
      body: { problem: 'cut' },
    },
  },
  {
    name: 'a body longer than its declared length',
    server: () => bytes(json(JSON.stringify(status), 'content-length: 20\r\n')),
    expected: { outcome: 'answered', status: 200, body: { problem: 'not-json', bytes: 20 } },
  },
  {
    name: 'chunks that are none',
    server: () => bytes('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzzz\r\n'),
    expected: { outcome: 'answered', error: { phase: 'body' }, body: { problem: 'cut' } },
  },
  {
    name: 'a header without an end',
    server: () =>
      raw((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nx: ');
        const more = setInterval(() => socket.write('y'.repeat(16_384)), 1);
        socket.on('close', () => clearInterval(more));
      }),
    expected: { outcome: 'failed', error: { code: 'HPE_HEADER_OVERFLOW' } },
  },
  {
    name: 'a body without an end',
    server: () =>
      endless('content-type: application/json\r\n', '{"version":"0.19.0","x":"', Buffer.alloc(65_536, 'x')),
    expected: { outcome: 'answered', body: { problem: 'too-large', keys: [] } },
  },
  {
    name: 'a decompression bomb',
    server: () => bytes(json(gzipSync(Buffer.alloc(200_000_000)), 'content-encoding: gzip\r\n')),
    expected: { outcome: 'answered', body: { problem: 'bomb', keys: [] } },
  },
  {
    name: 'gzip that is none',
    server: () => bytes(json('{"version":"0.19.0"}', 'content-encoding: gzip\r\n')),
    expected: { outcome: 'answered', body: { problem: 'cut', keys: [] } },
  },
];

function endless(headers: string, first: string, chunk: Buffer): Promise<Listening> {
  return raw((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\n${headers}\r\n${first}`);
    const pump = (): void => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('drain', pump);
    pump();
  });
}

describe('answers that are no dashboard', () => {
  it.each(refusals)('$name', async ({ server, expected, scheme }) => {
    const listening = await server();
    const url = scheme === undefined ? listening.url : listening.url.replace(/^https?/, scheme);
    const started = performance.now();
    const result = await look(url, { timeoutMs: 1500 });
    expect(performance.now() - started).toBeLessThan(4000);
    expect(http(result, 'status')).toMatchObject(expected);
    expect(result.facts.status).toBeNull();
    expect(ws(result).outcome).toBe('skipped');
    // Nothing secret was sent to what is no Hermes.
    expect(JSON.stringify(listening.seen)).not.toContain('CANARY');
  });

  it('a name that does not exist', async () => {
    const result = await look('http://nothing-here.invalid:9119');
    expect(http(result, 'status').error).toMatchObject({
      phase: 'dns',
      code: expect.stringMatching(/^(?:ENOTFOUND|EAI_AGAIN)$/),
    });
  });

  it('a Host that the engine refuses is proved with a loopback Host, bare', async () => {
    const listening = await hermes({
      routes: {
        '/api/status': ({ headers }) =>
          headers.host === '127.0.0.1'
            ? { body: status }
            : { status: 400, body: { detail: 'Invalid Host header. Dashboard requests …' } },
      },
    });
    const result = await look(listening.url);
    expect(http(result, 'status')).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('Invalid Host') },
    });
    expect(http(result, 'status-loopback-host')).toMatchObject({
      status: 200,
      hostHeader: '127.0.0.1',
      body: { detail: null },
    });
    expect(JSON.stringify(listening.seen)).not.toContain('CANARY');
  });

  it('a dashboard at the root of a URL with a prefix', async () => {
    const listening = await hermes({
      routes: {
        '/hermes/api/status': { status: 404, body: 'nothing', headers: { 'content-type': 'text/plain' } },
      },
    });
    const result = await look(`${listening.url}/hermes`);
    expect(http(result, 'status')).toMatchObject({ status: 404, url: `${listening.url}/hermes/api/status` });
    expect(http(result, 'status-root')).toMatchObject({
      status: 200,
      url: `${listening.url}/api/status`,
      body: { detail: null },
    });
  });

  it('the API server instead of a dashboard', async () => {
    const listening = await hermes({
      routes: {
        '/api/status': {
          status: 404,
          headers: { 'content-type': 'text/plain', server: 'Python/3.11 aiohttp/3' },
          body: '404: Not Found',
        },
        '/health': { body: { status: 'ok', platform: 'hermes-agent' } },
      },
    });
    const result = await look(listening.url);
    expect(http(result, 'api-server-health').body?.detail).toBe('{"status":"ok","platform":"hermes-agent"}');
  });
});

describe('TLS', () => {
  it.each([
    ['good', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', false],
    ['expired', 'CERT_HAS_EXPIRED', true],
    ['other', 'ERR_TLS_CERT_ALTNAME_INVALID', true],
  ])('%s certificate: %s, and what it says', async (name, code, trusted) => {
    const listening = await tlsServer(name);
    const result = await look(listening.url, trusted ? { ca: pem('ca') } : {});
    expect(http(result, 'status').error).toMatchObject({ phase: 'tls', code });
    expect(result.facts.tls).toMatchObject({ issuer: 'O=hermes-compat tests, CN=Test authority' });
    expect(result.facts.tls?.names).not.toHaveLength(0);
    if (name === 'expired') expect(result.facts.tls?.validTo).toBe('2020-02-01T00:00:00.000Z');
  });

  it('an authority that is given is trusted, and phases are told apart', async () => {
    const listening = await tlsServer('good');
    const result = await look(listening.url.replace('127.0.0.1', 'localhost'), { ca: pem('ca') });
    expect(result.facts.status?.version).toBe('0.19.0');
    expect(result.facts.tls).toMatchObject({ subject: 'CN=localhost', protocol: 'TLSv1.3' });
    const { dns, tcp, tls, firstByte } = result.facts.phases;
    for (const ms of [dns, tcp, tls, firstByte]) expect(ms).toBeGreaterThanOrEqual(0);
  });

  it('a key that is none', async () => {
    const listening = await tlsServer('good');
    const clientCert = {
      cert: pem('client'),
      key: '-----BEGIN PRIVATE KEY-----\nbm9uZQ==\n-----END PRIVATE KEY-----\n',
    };
    const { error } = http(await look(listening.url, { ca: pem('ca'), clientCert }), 'status');
    expect(error).toMatchObject({ phase: 'tls', code: expect.stringMatching(/^ERR_OSSL_/) });
  });

  it('a client certificate that is wanted: missing and given', async () => {
    const listening = await tlsServer('good', { requestCert: true, rejectUnauthorized: true, ca: pem('ca') });
    const without = await look(listening.url, { ca: pem('ca') });
    expect(http(without, 'status').error?.code).toMatch(/^ERR_SSL_|^ECONNRESET$|^CLOSED$/);
    const withOne = await look(listening.url, {
      ca: pem('ca'),
      clientCert: { cert: pem('client'), key: pem('client') },
    });
    expect(http(withOne, 'status').status).toBe(200);
  });
});

describe('hostile status documents', () => {
  const seen = async (body: Record<string, unknown> | string) => {
    const reply =
      typeof body === 'string' ? { headers: { 'content-type': 'application/json' }, body } : { body };
    const listening = await hermes({ routes: { '/api/status': reply } });
    return (await look(listening.url, { credential: token() })).facts;
  };

  it('control characters and terminal escapes are neutralised', async () => {
    const facts = await seen({
      ...status,
      version: '\u001b[31m0.19.0\u0007\r\n\u202e',
      hermes_home: '\u009b2J/x',
    });
    expect(facts.status?.version).toBe('\ufffd[31m0.19.0\ufffd \ufffd');
    expect(JSON.stringify(facts)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]|\\u001b/);
  });

  it('__proto__ and constructor keys change nothing', async () => {
    const facts = await seen(
      `{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"version":"0.19.0","config_version":1}`,
    );
    expect(facts.status?.version).toBe('0.19.0');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(facts.http[0]?.body?.keys).toEqual(['__proto__', 'constructor', 'version', 'config_version']);
  });

  it('wrong types are named and not taken', async () => {
    const facts = await seen({
      ...status,
      version: 19,
      auth_required: 'yes',
      auth_providers: 'basic',
      active_sessions: -1,
    });
    expect(facts.status).toMatchObject({
      version: null,
      authRequired: null,
      authProviders: null,
      activeSessions: null,
    });
    expect(facts.status?.wrongTypes).toEqual([
      'version',
      'auth_required',
      'auth_providers',
      'active_sessions',
    ]);
  });

  it('an absurd version is none; many keys and deep nesting are cut', async () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`k${at}`, at]));
    const facts = await seen({ version: '9'.repeat(1_000_000), config_version: 1, ...many });
    expect(facts.status).toMatchObject({ version: null, wrongTypes: ['version'] });
    expect(facts.http[0]?.body?.keys).toHaveLength(60);
    const deep = await seen(
      `{"version":"0.19.0","config_version":1,"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    );
    expect(deep.status?.version).toBe('0.19.0');
  });
});
