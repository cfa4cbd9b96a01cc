import { detail, json } from '../http/answer.ts';
import type { Answer } from '../http/answer.ts';
import type { Request } from '../http/request.ts';
import type { Fault } from './fault.ts';

/** Values that an engine would not send, in the right places. */

type Json = Record<string, unknown>;

const inStatus =
  (change: (status: Json) => Json) =>
  (answer: Answer, request: Request): Answer => {
    if (request.path !== '/api/status' || answer.type !== 'application/json') return answer;
    const status = JSON.parse(answer.body.toString()) as Json;
    return { ...answer, body: JSON.stringify(change(status)) };
  };

const inPage =
  (change: (body: string) => string) =>
  (answer: Answer): Answer =>
    answer.type?.startsWith('text/html') === true
      ? { ...answer, body: change(answer.body.toString()) }
      : answer;

/** Escape sequence, colour, carriage return and a workflow command: what a terminal or CI must not obey. */
const hostile = '\u001b]0;owned\u0007\u001b[31m0.19.0\r\n::error::owned%0A<script>alert(1)</script>\u202e';

const raw = Symbol('raw');

/** Puts a value, or raw JSON text, where the contract stands. */
const contract = (name: string, says: string, value: unknown): Fault => ({
  name,
  says,
  frame: (frame) => {
    const result = frame['result'] as Json | undefined;
    const info = result?.['info'] as Json | undefined;
    if (info === undefined || result === undefined) return frame;
    const text =
      typeof value === 'object' && value !== null && raw in value ? String(value[raw as never]) : null;
    const put = text === null ? value : '@contract@';
    const changed = { ...frame, result: { ...result, info: { ...info, desktop_contract: put } } };
    return text === null ? changed : JSON.stringify(changed).replace('"@contract@"', text);
  },
});

const contracts: readonly Fault[] = [
  contract('contract-text', 'the contract is text', '8'),
  contract('contract-null', 'the contract is null', null),
  contract('contract-true', 'the contract is true', true),
  contract('contract-list', 'the contract is a list', [8]),
  contract('contract-fraction', 'the contract is 7.5', 7.5),
  contract('contract-infinite', 'the contract is 1e309', { [raw]: '1e309' }),
  contract('contract-negative', 'the contract is -1', -1),
  contract('contract-enormous', 'the contract has 400 digits', { [raw]: '9'.repeat(400) }),
  contract('contract-newer', 'the contract is far above what is known', 99),
  contract('contract-missing', 'the contract is not there', undefined),
];

const versions: readonly Fault[] = [
  {
    name: 'version-junk',
    says: 'the version cannot be read',
    answer: inStatus((status) => ({ ...status, version: 'main-dirty' })),
  },
  {
    name: 'version-missing',
    says: 'status has no version',
    answer: inStatus((status) => ({ ...status, version: undefined })),
  },
  {
    name: 'version-long',
    says: 'the version is a megabyte long',
    answer: inStatus((status) => ({ ...status, version: `0.19.0+${'a'.repeat(1_000_000)}` })),
  },
  {
    name: 'version-escapes',
    says: 'control characters, markup and commands in fields and frames',
    answer: inStatus((status) => ({
      ...status,
      version: hostile,
      release_date: hostile,
      [hostile]: hostile,
    })),
    frame: (frame) =>
      'id' in frame
        ? { ...frame, error: { code: -32601, message: hostile } }
        : { ...frame, params: { ...(frame['params'] as Json), type: hostile } },
  },
  {
    name: 'wrong-types',
    says: 'known fields of status have other types',
    answer: inStatus((status) => ({
      ...status,
      version: 19,
      auth_required: 'false',
      auth_providers: 'basic',
      gateway_running: 1,
      active_sessions: [],
      hermes_home: { path: '/' },
    })),
  },
  {
    name: 'proto-keys',
    says: 'keys that reach the prototype of objects',
    answer: (answer, request) =>
      request.path === '/api/status'
        ? {
            ...answer,
            body: answer.body.toString().replace('{', '{"__proto__":{"polluted":true},"constructor":1,'),
          }
        : answer,
    frame: (frame) => JSON.stringify(frame).replace('{', '{"__proto__":{"polluted":true},'),
  },
];

const pages: readonly Fault[] = [
  {
    name: 'stale-token',
    says: 'the page names a token that is no longer valid',
    answer: inPage((body) =>
      body.replace(/(__HERMES_SESSION_TOKEN__=")[^"]*/, '$1stale-token-of-another-process'),
    ),
  },
  {
    name: 'no-token-in-page',
    says: 'the page holds no token',
    answer: inPage((body) => body.replace(/window\.__HERMES_SESSION_TOKEN__="[^"]*";/, '')),
  },
  {
    name: 'broken-script',
    says: "the page's script is not where the page says",
    answer: (answer, request) =>
      request.path.startsWith('/assets/')
        ? { status: 404, type: 'application/json', body: '{"detail":"Not Found"}' }
        : answer,
  },
  {
    name: 'wrong-base-path',
    says: 'the page believes that it stands below /elsewhere',
    see: (request) => ({ ...request, basePath: '/elsewhere' }),
  },
];

/** A ticket that the engine never made. */
const spendTicket = (request: Request): Request => {
  const query = new URLSearchParams(request.query);
  if (query.has('ticket')) query.set('ticket', 'spent');
  return { ...request, query };
};

const onPath =
  (pattern: RegExp, change: (answer: Answer) => Answer) =>
  (answer: Answer, request: Request): Answer =>
    pattern.test(request.path) ? change(answer) : answer;

const sessionExpired =
  '{"error":"session_expired","detail":"Unauthorized","reason":"invalid_or_expired_session","login_url":"/login"}';

const credentials: readonly Fault[] = [
  {
    name: 'open-reads',
    says: 'protected endpoints answer without any credential',
    see: (request, upgrade, site) =>
      upgrade
        ? request
        : { ...request, headers: { ...request.headers, 'x-hermes-session-token': site.token } },
  },
  {
    name: 'secure-cookie',
    says: 'login cookies are marked Secure although the site is plain HTTP; browsers mind it beyond loopback',
    see: (request) => ({ ...request, https: true }),
  },
  {
    name: 'cookie-elsewhere',
    says: 'login cookies are for the path /elsewhere',
    answer: onPath(/^\/auth\/password-login$/, (answer) => {
      const cookies = answer.headers?.['set-cookie'] ?? [];
      const moved = [cookies].flat().map((cookie) => cookie.replace('Path=/', 'Path=/elsewhere'));
      return { ...answer, headers: { ...answer.headers, 'set-cookie': moved } };
    }),
  },
  {
    name: 'login-limited',
    says: 'too many logins were tried',
    answer: onPath(/^\/auth\/password-login$/, () =>
      detail(429, 'Too many login attempts. Try again shortly.'),
    ),
  },
  {
    name: 'login-in-browser',
    says: 'the only login provider needs a browser',
    answer: onPath(/^\/api\/auth\/providers$/, () =>
      json(200, { providers: [{ name: 'nous', display_name: 'Nous Portal', supports_password: false }] }),
    ),
  },
  {
    name: 'session-rejected',
    says: 'the login works, and its cookie is refused',
    answer: onPath(/^\/api\/(sessions|auth\/(me|ws-ticket))/, (answer) => ({
      ...answer,
      status: 401,
      body: sessionExpired,
    })),
  },
  {
    name: 'spent-ticket',
    says: 'the first ticket is spent before it is used',
    see: (request, upgrade, site) => (upgrade && site.upgrades === 1 ? spendTicket(request) : request),
  },
  {
    name: 'dead-tickets',
    says: 'no ticket is ever accepted',
    see: (request, upgrade) => (upgrade ? spendTicket(request) : request),
  },
];

export const fieldFaults: readonly Fault[] = [...versions, ...contracts, ...pages, ...credentials];
