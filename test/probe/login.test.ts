import { afterEach, describe, expect, it } from 'vitest';

import {
  canary,
  closeAll,
  hermes,
  type Hermes,
  http,
  login,
  look,
  type Seen,
  status,
  token,
  ws,
} from './servers.ts';

afterEach(closeAll);

const gatedStatus = { ...status, auth_required: true, auth_providers: ['basic'] };
const accessCookie = 'ACCESS-cookie-value-9f8e7d6c5b4a';

interface Gate {
  password?: string;
  cookies?: string[];
  provider?: Record<string, unknown>[];
  loginReply?: (request: Seen) => {
    status?: number;
    headers?: Record<string, string | string[]>;
    body?: Record<string, unknown>;
  };
  /** What a ticket may do. */
  ticket?: (ticket: string, request: Seen) => boolean;
  bearer?: string;
  subprotocol?: boolean;
}

/** A gated dashboard: login, cookies, tickets that work once. */
function gated(gate: Gate = {}): Promise<Awaited<ReturnType<typeof hermes>>> {
  const tickets = new Map<string, boolean>();
  let minted = 0;
  const signedIn = ({ headers }: Pick<Seen, 'headers'>): boolean =>
    (headers.cookie ?? '').split('; ').includes(`hermes_session_at=${accessCookie}`) ||
    (gate.bearer !== undefined && headers.authorization === `Bearer ${gate.bearer}`);
  const use = (ticket: string | null, request: Seen): boolean => {
    const fresh = ticket !== null && tickets.get(ticket) === true;
    if (ticket !== null) tickets.set(ticket, false);
    return fresh && (gate.ticket?.(ticket, request) ?? true);
  };
  const refused = {
    status: 401,
    body: { error: 'unauthenticated', detail: 'Unauthorized', reason: 'no_cookie', login_url: '/login' },
  };
  const options: Hermes = {
    token: null,
    accepts: (request) => {
      if (request.method !== 'UPGRADE') return signedIn(request);
      const query = new URL(request.url, 'http://x').searchParams.get('ticket');
      const offered = request.headers['sec-websocket-protocol']?.split(/,\s*/) ?? [];
      const inProtocol = offered.find((each) => each.startsWith('hermes-gateway-ticket.'))?.slice(22) ?? null;
      return use(gate.subprotocol === true ? inProtocol : query, request);
    },
    routes: {
      '/api/status': { body: gatedStatus },
      '/': { status: 302, headers: { location: '/login?next=%2F' } },
      '/openapi.json': (request) =>
        signedIn(request)
          ? { body: { paths: { '/api/model/set': {} } } }
          : { status: 302, headers: { location: '/login' } },
      '/api/auth/providers': {
        body: { providers: gate.provider ?? [{ name: 'basic', supports_password: true }] },
      },
      '/auth/password-login': (request) => {
        if (gate.loginReply !== undefined) return gate.loginReply(request);
        const { username, password, provider } = JSON.parse(request.body) as Record<string, string>;
        const right =
          username === 'someone' && password === (gate.password ?? canary) && provider === 'basic';
        return right
          ? {
              headers: {
                'set-cookie': gate.cookies ?? [
                  `hermes_session_at=${accessCookie}; HttpOnly; Max-Age=43200; Path=/; SameSite=lax`,
                  'hermes_session_provider=basic; HttpOnly; Path=/; SameSite=lax',
                  '__Host-hermes_session_at=""; expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0; Path=/; Secure',
                ],
              },
              body: { ok: true, next: '/' },
            }
          : { status: 401, body: { detail: 'Invalid credentials' } };
      },
      '/api/auth/me': (request) =>
        signedIn(request) ? { body: { user_id: 'PRIVATE-user', provider: 'basic' } } : refused,
      '/api/auth/ws-ticket': (request) => {
        if (!signedIn(request)) return refused;
        minted += 1;
        const ticket = `TICKET-${minted}-0123456789abcdefghij`;
        tickets.set(ticket, true);
        return { body: { ticket, ttl_seconds: 30 } };
      },
    },
  };
  return hermes(options);
}

describe('a login', () => {
  it('leads over cookies and a ticket to the gateway; nothing secret is kept', async () => {
    const { url, seen } = await gated();
    const result = await look(url, { credential: login() });
    const { facts } = result;
    expect(facts.credential).toMatchObject({
      kind: 'login',
      source: 'password',
      unreadable: null,
      login: { outcome: 'ok', providers: [{ name: 'basic', password: true }], detail: null },
    });
    expect(http(result, 'login')).toMatchObject({ method: 'POST', status: 200 });
    expect(http(result, 'login').headers?.setCookies).toEqual([
      { name: 'hermes_session_at', secure: false, httpOnly: true, sameSite: 'lax', path: '/', domain: null },
      {
        name: 'hermes_session_provider',
        secure: false,
        httpOnly: true,
        sameSite: 'lax',
        path: '/',
        domain: null,
      },
      {
        name: '__Host-hermes_session_at',
        secure: true,
        httpOnly: false,
        sameSite: null,
        path: '/',
        domain: null,
      },
    ]);
    for (const id of ['auth-me', 'sessions', 'model-options', 'openapi', 'ws-ticket'])
      expect(http(result, id)).toMatchObject({ status: 200, credential: 'cookie' });
    expect(ws(result)).toMatchObject({ outcome: 'open', credential: 'ticket' });
    expect(ws(result).url).toMatch(/\/api\/ws\?ticket=\[redacted\]$/);
    expect(facts.contract.value).toBe(4);
    expect(result.used).toEqual({
      kind: 'cookie',
      cookie: `hermes_session_at=${accessCookie}; hermes_session_provider=basic`,
    });
    expect(JSON.stringify(facts)).not.toMatch(/ACCESS-cookie|TICKET-|PRIVATE/);
    const before = seen.slice(
      0,
      seen.findIndex(({ url: path }) => path === '/auth/password-login'),
    );
    expect(JSON.stringify(before)).not.toContain('CANARY');
    expect(seen.find(({ method }) => method === 'UPGRADE')?.headers.cookie).toContain(accessCookie);
  });

  it.each([
    ['rejected', {}, 'wrong-password-x', 401],
    [
      'rate-limited',
      { loginReply: () => ({ status: 429, body: { detail: 'Too many login attempts.' } }) },
      canary,
      429,
    ],
    ['failed', { loginReply: () => ({ status: 500, body: { detail: 'x' } }) }, canary, 500],
    ['failed', { loginReply: () => ({ body: { ok: true } }) }, canary, 200],
    [
      'failed',
      { loginReply: ({ body }: Seen) => ({ status: 422, body: { detail: [{ input: body }] } }) },
      canary,
      422,
    ],
  ] as const)('%s', async (outcome, gate, password, code) => {
    const { url, seen } = await gated(gate);
    const result = await look(url, { credential: login(password) });
    expect(result.facts.credential.login?.outcome).toBe(outcome);
    expect(http(result, 'login').status).toBe(code);
    expect(JSON.stringify(result.facts)).not.toContain(password);
    expect(seen.filter(({ url: path }) => path === '/auth/password-login')).toHaveLength(1);
    expect(http(result, 'sessions')).toMatchObject({ outcome: 'skipped', why: 'no credential' });
    expect(ws(result)).toMatchObject({ outcome: 'refused', bareRefusal: true, credential: 'none' });
  });

  it('needs a browser: the provider is named and no password is sent', async () => {
    const { url, seen } = await gated({
      provider: [{ name: 'nous', supports_password: false }, { name: 7 }],
    });
    const result = await look(url, { credential: login() });
    expect(result.facts.credential.login).toMatchObject({
      outcome: 'needs-browser',
      providers: [{ name: 'nous', password: false }],
    });
    expect(http(result, 'login').outcome).toBe('skipped');
    expect(JSON.stringify(seen)).not.toContain('CANARY');
  });

  it('is not tried without one, and the providers are there', async () => {
    const { url } = await gated();
    const result = await look(url, { credential: null });
    expect(result.facts.credential).toMatchObject({
      kind: 'none',
      unreadable: 'gated',
      login: { outcome: 'not-tried', providers: [{ name: 'basic' }] },
    });
    expect(http(result, 'page')).toMatchObject({ status: 302, headers: { location: '/login?next=%2F' } });
  });

  it('a cookie that no browser would keep is a fact, and replayed all the same', async () => {
    const { url } = await gated({
      cookies: [`hermes_session_at=${accessCookie}; Secure; Path=/hermes; Domain=other.example`],
    });
    const result = await look(url, { credential: login() });
    expect(http(result, 'login').headers?.setCookies[0]).toMatchObject({
      secure: true,
      path: '/hermes',
      domain: 'other.example',
    });
    expect(result.facts.rpc.outcome).toBe('answered');
  });

  it('cookies of an edge stand beside those of the login', async () => {
    const { url, seen } = await gated();
    const result = await look(url, { credential: login(), headers: [['cookie', 'edge=0123456789abcdef']] });
    expect(result.facts.rpc.outcome).toBe('answered');
    expect(seen[0]?.headers.cookie).toBe('edge=0123456789abcdef');
    const upgrade = seen.find(({ method }) => method === 'UPGRADE');
    expect(upgrade?.headers.cookie).toContain('edge=0123456789abcdef; hermes_session_at=');
  });

  it('short cookie values and passwords do not blank out words', async () => {
    const { url } = await gated({ password: 'answered' });
    const result = await look(url, { credential: login('answered') });
    expect(http(result, 'status').outcome).toBe('answered');
    expect(result.facts.status?.authProviders).toEqual(['basic']);
  });
});

describe('tickets', () => {
  it('one that was used meanwhile: a new one opens', async () => {
    const { url } = await gated({ ticket: (ticket) => !/-[12]-/.test(ticket) });
    const result = await look(url, { credential: login() });
    expect(ws(result)).toMatchObject({ outcome: 'refused', bareRefusal: true, credential: 'ticket' });
    expect(ws(result, 'new-ticket')).toMatchObject({ outcome: 'open', credential: 'ticket' });
  });

  it('an Origin burns the ticket: each attempt has its own', async () => {
    const { url, seen } = await gated({ ticket: (_, { headers }) => headers.origin === undefined });
    const result = await look(url, { credential: login(), origin: 'https://evil.test' });
    expect(ws(result, 'no-origin').outcome).toBe('open');
    expect(ws(result, 'new-ticket').outcome).toBe('refused');
    const used = seen
      .filter(({ method }) => method === 'UPGRADE')
      .map(({ url: path }) => path.split('ticket=')[1]);
    expect(new Set(used).size).toBe(used.length);
  });

  it('a gateway that takes it as a subprotocol only', async () => {
    const { url } = await gated({ subprotocol: true });
    const result = await look(url, { credential: login() });
    expect(ws(result)).toMatchObject({ outcome: 'refused' });
    expect(ws(result, 'subprotocol')).toMatchObject({
      outcome: 'open',
      credential: 'subprotocol-ticket',
      protocol: 'hermes-gateway-v1',
    });
    expect(result.facts.rpc.outcome).toBe('answered');
    expect(JSON.stringify(result.facts)).not.toContain('TICKET-');
  });

  it('cannot be had: the upgrade is tried with what there is', async () => {
    const { url } = await gated();
    const result = await look(url, { credential: token('a-session-token-of-old') });
    for (const id of ['auth-me', 'sessions', 'ws-ticket'])
      expect(http(result, id)).toMatchObject({ status: 401, credential: 'bearer' });
    expect(http(result, 'auth-me').body?.detail).toContain('no_cookie');
    expect(ws(result)).toMatchObject({ outcome: 'refused', bareRefusal: true, credential: 'bearer' });
  });

  it('an access token mints one', async () => {
    const { url } = await gated({ bearer: canary });
    const result = await look(url, { credential: token() });
    expect(http(result, 'sessions')).toMatchObject({ status: 200, credential: 'bearer' });
    expect(ws(result)).toMatchObject({ outcome: 'open', credential: 'ticket' });
    expect(result.used).toEqual({ kind: 'bearer', token: canary });
  });
});
