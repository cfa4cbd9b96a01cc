import { sourceWords } from '../judge/source-words.ts';
import type { Args, Messages } from './message.ts';
import { has, value } from './message.ts';

const providers = (args: Args): string => value(args, 'providers', 'unknown');

/** We sent it; the engine says that none came. */
const isCookieLost = (args: Args): boolean => value(args, 'reason', '') === 'no_cookie';

const unreadable: Record<string, string> = {
  'web-build': 'the dashboard has no web build, so there is no page',
  headless: 'it runs headless and serves no page',
  gated: 'a page behind a login carries no token',
  'page-failed': 'the page could not be read',
  'no-token-in-page': 'the page carries no token',
};

const bySource: Record<string, string> = {
  page: 'The page and the API disagree: another process may answer on that port. Restart the dashboard and check again.',
  env: 'HERMES_COMPAT_TOKEN holds an old or foreign token. Up to 0.15 the token is new at every start.',
  'token-env': 'The variable holds an old or foreign token. Up to 0.15 the token is new at every start.',
  'token-file':
    'The file holds an old or foreign token; a restart of the dashboard makes a new one unless it was given one.',
  'token-stdin': 'The token on stdin is an old or foreign one.',
  'token-command': 'The command printed an old or foreign token.',
  'launch-record':
    'The dashboard is not the one that `hermes-compat launch` started any more. Launch it again.',
};

/** Token, login, ticket, cookie, and the engine’s guards on who asks. */
export const credentialMessages: Messages = {
  TOKEN_MISSING: {
    says: (args) =>
      has(args, 'apiServer')
        ? 'No key was given, and the API server asks for one'
        : 'No session token was given, and the dashboard asks for one',
    means: 'Everything except the status is closed without the token of this dashboard process.',
    seen: 'Protected reads answer 401 and no source gave a token; a remote page is not read for one.',
    todo: 'Give it with HERMES_COMPAT_TOKEN, --token-file, --token-env, --token-stdin or --token-command.',
  },
  TOKEN_REJECTED: {
    says: (args) =>
      `The ${has(args, 'apiServer') ? 'API server refuses the key' : 'dashboard refuses the token'}${has(args, 'source') ? ` from ${sourceWords(value(args, 'source', ''))}` : ''}${has(args, 'fingerprint') ? ` (fingerprint ${value(args, 'fingerprint', '')})` : ''}`,
    means: 'It belongs to another dashboard or to an earlier start of this one.',
    seen: 'A protected read answers 401 with it (GET /api/sessions).',
    todo: 'Take the token of the process that runs now; from 0.16 on `hermes-compat launch` starts it with a token of its own.',
    now: (args) =>
      (has(args, 'apiServer')
        ? 'It is the API_SERVER_KEY with which the gateway runs, not the token of the dashboard.'
        : bySource[value(args, 'source', '')]) ??
      'Take the token of the process that runs now; from 0.16 on a launch can set it.',
  },
  TOKEN_UNREADABLE: {
    says: (args) =>
      `No token was given and none can be read from the page: ${unreadable[value(args, 'why', '')] ?? 'it carries none'}`,
    means: 'The page is the only place where a running dashboard shows its token.',
    seen: 'No credential source had a token, and GET / had none for us either.',
    todo: 'Give the token with --token-file or HERMES_COMPAT_TOKEN, or start the dashboard with `hermes-compat launch`, which sets one.',
    now: (args) =>
      has(args, 'ignoresTokens')
        ? 'Up to 0.15 only the page shows the token: point HERMES_WEB_DIST to a web build and start it again, or update.'
        : 'Give the token with --token-file or HERMES_COMPAT_TOKEN, or start it so that it has a token of ours.',
  },
  TOKEN_NOT_PROVED: {
    says: () => 'The protected read answers without any credential, so the token is not proved',
    means:
      'Something lets every request through: an old release, a proxy that adds a credential, or another service.',
    seen: 'GET /api/sessions?limit=1 answers 200 without a credential.',
    todo: 'Find out what adds the credential, and whether everybody may use it.',
  },
  AUTH_MODE_MISMATCH: {
    says: (args) =>
      value(args, 'wanted', '') === 'login'
        ? `A session token was given, but this dashboard wants a login (providers: ${providers(args)})`
        : 'A login was given, but this dashboard takes its session token',
    means: 'Token and login are two modes; the dashboard has one of them on.',
    seen: '`auth_required` of /api/status, and the answer to the credential that was given.',
    todo: 'Give the other kind: --username with --password-file, or --token-file.',
    now: (args) =>
      value(args, 'wanted', '') === 'login'
        ? 'Give --username NAME with --password-file FILE (or -env, -stdin) instead of the token.'
        : 'Give the token with --token-file FILE or HERMES_COMPAT_TOKEN instead of the login.',
  },
  LOGIN_REQUIRED: {
    says: (args) =>
      isCookieLost(args)
        ? 'The login passes, and its cookie does not reach the dashboard with the next request'
        : `The dashboard wants a login (providers: ${providers(args)})`,
    means: 'It is bound beyond loopback, or has a public URL, so a login guards it.',
    seen: '/api/status says auth_required: true and no login was given, or its cookie did not arrive.',
    todo: 'Give --username NAME with --password-file FILE (or -env, -stdin).',
    now: (args) =>
      isCookieLost(args)
        ? 'Something on the way takes the Cookie header off, or the client does not send it: let it through.'
        : '',
  },
  LOGIN_REJECTED: {
    says: (args) =>
      value(args, 'outcome', '') === 'failed'
        ? `The login did not come about${has(args, 'detail') ? `: ${value(args, 'detail', '')}` : ''}`
        : `The dashboard refuses user name or password${has(args, 'detail') ? `: ${value(args, 'detail', '')}` : ''}`,
    means: 'No session was made, so nothing else could be checked.',
    seen: 'POST /auth/password-login answered something else than 200.',
    todo: 'Check user name and password; 0.23 sets a new one with `hermes dashboard password`. Ten attempts a minute are allowed.',
  },
  LOGIN_RATE_LIMITED: {
    says: () => 'The dashboard allows no login at the moment: too many attempts',
    means: 'Ten attempts a minute are allowed for one address, good ones included.',
    seen: 'POST /auth/password-login answered 429.',
    todo: 'Wait a minute, then check again; check that no client tries in a loop.',
  },
  LOGIN_NEEDS_BROWSER: {
    says: (args) => `Only a browser can log in here (providers: ${providers(args)})`,
    means: 'None of the providers takes a user name and a password from a program.',
    seen: '/api/auth/providers lists no provider with supports_password.',
    todo: 'Configure the basic provider beside it, or check from the machine itself over loopback.',
  },
  SESSION_REJECTED: {
    says: () => 'The login passed, but the session that it gave is refused',
    means: 'The session expired, was made with another secret, or the dashboard restarted since.',
    seen: 'GET /api/sessions with the cookie answers 401 session_expired.',
    todo: 'Log in again; set HERMES_DASHBOARD_BASIC_AUTH_SECRET so that sessions outlive a restart.',
  },
  TICKET_USED_OR_EXPIRED: {
    says: () => 'The WebSocket ticket was already used or too old; a new one opens the WebSocket',
    means:
      'A ticket is good for one attempt within 30 s, also when that attempt is refused for another reason.',
    seen: 'The upgrade was refused, and passed with a fresh ticket.',
    todo: 'Let the client ask for a new ticket for each attempt.',
  },
  COOKIE_NOT_STORED: {
    says: (args) =>
      `A browser will not keep the login cookie ${value(args, 'cookie', '')}: ${value(args, 'why', 'its attributes do not fit the address')}`,
    means: 'The login works when the cookie is replayed by hand, and fails in every browser and web view.',
    seen: 'The attributes of Set-Cookie compared with the address: Secure, Path, Domain, __Host- and __Secure-.',
    todo: 'Use https to the proxy and pass X-Forwarded-Proto and X-Forwarded-Prefix as the browser sees them.',
  },
  HOST_REJECTED: {
    says: (args) =>
      `The engine refuses the name ${value(args, 'host', 'in Host')}${has(args, 'onlyWebSocket') ? ' at the WebSocket' : ''}: it answers only to its own address`,
    means:
      'A guard against DNS rebinding: a loopback bind accepts 127.0.0.1 and localhost, a bind to an address only that one.',
    seen: '400 “Invalid Host header”, or a refused upgrade that passes with Host: 127.0.0.1.',
    todo: 'Let the proxy send the engine’s own address as Host; from 0.22 on set dashboard.public_url instead.',
  },
  ORIGIN_REJECTED: {
    says: (args) =>
      value(args, 'addedBy', '') === 'proxy'
        ? 'The engine refuses an Origin that a proxy adds or passes on'
        : `The engine refuses the Origin ${value(args, 'origin', '')}`,
    means:
      'A web Origin must be one of the engine’s own names; 0.15 also refuses null, file:// and app:// origins.',
    seen: 'The upgrade is refused with this Origin and opens without, or the engine logged origin_mismatch.',
    todo: 'Remove the Origin header in the proxy, or use the address that the Origin names; 0.16 and newer accept app origins.',
  },
  PEER_NOT_LOOPBACK: {
    says: (args) =>
      has(args, 'forwarded')
        ? 'The engine sees a peer that is not loopback; 0.14 and older believe X-Forwarded-For'
        : 'The engine sees a peer that is not loopback, and its WebSocket takes only loopback peers',
    means:
      'A dashboard bound to loopback lets only 127.0.0.1 and ::1 open a WebSocket; a container bridge is neither.',
    seen: 'The credential is good, the chat is on, and every WebSocket route refuses; or the log says peer_not_loopback.',
    todo: 'Connect from the same network namespace: a proxy or SSH tunnel on that machine, or bind and publish with a login.',
  },
};
