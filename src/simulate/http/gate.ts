import { randomBytes } from 'node:crypto';
import { sameSecret } from '../world.ts';
import type { Gate, World } from '../world.ts';
import { detail, html, json, redirect, text } from './answer.ts';
import type { Answer } from './answer.ts';
import { loginPage, noLoginPage } from './pages.ts';
import type { Request } from './request.ts';

/** The login of gated mode: cookies, tickets, and who a request is. */

const accessSeconds = 43_200;
const refreshSeconds = 2_592_000;
const ticketSeconds = 30;
const attemptsPerMinute = 10;

const cookieNames = (world: World): string[] => [
  'hermes_session_at',
  'hermes_session_rt',
  ...(world.release.gate?.providerCookie === true ? ['hermes_session_provider'] : []),
];

/** Cookies by name without `__Host-` and `__Secure-`: every kind is accepted. */
const readCookies = (request: Request): Map<string, string> =>
  new Map(
    (request.headers.cookie ?? '').split(';').flatMap((pair): [string, string][] => {
      const at = pair.indexOf('=');
      if (at < 0) return [];
      const name = pair
        .slice(0, at)
        .trim()
        .replace(/^__(Host|Secure)-/, '');
      return [
        [
          name,
          pair
            .slice(at + 1)
            .trim()
            .replace(/^"(.*)"$/, '$1'),
        ],
      ];
    }),
  );

const cookie = (request: Request, name: string, value: string, seconds: number): string => {
  const kind = !request.https ? '' : request.basePath === '' ? '__Host-' : '__Secure-';
  const path = request.basePath === '' ? '/' : request.basePath;
  const secure = request.https ? '; Secure' : '';
  return `${kind}${name}=${value}; HttpOnly; Max-Age=${seconds}; Path=${path}; SameSite=lax${secure}`;
};

const freshToken = (kind: string): string =>
  Buffer.concat([Buffer.from(JSON.stringify({ kind })), randomBytes(32)]).toString('base64url');

const issueCookies = (world: World, gate: Gate, request: Request): string[] => {
  const access = `${freshToken('access')}=`;
  const refresh = freshToken('refresh');
  gate.access.add(access);
  gate.refresh.add(refresh);
  const values = [`"${access}"`, refresh, 'basic'];
  return cookieNames(world).map((name, i) =>
    cookie(request, name, values[i] ?? '', i === 0 ? accessSeconds : refreshSeconds),
  );
};

/** Deletes every kind of every cookie, in the order of the release. */
const deletions = (world: World, request: Request, more: string[] = []): string[] => {
  const kinds = ['__Host-', '__Secure-', ''];
  const path = request.basePath === '' ? '/' : request.basePath;
  const secureKinds = world.release.gate?.secureDeletions === true;
  const one = (kind: string, name: string): string =>
    `${kind}${name}=""; HttpOnly; Max-Age=0; Path=${path}; SameSite=${secureKinds && kind !== '' && name.endsWith('pkce') ? 'none' : 'lax'}${secureKinds && kind !== '' ? '; Secure' : ''}`;
  const names = cookieNames(world);
  const session = secureKinds
    ? names.flatMap((name) => kinds.map((kind) => one(kind, name)))
    : kinds.flatMap((kind) => names.map((name) => one(kind, name)));
  return [...session, ...more.flatMap((name) => kinds.map((kind) => one(kind, name)))];
};

export type Who =
  | { in: true; setCookies: string[] }
  | { in: false; reason: 'no_cookie' | 'invalid_or_expired_session'; deleteCookies: boolean };

const bearerOf = (request: Request): string | null =>
  /^Bearer\s+"?([^\s"]+)"?$/i.exec(request.headers.authorization ?? '')?.[1] ?? null;

/** Login cookies of an older release lack the provider's name; it is added. */
const providerCookie = (world: World, request: Request, cookies: Map<string, string>): string[] =>
  world.release.gate?.providerCookie !== true || cookies.has('hermes_session_provider')
    ? []
    : [cookie(request, 'hermes_session_provider', 'basic', refreshSeconds)];

/** Who sends this request. A refresh cookie alone is enough; it brings new cookies. */
export const identify = (world: World, gate: Gate, request: Request): Who => {
  const cookies = readCookies(request);
  const access = cookies.get('hermes_session_at');
  if (access !== undefined && gate.access.has(access))
    return { in: true, setCookies: providerCookie(world, request, cookies) };
  const refresh = cookies.get('hermes_session_rt');
  if (refresh !== undefined && gate.refresh.has(refresh))
    return { in: true, setCookies: issueCookies(world, gate, request) };
  const bearer = world.release.gate?.bearer === true ? bearerOf(request) : null;
  if (bearer !== null && gate.access.has(bearer)) return { in: true, setCookies: [] };
  const reason = bearer !== null || access !== undefined || refresh !== undefined;
  return {
    in: false,
    reason: reason ? 'invalid_or_expired_session' : 'no_cookie',
    deleteCookies: access !== undefined || refresh !== undefined,
  };
};

/** What a request without login gets: JSON for the API, a way to the login for pages. */
export const refuse = (world: World, request: Request, who: Extract<Who, { in: false }>): Answer => {
  const headers: Record<string, string[]> = who.deleteCookies
    ? { 'set-cookie': deletions(world, request) }
    : {};
  if (!request.path.startsWith('/api/')) return leadToLogin(world, request);
  const error = who.reason === 'no_cookie' ? 'unauthenticated' : 'session_expired';
  const login = `${request.basePath}/login`;
  return json(401, { error, detail: 'Unauthorized', reason: who.reason, login_url: login }, headers);
};

const leadToLogin = (world: World, request: Request): Answer => {
  const { basePath, path } = request;
  const toLogin = world.release.gate?.pagesLeadTo === 'login';
  const nowhere = path.startsWith('//');
  if (nowhere && toLogin) return redirect(`${basePath}/login`);
  const next = encodeURIComponent(world.release.gate?.prefixedNext === true ? `${basePath}${path}` : path);
  if (toLogin) return redirect(`${basePath}/login?next=${next}`);
  const attempt = cookie({ ...request, https: false }, 'hermes_sso_attempt', '1', 60);
  return redirect(`${basePath}/auth/login?provider=basic${nowhere ? '' : `&next=${next}`}`, {
    'set-cookie': [attempt],
  });
};

const missing = (body: Record<string, unknown>): unknown[] =>
  ['provider', 'username', 'password']
    .filter((name) => body[name] === undefined)
    .map((name) => ({ type: 'missing', loc: ['body', name], msg: 'Field required', input: body }));

const readJson = (request: Request): unknown => {
  if (!/\bjson\b/i.test(request.headers['content-type'] ?? '')) return request.body.toString();
  try {
    return JSON.parse(request.body.toString('utf8'));
  } catch {
    return request.body.toString();
  }
};

const tooMany = (gate: Gate): boolean => {
  const minute = Date.now() - 60_000;
  gate.attempts = [...gate.attempts.filter((at) => at > minute), Date.now()];
  return gate.attempts.length > attemptsPerMinute;
};

/** `POST /auth/password-login`. Right attempts count for the limit too. */
export const passwordLogin = (world: World, request: Request): Answer => {
  const body = readJson(request);
  if (typeof body !== 'object' || body === null)
    return detail(422, [
      {
        type: 'model_attributes_type',
        loc: ['body'],
        msg: 'Input should be a valid dictionary or object to extract fields from',
        input: body,
      },
    ]);
  const fields = body as Record<string, unknown>;
  const absent = missing(fields);
  if (absent.length > 0) return detail(422, absent);
  const { gate } = world;
  if (gate !== null && tooMany(gate)) return detail(429, 'Too many login attempts. Try again shortly.');
  if (gate === null || fields['provider'] !== 'basic') return detail(404, 'Unknown provider');
  const right =
    sameSecret(String(fields['username']), gate.username) &&
    sameSecret(String(fields['password']), gate.password);
  if (!right) return detail(401, 'Invalid credentials');
  const wanted = typeof fields['next'] === 'string' && fields['next'] !== '' ? fields['next'] : '/';
  const next =
    world.release.gate?.prefixedNext === true && wanted !== '/' ? `${request.basePath}${wanted}` : wanted;
  return json(200, { ok: true, next }, { 'set-cookie': issueCookies(world, gate, request) });
};

/** `POST /api/auth/ws-ticket`, for who is logged in. */
export const mintTicket = (gate: Gate): Answer => {
  const ticket = randomBytes(32).toString('base64url');
  gate.tickets.set(ticket, Date.now() + ticketSeconds * 1000);
  return json(200, { ticket, ttl_seconds: ticketSeconds });
};

/** Takes a ticket for good; true when it was valid. */
export const burnTicket = (gate: Gate, ticket: string): boolean => {
  const ends = gate.tickets.get(ticket);
  gate.tickets.delete(ticket);
  return ends !== undefined && ends > Date.now();
};

export const me = (world: World): Answer => {
  if (world.gate !== null) {
    const name = world.gate.username;
    const expires = Math.floor(Date.now() / 1000) + accessSeconds;
    return json(200, {
      user_id: name,
      email: '',
      display_name: name,
      org_id: '',
      provider: 'basic',
      expires_at: expires,
    });
  }
  if (world.release.meWithoutGate === 'unauthorized') return detail(401, 'Unauthorized');
  const local = { user_id: 'local', email: '', display_name: 'Local', org_id: '' };
  return json(200, { ...local, provider: 'loopback', expires_at: 0 });
};

export const providers = (world: World): Answer =>
  world.gate === null
    ? detail(503, 'no auth providers registered')
    : json(200, {
        providers: [{ name: 'basic', display_name: 'Username & Password', supports_password: true }],
      });

/** `GET /login`, which is there without a gate too. */
export const loginForm = (world: World): Answer => ({
  ...html(200, world.gate === null ? noLoginPage : loginPage),
  headers: { 'cache-control': 'no-store, no-cache, must-revalidate' },
});

/** `GET /auth/login`: a provider with passwords has no page of its own; up to 0.18 that is a crash. */
export const providerLogin = (world: World): Answer =>
  world.release.gate?.providerCookie === true ? redirect('/login') : text(500, 'Internal Server Error');

/** The access cookie stays valid: the engine keeps no list of them. */
export const logout = (world: World, request: Request): Answer =>
  redirect(`${request.basePath}/login`, {
    'set-cookie': deletions(world, request, ['hermes_session_pkce']),
  });
