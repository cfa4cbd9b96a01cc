import type { HttpFact } from '../probe/exchange-schema.ts';
import type { Draft } from './draft.ts';
import { draft } from './draft.ts';
import type { Reading } from './reading.ts';
import { proxyRemedies } from './remedies/proxy.ts';
import { inner, sawHttp, sawWs } from './saw.ts';
import type { Standing } from './standing.ts';

/** Rows 17 to 19 of the decision table: a dashboard that wants a login, then a ticket for each WebSocket. */

type Login = NonNullable<Reading['facts']['credential']['login']>;

const providersOf = (reading: Reading): string[] => {
  const seen = reading.facts.credential.login?.providers.map((provider) => provider.name) ?? [];
  return seen.length > 0 ? seen : (reading.facts.status?.authProviders ?? []);
};

const needsBrowser = (login: Login | null): boolean =>
  login !== null && login.providers.length > 0 && !login.providers.some((provider) => provider.password);

export function gatedStanding(reading: Reading): Standing {
  const { credential } = reading.facts;
  const proof = reading.http('sessions');
  if (proof?.status === 200 && proof.body?.kind === 'json') return ticketStanding(reading);
  const no = (found: Draft): Standing => ({ ok: 'no', drafts: [found] });
  if (credential.kind === 'none') return no(withoutLogin(reading));
  if (credential.kind === 'token') return no(tokenAtGate(reading, proof));
  const { login } = credential;
  if (login !== null && login.outcome !== 'ok') return no(loginFailed(reading, login));
  if (proof?.status === 401) return no(sessionRefused(reading, proof));
  return { ok: 'unknown', drafts: [] };
}

/** Row 19: the session is good and the ticket was not, because a fresh one opened. */
function ticketStanding(reading: Reading): Standing {
  // As it was asked first: that a subprotocol opened later excuses nothing.
  const main = reading.facts.ws.find(({ id, outcome }) => id === 'main' && outcome !== 'skipped');
  const fresh = reading.ws('new-ticket');
  if (main?.outcome !== 'refused' || !main.bareRefusal || fresh?.outcome !== 'open')
    return { ok: 'yes', drafts: [] };
  return {
    ok: 'yes',
    drafts: [draft('TICKET_USED_OR_EXPIRED', { evidence: [sawWs(main), sawWs(fresh)] })],
  };
}

const gateEvidence = (reading: Reading): string[] => [
  '/api/status says auth_required: true',
  ...[reading.http('sessions'), reading.http('sessions-bare')]
    .filter((fact) => fact !== null)
    .slice(0, 1)
    .map(sawHttp),
];

function withoutLogin(reading: Reading): Draft {
  const code = needsBrowser(reading.facts.credential.login) ? 'LOGIN_NEEDS_BROWSER' : 'LOGIN_REQUIRED';
  return draft(code, { args: { providers: providersOf(reading) }, evidence: gateEvidence(reading) });
}

function tokenAtGate(reading: Reading, proof: HttpFact | null): Draft {
  const ws = reading.ws('main');
  return draft('AUTH_MODE_MISMATCH', {
    confidence: proof === null ? 'likely' : 'certain',
    args: { given: 'token', wanted: 'login', providers: providersOf(reading) },
    evidence: [...gateEvidence(reading), ...(ws === null ? [] : [sawWs(ws)])],
  });
}

function loginFailed(reading: Reading, login: Login): Draft {
  const codes: Record<Exclude<Login['outcome'], 'ok'>, string> = {
    rejected: 'LOGIN_REJECTED',
    'rate-limited': 'LOGIN_RATE_LIMITED',
    'needs-browser': 'LOGIN_NEEDS_BROWSER',
    failed: 'LOGIN_REJECTED',
    'not-tried': 'LOGIN_REQUIRED',
  };
  const outcome = login.outcome === 'ok' ? 'failed' : login.outcome;
  const detail = login.detail === null ? null : inner(login.detail);
  return draft(codes[outcome], {
    confidence: outcome === 'failed' ? 'likely' : 'certain',
    args: { providers: providersOf(reading), detail, outcome },
    evidence: [
      '/api/status says auth_required: true',
      `the login ${outcome === 'not-tried' ? 'was not tried' : `ended as ${outcome}`}${detail === null ? '' : `: ${detail}`}`,
    ],
  });
}

/** Row 18. The engine says `no_cookie` when the cookie did not arrive and `session_expired` when it is not good any more. */
function sessionRefused(reading: Reading, proof: HttpFact): Draft {
  const cookieArrived = !/no_cookie/.test(proof.body?.detail ?? '');
  return draft(cookieArrived ? 'SESSION_REJECTED' : 'LOGIN_REQUIRED', {
    args: { providers: providersOf(reading), reason: cookieArrived ? 'session_expired' : 'no_cookie' },
    evidence: gateEvidence(reading),
    remedies: cookieArrived ? [] : proxyRemedies(reading, 'cookie'),
  });
}
