import { field } from './json.ts';
import { type CookieJar, cookieJar } from './cookies.ts';
import { type Got, get, skip } from './http.ts';
import type { Run } from './run.ts';
import type { HttpFact } from './exchange-schema.ts';
import type { CredentialFact } from './schema.ts';
import type { UsedCredential } from './types.ts';

/** How protected things are asked. */
export interface Access {
  kind: HttpFact['credential'];
  /** Headers of a REST request, and of an upgrade beside what its URL carries. */
  headers(): Record<string, string>;
  /** The session token of an ungated dashboard, or what was given as one. */
  token: string | null;
  /** A new ticket for one upgrade; null where there is no way to one. */
  ticket: (() => Promise<string | null>) | null;
  used: UsedCredential;
}

export const noAccess: Access = {
  kind: 'none',
  headers: () => ({}),
  token: null,
  ticket: null,
  used: { kind: 'none' },
};

export const tokenAccess = (token: string): Access => ({
  kind: 'token',
  headers: () => ({ 'X-Hermes-Session-Token': token }),
  token,
  ticket: null,
  used: { kind: 'token', token },
});

/** An access token of a login, or a session token that a gated dashboard will refuse: both go as Bearer, and the answers tell. */
export const bearerAccess = (run: Run, token: string): Access => {
  const headers = { Authorization: `Bearer ${token}` };
  return {
    kind: 'bearer',
    headers: () => headers,
    token,
    ticket: () => mintTicket(run, 'bearer', headers),
    used: { kind: 'bearer', token },
  };
};

function cookieAccess(run: Run, jar: CookieJar): Access {
  const headers = (): Record<string, string> => {
    const cookie = jar.header();
    return cookie === null ? {} : { Cookie: cookie };
  };
  return {
    kind: 'cookie',
    headers,
    token: null,
    ticket: () => mintTicket(run, 'cookie', headers()),
    used: { kind: 'cookie', cookie: jar.header() ?? '' },
  };
}

/** POST /api/auth/ws-ticket: single use, 30 s. Auth runs before the other guards, so every refused upgrade has burnt its ticket. */
async function mintTicket(
  run: Run,
  kind: HttpFact['credential'],
  headers: Record<string, string>,
): Promise<string | null> {
  const { json, fact } = await get(run, {
    id: 'ws-ticket',
    path: '/api/auth/ws-ticket',
    method: 'POST',
    credential: kind,
    headers,
    body: '',
  });
  const ticket = field(json, 'ticket');
  if (fact.status !== 200 || typeof ticket !== 'string' || !/^[\u0021-\u007e]{1,1024}$/.test(ticket))
    return null;
  run.redact.hide(ticket);
  return ticket;
}

type Login = NonNullable<CredentialFact['login']>;

interface Provider {
  name: string;
  password: boolean;
}

/** Which ways to log in there are; asked of a gated dashboard always. */
async function providersOf(run: Run): Promise<Provider[]> {
  const { json } = await get(run, { id: 'auth-providers', path: '/api/auth/providers', public: true });
  const list = field(json, 'providers');
  if (!Array.isArray(list)) return [];
  return list
    .slice(0, 20)
    .map((each: unknown) => ({
      name: field(each, 'name'),
      password: field(each, 'supports_password') === true,
    }))
    .filter((each): each is Provider => typeof each.name === 'string');
}

/** Access to a gated dashboard. One attempt: the engine allows ten a minute, good ones included. */
export async function gatedAccess(run: Run): Promise<{ access: Access; login: Login }> {
  const offered = await providersOf(run);
  const providers = offered.map(({ name, password }) => ({ name: run.redact.text(name, 60), password }));
  const { credential } = run.input;
  const notTried = (detail: string | null): Login => ({ outcome: 'not-tried', providers, detail });
  if (credential === null) return { access: noAccess, login: notTried(null) };
  if (credential.kind === 'token')
    return { access: bearerAccess(run, credential.secret), login: notTried(null) };
  const provider = offered.find(({ password }) => password)?.name ?? (offered.length === 0 ? 'basic' : null);
  if (provider === null) {
    skip(run, { id: 'login', path: loginPath, method: 'POST' }, 'no provider takes a password');
    return { access: noAccess, login: { outcome: 'needs-browser', providers, detail: null } };
  }
  const jar = cookieJar(run.redact);
  const answer = await get(run, {
    id: 'login',
    path: loginPath,
    method: 'POST',
    body: JSON.stringify({
      provider,
      username: credential.username ?? '',
      password: credential.secret,
      next: '',
    }),
  });
  jar.take(answer.headers);
  const outcome = outcomeOf(answer, jar);
  const login: Login = {
    outcome,
    providers,
    detail: outcome === 'ok' ? null : (answer.fact.body?.detail ?? null),
  };
  return { access: jar.header() === null ? noAccess : cookieAccess(run, jar), login };
}

const loginPath = '/auth/password-login';

function outcomeOf({ fact, json }: Got, jar: CookieJar): Login['outcome'] {
  if (fact.status === 429) return 'rate-limited';
  if (fact.status === 401) return 'rejected';
  return fact.status === 200 && field(json, 'ok') === true && jar.header() !== null ? 'ok' : 'failed';
}
