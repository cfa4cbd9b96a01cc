import { describe, expect, test } from 'vitest';
import { readClients } from '../../src/judge/client.ts';
import type { Judgement } from '../../src/judge/judge.ts';
import { judge } from '../../src/judge/judge.ts';
import type { Facts } from '../../src/probe/schema.ts';
import {
  answered,
  base,
  e403,
  empty,
  error,
  failed,
  healthy,
  home,
  host,
  html,
  http,
  json,
  open,
  page,
  release,
  remote,
  statusBody,
  statusFact,
  text,
  withHttp,
  withWs,
  withoutHttp,
  wsFailed,
} from './facts.ts';

/** Every row of the decision table of a refused WebSocket, and what public reports add to it. Client: minimal, unless a row says otherwise. */

const clients = await readClients();
const judged = (facts: Facts, client = 'minimal'): Judgement => judge(facts, { client, clients });
/** Errors as `CODE confidence`, in order. */
const errors = (facts: Facts, client = 'minimal'): string[] =>
  judged(facts, client)
    .findings.filter((each) => each.severity === 'error')
    .map((each) => `${each.code} ${each.confidence}`);

/** Nothing but the answer to /api/status; no credential went out. */
const onlyStatus = (...probes: Facts['http']): Facts => {
  const facts = remote({ ...healthy(), status: null, http: probes });
  return withWs({
    ...facts,
    credential: { kind: 'none', source: null, fingerprint: null, unreadable: null, login: null },
  });
};

const proxied = (facts: Facts, state: 'yes' | 'no' | 'unknown' = 'unknown'): Facts =>
  facts.service === null ? facts : { ...facts, service: { ...facts.service, proxied: state } };

const gated = (facts: Facts): Facts => ({
  ...facts,
  status: statusFact({ authRequired: true, authProviders: ['basic'] }),
});

const loggedIn = (facts: Facts): Facts => ({
  ...gated(withHttp(facts, http('page', 302, empty, { headers: { location: '/login?next=%2F' } }))),
  credential: {
    kind: 'login',
    source: 'password',
    fingerprint: '0a1b2c3d',
    unreadable: null,
    login: { outcome: 'ok', providers: [{ name: 'basic', password: true }], detail: null },
  },
});

const envelope = (reason: string): ReturnType<typeof json> =>
  json(['error', 'detail', 'reason', 'login_url'], {
    detail: `{"error":"${reason}","detail":"Unauthorized","reason":"${reason}"}`,
  });

describe('row 1: the network', () => {
  test.each([
    ['ENOTFOUND', 'dns', 'DNS_FAILED'],
    ['EAI_AGAIN', 'dns', 'DNS_FAILED'],
    ['DEADLINE', 'dns', 'DNS_FAILED'],
    ['ECONNREFUSED', 'tcp', 'CONNECTION_REFUSED'],
    ['ETIMEDOUT', 'tcp', 'CONNECT_TIMEOUT'],
    ['EHOSTUNREACH', 'tcp', 'CONNECT_TIMEOUT'],
    ['DEADLINE', 'tcp', 'CONNECT_TIMEOUT'],
    ['PROXY_407', 'tcp', 'PROXY_BASIC_AUTH'],
    ['DEADLINE', 'tls', 'RESPONSE_TIMEOUT'],
    ['DEADLINE', 'first-byte', 'RESPONSE_TIMEOUT'],
    ['DEADLINE', 'body', 'RESPONSE_TIMEOUT'],
    ['ECONNRESET', 'first-byte', 'CONNECTION_RESET'],
    ['CLOSED', 'first-byte', 'CONNECTION_RESET'],
    ['EPIPE', 'body', 'CONNECTION_RESET'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls', 'TLS_UNTRUSTED'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'tls', 'TLS_UNTRUSTED'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls', 'TLS_UNTRUSTED'],
    ['CERT_HAS_EXPIRED', 'tls', 'TLS_EXPIRED'],
    ['CERT_NOT_YET_VALID', 'tls', 'TLS_EXPIRED'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls', 'TLS_NAME_MISMATCH'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls', 'TLS_PROTOCOL'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'first-byte', 'MTLS_REQUIRED'],
    ['EPROTO', 'tls', 'TLS_PROTOCOL'],
  ] as const)('%s in %s is %s', (code, phase, expected) => {
    const facts = onlyStatus(failed('status', code, phase));
    expect(errors(facts)).toEqual([`${expected} certain`]);
    expect([judged(facts).verdict, judged(facts).exitCode]).toEqual(['unknown', 3]);
  });
});

describe('rows 2 to 12: something else answers', () => {
  const rows: [string, Facts['http'], string[]][] = [
    ['2: HTTP/2 frames', [failed('status', 'HTTP2_FRAMES', 'first-byte')], ['HTTP2_ONLY_PORT certain']],
    [
      '2: other bytes',
      [failed('status', 'HPE_INVALID_CONSTANT', 'first-byte', 'Expected HTTP/')],
      ['WRONG_SERVICE certain'],
    ],
    ['2: a TLS record', [failed('status', 'TLS_RECORD', 'first-byte')], ['HTTP_TO_TLS certain']],
    [
      '3: to https, same path',
      [
        http('status', 301, html('301'), {
          url: 'http://box.example/api/status',
          headers: { location: 'https://box.example/api/status' },
        }),
      ],
      ['REDIRECT_HTTPS certain'],
    ],
    [
      '3: to https under the name that the site wants, same path',
      [
        http('status', 308, empty, {
          url: 'http://box.example/api/status',
          headers: { location: 'https://www.box.example/api/status' },
        }),
      ],
      ['REDIRECT_HTTPS likely'],
    ],
    [
      '4: to another host, which shall come back',
      [
        http('status', 302, empty, {
          url: 'http://box.example/api/status',
          headers: { location: 'https://sso.example/api/status?back=box' },
        }),
      ],
      ['EDGE_LOGIN certain'],
    ],
    [
      'the engine’s own 401 for a path that is one too many',
      [
        http('status', 401, error('Unauthorized'), { url: 'http://box.example/api/status/api/status' }),
        http('status-root', 200, statusBody, { url: 'http://box.example/api/status' }),
      ],
      ['WRONG_PATH certain'],
    ],
    [
      '4: to another host',
      [
        http('status', 302, empty, {
          url: 'http://box.example/api/status',
          headers: { location: 'https://sso.example/login?rd=x' },
        }),
      ],
      ['EDGE_LOGIN certain'],
    ],
    [
      '4: inside the same origin',
      [
        http('status', 302, empty, {
          url: 'http://box.example/api/status',
          headers: { location: '/portal' },
        }),
      ],
      ['EDGE_LOGIN likely', 'WRONG_PATH possible'],
    ],
    [
      '4: inside the same origin, to the prefix',
      [
        http('status', 302, empty, {
          url: 'http://box.example/api/status',
          headers: { location: '/hermes/api/status' },
        }),
      ],
      ['WRONG_PATH likely'],
    ],
    ['4: nowhere', [http('status', 302, empty)], ['WRONG_SERVICE likely']],
    [
      '5: basic auth',
      [http('status', 401, html('401'), { headers: { wwwAuthenticate: 'Basic realm="x"' } })],
      ['PROXY_BASIC_AUTH certain'],
    ],
    [
      '6: 502 HTML',
      [http('status', 502, html('502 Bad Gateway'), { headers: { server: ['nginx'] } })],
      ['UPSTREAM_DOWN certain'],
    ],
    [
      '6: 502 empty',
      [http('status', 502, empty, { headers: { server: ['Caddy'] } })],
      ['UPSTREAM_DOWN certain'],
    ],
    ['6: 503', [http('status', 503, html('503'))], ['UPSTREAM_DOWN certain']],
    [
      '7: Host',
      [http('status', 400, error('Invalid Host header. Dashboard requests must use …'))],
      ['HOST_REJECTED certain'],
    ],
    [
      '8: http to https',
      [http('status', 400, html('400 The plain HTTP request was sent to HTTPS port'))],
      ['HTTP_TO_TLS certain'],
    ],
    [
      '8: http to https (Go)',
      [http('status', 400, text('Client sent an HTTP request to an HTTPS server.'))],
      ['HTTP_TO_TLS certain'],
    ],
    [
      '8: client certificate',
      [http('status', 400, html('400 No required SSL certificate was sent'))],
      ['MTLS_REQUIRED certain'],
    ],
    [
      '9: the API server',
      [
        http('status', 404, text('404: Not Found')),
        http('api-server-health', 200, json(['status', 'platform'])),
      ],
      ['API_SERVER_NOT_DASHBOARD certain'],
    ],
    [
      '9: a proxy',
      [http('status', 404, html('404 Not Found'), { headers: { server: ['nginx/1.22.1'] } })],
      ['WRONG_PATH likely'],
    ],
    [
      '9: nobody knows',
      [http('status', 404, text('Cannot GET'), { headers: { server: [] } })],
      ['WRONG_SERVICE likely', 'WRONG_PATH possible'],
    ],
    [
      '9: the engine at a wrong path',
      [http('status', 404, error('No such API endpoint: /api/x'))],
      ['WRONG_PATH certain'],
    ],
    [
      '9: the engine without web build',
      [http('status', 404, json(['error'], { detail: 'Frontend not built' }))],
      ['WRONG_PATH certain'],
    ],
    [
      '9: a prefix too much',
      [
        http('status', 404, html('404'), { url: 'http://box.example/hermes/api/status' }),
        http('status-root', 200, json(['version', 'release_date']), { url: 'http://box.example/api/status' }),
      ],
      ['WRONG_PATH certain'],
    ],
    ['10: the page', [http('status', 200, page())], ['PREFIX_NOT_STRIPPED certain']],
    [
      '10: the page, and a dashboard at the root',
      [
        http('status', 200, page(), { url: 'http://box.example/hermes/api/status' }),
        http('status-root', 200, json(['version', 'release_date']), { url: 'http://box.example/api/status' }),
      ],
      ['WRONG_PATH likely', 'PREFIX_NOT_STRIPPED possible'],
    ],
    ['11: nothing', [http('status', 200, empty, { headers: { server: ['Caddy'] } })], ['NO_SITE likely']],
    ['12: a login page', [http('status', 200, html('Sign in · Example'))], ['EDGE_LOGIN likely']],
    ['12: another product', [http('status', 200, html('Grafana'))], ['WRONG_SERVICE certain']],
    ['12: other JSON', [http('status', 200, json(['hello']))], ['WRONG_SERVICE certain']],
    ['401 without a challenge', [http('status', 401, html('Unauthorized'))], ['EDGE_REFUSES_HTTP certain']],
    ['403', [http('status', 403, html('Forbidden'))], ['EDGE_REFUSES_HTTP certain']],
    [
      '429',
      [http('status', 429, text('slow down'), { headers: { retryAfter: '30' } })],
      ['EDGE_REFUSES_HTTP certain'],
    ],
    [
      'a foreign 404',
      [http('status', 404, json(['message']), { headers: { server: ['cloudflare'], cfRay: true } })],
      ['EDGE_REFUSES_HTTP likely'],
    ],
    ['the engine’s own 500', [http('status', 500, text('Internal Server Error'))], ['ENGINE_ERROR certain']],
    [
      'a 500 of nobody known',
      [http('status', 500, html('Oops'), { headers: { server: ['x'] } })],
      ['ENGINE_ERROR likely'],
    ],
    ['cut JSON', [http('status', 200, json([], { problem: 'cut' }))], ['RESPONSE_INVALID certain']],
    ['a bomb', [http('status', 200, json([], { problem: 'bomb' }))], ['RESPONSE_INVALID certain']],
    [
      'too large',
      [http('status', 200, text('x'), {}), http('page', 200, html())].map((each) => ({
        ...each,
        body: { ...text('x'), problem: 'too-large' as const },
      })),
      ['RESPONSE_INVALID certain'],
    ],
  ];
  test.each(rows)('%s', (_name, probes, expected) => {
    const facts = onlyStatus(...probes);
    expect(errors(facts)).toEqual(expected);
    expect(judged(facts).verdict).toBe(
      expected[0]?.startsWith('HOST_REJECTED') === true ? 'incompatible' : 'unknown',
    );
    expect(judged(facts).clients['hermes-one']).toBe(judged(facts).verdict);
  });
  test('429 and retryable codes say so', () => {
    const of = (probe: Facts['http'][number]): boolean | undefined =>
      judged(onlyStatus(probe)).findings[0]?.retryable;
    expect(of(http('status', 502, empty))).toBe(true);
    expect(of(http('status', 429, text('slow')))).toBe(true);
    expect(of(http('status', 403, html()))).toBe(false);
  });
});

describe('rows 13 to 16: the upgrade as such', () => {
  test('13: 101 and an answer', () => {
    expect(errors(healthy())).toEqual([]);
    expect(judged(healthy()).verdict).toBe('compatible');
  });
  test.each([
    ['JSON 404', answered(404, error('No such API endpoint: /api/ws'))],
    ['headless', answered(404, json(['error'], { detail: 'Headless backend (hermes serve)' }))],
    ['no web build', answered(404, json(['error'], { detail: 'Frontend not built' }))],
    ['the page (0.14)', answered(200, page())],
  ])('14: %s', (_name, ws) => {
    const direct = withWs(healthy(), ws);
    const noLibrary = {
      ...direct,
      installs: direct.installs.map((each) => ({ ...each, wsLibrary: 'missing' as const })),
    };
    expect(errors(noLibrary)).toEqual(['WS_LIB_MISSING certain']);
    expect(errors(remote(proxied(direct, 'yes')))).toEqual([
      'UPGRADE_DROPPED likely',
      'WS_LIB_MISSING possible',
    ]);
    expect(errors(proxied(remote(direct), 'yes'))).toEqual(['UPGRADE_DROPPED certain']);
    expect(errors(proxied(remote(direct), 'no'))).toEqual(['WS_LIB_MISSING likely']);
    expect(errors(direct)).toEqual(['WS_LIB_MISSING likely']);
    expect(judged(direct).verdict).toBe('incompatible');
  });
  test('15: 401 with a bad token is both', () => {
    const facts = withWs(
      withHttp(healthy(), http('sessions', 401, error('Unauthorized'))),
      answered(401, error('Unauthorized')),
    );
    expect(errors(proxied(remote(facts), 'yes'))).toEqual([
      'TOKEN_REJECTED certain',
      'UPGRADE_DROPPED certain',
    ]);
  });
  test('15: 401 with a proved token is the upgrade alone', () => {
    expect(errors(proxied(remote(withWs(healthy(), answered(401, error('Unauthorized')))), 'yes'))).toEqual([
      'UPGRADE_DROPPED certain',
    ]);
  });
  test('15: 401 and nobody asked REST', () => {
    const facts = withoutHttp(
      withWs(healthy(), answered(401, error('Unauthorized'))),
      'sessions',
      'sessions-bare',
    );
    expect(errors(proxied(remote(facts), 'yes'))).toEqual([
      'UPGRADE_DROPPED certain',
      'TOKEN_REJECTED likely',
    ]);
  });
  test.each([
    ['403 with a body', answered(403, html('Forbidden'))],
    ['404 HTML', answered(404, html('404'))],
    ['502', answered(502, empty)],
    ['302', answered(302, empty, { head: { location: 'https://sso.example/' } })],
    ['401 with a challenge', answered(401, html('401'), { head: { wwwAuthenticate: 'Basic' } })],
  ])('16: %s', (_name, ws) => {
    expect(errors(remote(withWs(healthy(), ws)))).toEqual(['EDGE_REFUSES_WS certain']);
    expect(judged(remote(withWs(healthy(), ws))).verdict).toBe('incompatible');
  });
  test('a 403 with a body from the engine’s own port is no edge', () => {
    expect(errors(withWs(healthy(), answered(500, text('Internal Server Error'))))).toEqual([
      'WS_REFUSED possible',
    ]);
  });
  test('426 and a foreign page: both causes', () => {
    expect(errors(remote(withWs(healthy(), answered(426, text('Upgrade Required')))))).toEqual([
      'UPGRADE_DROPPED likely',
      'EDGE_REFUSES_WS possible',
    ]);
    expect(errors(remote(withWs(healthy(), answered(200, html('Sign in')))))).toEqual([
      'EDGE_REFUSES_WS likely',
      'UPGRADE_DROPPED possible',
    ]);
  });
  test('never answered, cut, wrong key', () => {
    expect(errors(withWs(healthy(), wsFailed('DEADLINE', 'upgrade')))).toEqual(['RESPONSE_TIMEOUT certain']);
    expect(errors(withWs(healthy(), wsFailed('ECONNRESET', 'upgrade')))).toEqual([
      'CONNECTION_RESET certain',
    ]);
    expect(
      errors(withWs(healthy(), { ...wsFailed('ERROR', 'upgrade'), status: 101, handshake: 'bad-accept' })),
    ).toEqual(['WS_HANDSHAKE_INVALID certain']);
    expect(
      errors(withWs(healthy(), { ...wsFailed('ERROR', 'upgrade'), status: 101, handshake: 'bad-protocol' })),
    ).toEqual(['WS_HANDSHAKE_INVALID certain']);
  });
  test('opened, then: closed, silent, no answer', () => {
    const rpc = (code: string): Facts['rpc'] => ({
      ...healthy().rpc,
      outcome: 'failed',
      answer: null,
      error: { phase: 'rpc', code, message: '' },
    });
    const closed = {
      ...withWs(healthy(), open('main', { close: { code: 1011, reason: '', afterMs: 3 } })),
      rpc: rpc('CLOSED'),
    };
    expect(errors(closed)).toEqual(['WS_CLOSED_EARLY certain']);
    const silent = { ...withWs(healthy(), open('main', { firstFrame: null })), rpc: rpc('DEADLINE') };
    expect(errors(silent)).toEqual(['WS_SILENT certain']);
    expect(errors({ ...healthy(), rpc: rpc('DEADLINE') })).toEqual(['RPC_FAILED certain']);
    for (const facts of [closed, silent]) {
      expect(judged(facts).verdict).toBe('unknown');
      expect(judged(facts).capabilities.find((each) => each.id === 'ws')?.state).toBe('unknown');
    }
  });
  test('frames that we do not take are not a server that went away', () => {
    const frame = (code: string): Facts => ({
      ...withWs(
        healthy(),
        open('main', {
          firstFrame: null,
          error: { phase: 'frame', code, message: 'Max payload size exceeded' },
          close: { code: 1006, reason: '', afterMs: 3 },
        }),
      ),
      rpc: {
        ...healthy().rpc,
        outcome: 'failed',
        answer: null,
        error: { phase: 'rpc', code: 'CLOSED', message: '' },
      },
    });
    const problems = [
      'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH',
      'WS_ERR_INVALID_UTF8',
      'WS_ERR_UNEXPECTED_RSV_1',
    ].map((code) => {
      const [found] = judged(frame(code)).findings.filter(({ severity }) => severity === 'error');
      return [found?.code, found?.args['problem']];
    });
    expect(problems).toEqual([
      ['RESPONSE_INVALID', 'too large'],
      ['RESPONSE_INVALID', 'not UTF-8'],
      ['RESPONSE_INVALID', 'broken frames'],
    ]);
    expect(judged(frame('WS_ERR_INVALID_UTF8')).verdict).toBe('unknown');
  });
  test.each([
    ['PROXY_407', 'PROXY_BASIC_AUTH'],
    ['PROXY_502', 'UPSTREAM_DOWN'],
    ['PROXY_403', 'EDGE_REFUSES_HTTP'],
    ['PROXY_ECONNREFUSED', 'CONNECTION_REFUSED'],
    ['PROXY_CLOSED', 'CONNECTION_RESET'],
    ['ENOTFOUND', 'DNS_FAILED'],
    ['CERT_HAS_EXPIRED', 'TLS_EXPIRED'],
    ['HPE_INVALID_CONSTANT', 'WS_REFUSED'],
  ])('the connection for the upgrade fails with %s: %s, and never incompatible', (error, code) => {
    const asked = { ...healthy().asked, proxy: { url: 'http://proxy.example:3128', from: 'HTTPS_PROXY' } };
    const report = judged(remote({ ...withWs(healthy(), wsFailed(error, 'tcp')), asked }));
    const [found] = report.findings.filter(({ severity }) => severity === 'error');
    expect([found?.code, found?.args['at'], report.verdict]).toEqual([code, 'ws', 'unknown']);
    expect(found?.args['proxy']).toBe(error.startsWith('PROXY_') ? 'http://proxy.example:3128' : undefined);
  });
  test('what a person cut short is not checked, and no fault of the server', () => {
    const aborted = { phase: 'tcp', code: 'ABORTED', message: 'interrupted' } as const;
    const cut: [Facts, string][] = [
      [onlyStatus(failed('status', 'ABORTED', 'tcp')), 'reach'],
      [withWs(healthy(), wsFailed('ABORTED', 'upgrade')), 'websocket'],
      [{ ...healthy(), rpc: { ...healthy().rpc, outcome: 'failed', answer: null, error: aborted } }, 'rpc'],
    ];
    for (const [facts, check] of cut) {
      const report = judged(facts);
      expect(report.verdict).toBe('unknown');
      expect(new Set(errors(facts))).toEqual(new Set(['CAPABILITY_UNKNOWN certain']));
      expect(report.checks.find(({ id }) => id === check)?.status).toBe('error');
    }
  });
  test('25: nothing maps paths where nothing is in between', () => {
    const facts = withWs(healthy(), e403(), open('events'));
    expect(errors(proxied(remote(facts), 'yes'))).toEqual(['WS_PATH_MAPPED_WRONG certain']);
    expect(errors(facts)).not.toContain('WS_PATH_MAPPED_WRONG certain');
  });
  test('a missing gateway.ready is no fault when JSON-RPC answers', () => {
    expect(errors(withWs(healthy(), open('main', { firstFrame: null })))).toEqual([]);
  });
});

describe('rows 17 to 20: the credential', () => {
  test('17: a token at a gate', () => {
    const facts = withWs(gated(withHttp(healthy(), http('sessions', 401, envelope('no_cookie')))), e403());
    expect(errors(facts)).toEqual(['AUTH_MODE_MISMATCH certain']);
  });
  test('17: nothing at a gate', () => {
    const facts = gated(withWs(withoutHttp(healthy(), 'sessions'), e403('main', { credential: 'none' })));
    const none = {
      ...facts,
      credential: {
        ...facts.credential,
        kind: 'none' as const,
        source: null,
        fingerprint: null,
        unreadable: 'gated' as const,
      },
    };
    expect(errors(none)).toEqual(['LOGIN_REQUIRED certain']);
    expect(judged(none).findings[0]?.args['providers']).toEqual(['basic']);
  });
  test('17: only a browser could', () => {
    const facts = gated(withWs(withoutHttp(healthy(), 'sessions'), e403('main', { credential: 'none' })));
    const login = {
      outcome: 'needs-browser' as const,
      providers: [{ name: 'nous', password: false }],
      detail: null,
    };
    expect(errors({ ...facts, credential: { ...facts.credential, kind: 'none', login } })).toEqual([
      'LOGIN_NEEDS_BROWSER certain',
    ]);
    expect(errors({ ...facts, credential: { ...facts.credential, kind: 'login', login } })).toEqual([
      'LOGIN_NEEDS_BROWSER certain',
    ]);
  });
  test.each([
    ['rejected', 'LOGIN_REJECTED certain'],
    ['rate-limited', 'LOGIN_RATE_LIMITED certain'],
    ['failed', 'LOGIN_REJECTED likely'],
    ['not-tried', 'LOGIN_REQUIRED certain'],
  ] as const)('a login that was %s', (outcome, expected) => {
    const facts = loggedIn(withWs(withoutHttp(healthy(), 'sessions'), e403()));
    const login = { outcome, providers: [{ name: 'basic', password: true }], detail: 'Invalid credentials' };
    expect(errors({ ...facts, credential: { ...facts.credential, login } })).toEqual([expected]);
  });
  test('18: an expired session, and a cookie that did not arrive', () => {
    const seen = (reason: string): string[] =>
      errors(loggedIn(withWs(withHttp(healthy(), http('sessions', 401, envelope(reason))), e403())));
    expect(seen('session_expired')).toEqual(['SESSION_REJECTED certain']);
    expect(seen('no_cookie')).toEqual(['LOGIN_REQUIRED certain']);
  });
  test('19: a new ticket opens', () => {
    const facts = loggedIn(
      withWs(healthy(), e403('main', { credential: 'ticket' }), open('new-ticket', { credential: 'ticket' })),
    );
    expect(errors(facts)).toEqual(['TICKET_USED_OR_EXPIRED certain']);
    expect(judged(facts).findings[0]?.retryable).toBe(true);
  });
  test('a gateway that takes tickets only as a subprotocol', () => {
    const facts = loggedIn({
      ...withWs(
        healthy(),
        e403('main', { credential: 'ticket' }),
        open('subprotocol', { credential: 'subprotocol-ticket' }),
      ),
      rpc: healthy().rpc,
    });
    expect(errors(facts)).toEqual([]);
    expect(judged(facts).capabilities.find((each) => each.id === 'ticket-auth')?.state).toBe('yes');
  });
  test('20: a refused token', () => {
    const facts = withWs(withHttp(healthy(), http('sessions', 401, error('Unauthorized'))), e403());
    expect(errors(facts)).toEqual(['TOKEN_REJECTED certain']);
    expect(judged(facts).findings[0]?.args).toMatchObject({ source: 'page', fingerprint: '0a1b2c3d' });
    expect(judged(facts, 'hermes-one').findings.map((each) => each.code)).toEqual([
      'TOKEN_REJECTED',
      'MODEL_LIBRARY_MISSING',
    ]);
  });
  test('20 before 22: a bad token hides the chat gate until the next run', () => {
    const facts = release(
      withWs(
        withHttp(healthy(), http('sessions', 401, error('Unauthorized')), http('page', 200, page(false))),
        e403(),
      ),
      '0.14.0',
    );
    expect(errors(facts)).toEqual(['TOKEN_REJECTED certain']);
    expect(judged(facts).verdict).toBe('unknown');
  });
  test('none given, page not asked', () => {
    const facts = remote(
      withWs(withoutHttp(healthy(), 'sessions', 'page'), e403('main', { credential: 'none' })),
    );
    const none = {
      ...facts,
      credential: {
        kind: 'none' as const,
        source: null,
        fingerprint: null,
        unreadable: 'not-asked' as const,
        login: null,
      },
    };
    expect(errors(none)).toEqual(['TOKEN_MISSING certain']);
    expect(judged(none).findings).toHaveLength(1);
  });
  test.each(['web-build', 'headless', 'page-failed', 'no-token-in-page'] as const)(
    'none given, page without one: %s',
    (unreadable) => {
      const facts = withWs(withoutHttp(healthy(), 'sessions'), e403('main', { credential: 'none' }));
      const none = {
        ...facts,
        credential: { kind: 'none' as const, source: null, fingerprint: null, unreadable, login: null },
      };
      expect(errors(none)).toEqual(['TOKEN_UNREADABLE certain']);
      expect(judged(none).findings[0]?.args['why']).toBe(unreadable);
    },
  );
  test('a login at a dashboard that takes tokens', () => {
    const facts = withWs(withoutHttp(healthy(), 'sessions'), e403('main', { credential: 'none' }));
    expect(errors({ ...facts, credential: { ...facts.credential, kind: 'login' } })).toEqual([
      'AUTH_MODE_MISMATCH certain',
    ]);
  });
  test('everything answers without a credential', () => {
    const facts = withHttp(healthy(), http('sessions-bare', 200, json(['sessions'], { count: 0 })));
    expect(judged(facts).findings.map((each) => `${each.code} ${each.severity}`)).toEqual([
      'TOKEN_NOT_PROVED warn',
    ]);
    expect(judged(facts).verdict).toBe('compatible');
  });
});

describe('rows 21 to 26: a bare 403 with a good credential', () => {
  const bare = (...ws: Facts['ws']): Facts => withWs(healthy(), ...ws);
  test('21: before 0.12', () => {
    expect(errors(remote(release(bare(e403()), '0.11.0')))).toEqual(['NO_WS_ROUTE certain']);
  });
  test('22: the page says that the chat is off', () => {
    const facts = release(withHttp(bare(e403()), http('page', 200, page(false))), '0.14.0');
    expect(errors(remote(facts))).toEqual(['CHAT_DISABLED certain']);
    expect(judged(remote(facts)).remedies[0]).toMatchObject({
      carrier: 'overlay',
      where: 'on-host',
      patch: 'embedded-chat',
    });
  });
  test('23: without Origin it opens', () => {
    const facts = bare(e403('main', { origin: 'https://evil.test' }), open('no-origin'));
    expect(errors(facts)).toEqual(['ORIGIN_REJECTED certain']);
    expect(judged(facts).findings[0]?.args['origin']).toBe('https://evil.test');
    expect(judged(facts).verdict).toBe('incompatible');
  });
  test('24: with Host: 127.0.0.1 it opens', () => {
    const facts = remote(bare(e403(), open('loopback-host', { hostHeader: '127.0.0.1' }), e403('events')));
    expect(errors(facts)).toEqual(['HOST_REJECTED certain']);
    expect(judged(facts).findings[0]?.args).toMatchObject({ onlyWebSocket: true, host: 'box.example:9119' });
  });
  test('24: gated too', () => {
    const facts = loggedIn(
      bare(
        e403('main', { credential: 'ticket' }),
        e403('new-ticket', { credential: 'ticket' }),
        open('loopback-host', { credential: 'ticket' }),
      ),
    );
    expect(errors(facts)).toEqual(['HOST_REJECTED certain']);
  });
  test('25: the sibling route opens', () => {
    expect(errors(remote(bare(e403(), e403('loopback-host'), open('events'))))).toEqual([
      'WS_PATH_MAPPED_WRONG certain',
    ]);
  });
  test('26: the sibling is refused too', () => {
    expect(errors(remote(bare(e403(), e403('events'))))).toEqual([
      'PEER_NOT_LOOPBACK possible',
      'ORIGIN_REJECTED possible',
    ]);
    expect(judged(remote(bare(e403(), e403('events')))).verdict).toBe('incompatible');
    expect(errors(bare(e403(), e403('events')))).toEqual(['PEER_NOT_LOOPBACK likely']);
  });
  test.each([
    ['console auth rejected peer_not_loopback peer=10.0.0.7', 'PEER_NOT_LOOPBACK certain'],
    ['console refused: origin_mismatch origin=https://x.example bound=127.0.0.1', 'ORIGIN_REJECTED certain'],
    ['console refused: host_mismatch host=box.example bound=127.0.0.1', 'HOST_REJECTED certain'],
  ])('26: the log says %s', (reason, expected) => {
    expect(errors(bare(e403(), e403('events'), e403('console', { reason })))).toEqual([expected]);
  });
  test('26 on 0.14: X-Forwarded-For became the peer', () => {
    const facts = remote(
      release(withHttp(bare(e403(), e403('events')), http('page', 200, page(true))), '0.14.0'),
    );
    expect(errors(facts)).toEqual(['PEER_NOT_LOOPBACK possible', 'ORIGIN_REJECTED possible']);
    expect(judged(facts).findings[0]?.args['forwarded']).toBe(true);
    expect(judged(facts).remedies.some((each) => each.id === 'nginx-forwarded-for')).toBe(true);
  });
  test('0.14 without page: chat off is one of the candidates', () => {
    const facts = remote(release(withoutHttp(bare(e403(), e403('events')), 'page'), '0.14.0'));
    expect(errors(facts)).toEqual(['WS_REFUSED possible']);
    expect(judged(facts).findings[0]?.args['candidates']).toContain('CHAT_DISABLED');
    expect(judged(facts).verdict).toBe('unknown');
  });
  test('no control probe ran', () => {
    expect(errors(remote(bare(e403())))).toEqual(['WS_REFUSED possible']);
    expect(judged(remote(bare(e403()))).findings[0]?.args['candidates']).toEqual([
      'ORIGIN_REJECTED',
      'HOST_REJECTED',
      'PEER_NOT_LOOPBACK',
    ]);
  });
});

describe('chat off on disk, where the page does not tell', () => {
  const G0 = { chatAssignment: 'from-parameter' as const, generation: 'G0' as const };
  const facts = withoutHttp(release(withWs(healthy(), e403()), '0.14.0', G0), 'page');
  test('process without the switch', () => {
    expect(errors(facts)).toEqual(['CHAT_DISABLED likely']);
  });
  test('exactly the text 1 counts, and .env wins', () => {
    const env = (tui: string | null, readable = true): Facts => ({
      ...facts,
      processes: facts.processes.map((each) => ({ ...each, env: { ...each.env, tui, readable } })),
    });
    expect(errors(env('true'))).toEqual(['CHAT_DISABLED likely']);
    expect(errors(env('1'))).not.toContain('CHAT_DISABLED likely');
    expect(errors(env(null, false))).toEqual(['WS_REFUSED possible']);
    const dotenv = {
      ...env('1'),
      host: host({
        home: home({
          envFile: { exists: true, readable: true, tui: '0', webDist: null, sessionToken: null },
        }),
      }),
    };
    expect(errors(dotenv)).toEqual(['CHAT_DISABLED likely']);
  });
  test('never switched on for a bind beyond loopback', () => {
    const exposed = { ...facts, processes: facts.processes.map((each) => ({ ...each, bind: '0.0.0.0' })) };
    const report = judged(exposed);
    expect(report.findings[0]?.code).toBe('CHAT_DISABLED');
    expect(report.remedies.map((each) => each.carrier)).toEqual(['update']);
  });
});

describe('around the road', () => {
  test('flapping', () => {
    const facts = { ...healthy(), flapping: { before: 'pid 1', after: 'ECONNREFUSED' } };
    expect(errors(facts)).toEqual(['BACKEND_FLAPPING certain']);
    expect(judged(facts).verdict).toBe('unknown');
  });
  test('a young process that is silent is starting, not down', () => {
    const facts = {
      ...healthy(),
      status: null,
      http: [failed('status', 'ECONNREFUSED', 'tcp')],
      ws: [],
      takenAt: '2026-11-30T10:00:05.000Z',
    };
    const report = judged(facts);
    expect(report.findings.map((each) => each.code)).toEqual(['CONNECTION_REFUSED', 'SLOW_START']);
    expect(report.findings[0]?.retryable).toBe(true);
  });
  test('no dashboard and no install', () => {
    const facts = {
      ...healthy(),
      service: null,
      status: null,
      http: [],
      ws: [],
      installs: [],
      processes: [],
    };
    expect(errors(facts)).toEqual(['INSTALL_NOT_FOUND certain']);
    expect([judged(facts).verdict, judged(facts).exitCode]).toEqual(['unknown', 3]);
  });
  test('a dashboard whose install is not found', () => {
    const facts = {
      ...healthy(),
      installs: [],
      service: {
        url: base,
        how: 'named' as const,
        via: 'direct' as const,
        pid: null,
        install: null,
        proxied: 'unknown' as const,
      },
    };
    expect(judged(facts).findings.map((each) => `${each.code} ${each.severity}`)).toEqual([
      'INSTALL_NOT_FOUND info',
    ]);
    expect(judged(facts).verdict).toBe('compatible');
  });
  test('no dashboard runs: judged from disk, and said', () => {
    const facts = {
      ...healthy(),
      service: null,
      status: null,
      http: [],
      ws: [],
      processes: [],
      target: { ...healthy().target, url: null },
    };
    expect([judged(facts).verdict, judged(facts).exitCode]).toEqual(['compatible', 0]);
    expect(judged(facts).findings.map((each) => `${each.code} ${each.severity}`)).toEqual([
      'DASHBOARD_NOT_RUNNING warn',
    ]);
    expect(errors(facts, 'hermes-one')).toEqual(['MODEL_LIBRARY_MISSING likely']);
    expect(
      judged(facts, 'hermes-desktop').findings.map((each) => `${each.code} ${each.confidence}`),
    ).toContain('CONTRACT_TOO_OLD certain');
  });
});
