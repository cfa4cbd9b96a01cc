import type { HttpFact } from '../probe/exchange-schema.ts';
import type { Draft } from './draft.ts';
import { draft } from './draft.ts';
import { hostRejected } from './host-guard.ts';
import { saysHaproxy } from './proxy-seen.ts';
import type { Reading } from './reading.ts';
import { redirectDrafts } from './reach-redirect.ts';
import { basicAuthLines, gatewayLines, headerFile } from './remedies/header-file.ts';
import { onHost } from './remedies/commands.ts';
import { launch } from './remedies/launch.ts';
import { pathPrefix, proxyRemedies } from './remedies/proxy.ts';
import { sawHttp } from './saw.ts';

/** Rows 3 to 13 of the decision table: something answered `GET /api/status`. An empty list is the engine's own answer. */

/** JSON errors that only the engine writes for a path that it does not have. */
export const engineNotFound = /Frontend not built|Headless backend|No such API endpoint/;

const loginTitle = /log[\s-]?in|sign[\s-]?in|sso|authenticat|authoriz|access|verif|just a moment|challenge/i;
const proxyServer =
  /nginx|caddy|apache|haproxy|traefik|envoy|openresty|cloudflare|litespeed|varnish|awselb|akamai/i;

interface Answer {
  fact: HttpFact;
  status: number;
  detail: string;
  url: string;
  reading: Reading;
}

const say = (answer: Answer, code: string, options: Parameters<typeof draft>[1] = {}): Draft =>
  draft(code, {
    ...options,
    args: { url: answer.url, status: answer.status, ...options.args },
    evidence: [sawHttp(answer.fact), ...(options.evidence ?? [])],
  });

export function answerDrafts(fact: HttpFact, reading: Reading): Draft[] {
  const answer: Answer = {
    fact,
    status: fact.status ?? 0,
    detail: fact.body?.detail ?? '',
    url: reading.facts.service?.url ?? fact.url,
    reading,
  };
  const { status } = answer;
  if (status >= 300 && status < 400) return redirectDrafts(fact, answer.url, loginRemedies(reading, fact));
  if (status === 404) return notFound(answer);
  if (status >= 500) return serverError(answer);
  if (status >= 400) return refused(answer);
  return success(answer);
}

function refused(answer: Answer): Draft[] {
  const { fact, status, detail } = answer;
  if (status === 400 && /Invalid Host header/i.test(detail))
    return [hostRejected(answer.reading, fact, answer.reading.http('status-loopback-host'))];
  if (
    /sent to (an )?HTTPS (port|server)|HTTP request to an HTTPS server/i.test(
      `${detail} ${fact.body?.title ?? ''}`,
    )
  )
    return [say(answer, 'HTTP_TO_TLS')];
  if (/No required SSL certificate|SSL certificate error/i.test(`${detail} ${fact.body?.title ?? ''}`))
    return [say(answer, 'MTLS_REQUIRED')];
  if (status === 401 && fact.headers?.wwwAuthenticate != null)
    return [
      say(answer, 'PROXY_BASIC_AUTH', {
        args: { challenge: fact.headers.wwwAuthenticate },
        remedies: [headerFile(answer.reading, basicAuthLines), ...proxyRemedies(answer.reading, 'login')],
      }),
    ];
  // The engine itself refuses what it does not have below /api/; it does so to nobody at the right path.
  const root = status === 429 ? null : withoutPrefix(answer);
  if (root !== null) return root;
  return [
    say(answer, 'EDGE_REFUSES_HTTP', {
      confidence: [401, 403, 429].includes(status) ? 'certain' : 'likely',
      retryable: status === 429,
      args: { retryAfter: fact.headers?.retryAfter ?? null, cloudflare: fact.headers?.cfRay ?? false },
    }),
  ];
}

function apiServer(answer: Answer): Draft[] | null {
  const health = answer.reading.http('api-server-health');
  if (health?.status !== 200 || health.body?.keys.includes('platform') !== true) return null;
  return [say(answer, 'API_SERVER_NOT_DASHBOARD', { evidence: [sawHttp(health)] })];
}

/** The same question at the root of the address, when it was given with a path. */
function withoutPrefix(answer: Answer): Draft[] | null {
  const root = answer.reading.http('status-root');
  if (root?.status !== 200 || root.body?.keys.includes('version') !== true) return null;
  const use = /^[a-z]+:\/\/[^/?#]+/i.exec(root.url)?.[0] ?? null;
  return [say(answer, 'WRONG_PATH', { args: { answeredBy: null, use }, evidence: [sawHttp(root)] })];
}

function notFound(answer: Answer): Draft[] {
  const { fact, detail } = answer;
  const api = apiServer(answer) ?? withoutPrefix(answer);
  if (api !== null) return api;
  if (engineNotFound.test(detail)) return [say(answer, 'WRONG_PATH', { args: { answeredBy: 'engine' } })];
  if (fact.body?.kind === 'json' || fact.headers?.cfRay === true)
    return [say(answer, 'EDGE_REFUSES_HTTP', { confidence: 'likely', args: { retryAfter: null } })];
  const servers = saysHaproxy(answer.reading) ? ['haproxy'] : (fact.headers?.server ?? []);
  if (servers.some((server) => proxyServer.test(server)))
    return [say(answer, 'WRONG_PATH', { confidence: 'likely', args: { answeredBy: servers.join(', ') } })];
  return [
    say(answer, 'WRONG_SERVICE', { confidence: 'likely', args: serviceArgs(fact) }),
    say(answer, 'WRONG_PATH', { confidence: 'possible', args: { answeredBy: servers.join(', ') || null } }),
  ];
}

function serverError(answer: Answer): Draft[] {
  const { fact, status } = answer;
  const byEngine =
    answer.reading.facts.service?.proxied === 'no' || fact.headers?.server.includes('uvicorn') === true;
  const gateway = [502, 503, 504].includes(status) || (status >= 520 && status <= 530);
  if (gateway && fact.body?.kind !== 'json')
    return [
      say(answer, 'UPSTREAM_DOWN', {
        // The port of the address is the proxy's own: which one the dashboard shall have is not known.
        remedies: [
          { ...launch(answer.reading), commands: [onHost('launch')] },
          ...proxyRemedies(answer.reading, 'upstream'),
        ],
      }),
    ];
  return [say(answer, 'ENGINE_ERROR', { confidence: byEngine ? 'certain' : 'likely' })];
}

/** A service passes a login by its headers; else the API, which asks for a credential of its own, is let through there. */
const loginRemedies = (reading: Reading, fact: HttpFact): Draft['remedies'] => [
  headerFile(reading, gatewayLines(fact.headers?.cfRay === true)),
  ...proxyRemedies(reading, 'login'),
];

function success(answer: Answer): Draft[] {
  const { fact } = answer;
  const { body } = fact;
  if (body === null) return [say(answer, 'RESPONSE_INVALID', { args: { problem: 'unread' } })];
  if (body.page !== null) return pageInstead(answer);
  if (body.problem !== null) return [say(answer, 'RESPONSE_INVALID', { args: { problem: body.problem } })];
  if (body.kind === 'empty') return [say(answer, 'NO_SITE', { confidence: 'likely' })];
  if (body.kind === 'html' && body.title !== null && loginTitle.test(body.title))
    return [
      say(answer, 'EDGE_LOGIN', {
        confidence: 'likely',
        args: { title: body.title, location: null },
        remedies: loginRemedies(answer.reading, fact),
      }),
    ];
  if (body.kind !== 'json') return [say(answer, 'WRONG_SERVICE', { args: serviceArgs(fact) })];
  if (answer.reading.facts.status !== null) return [];
  return (
    apiServer(answer) ?? withoutPrefix(answer) ?? [say(answer, 'WRONG_SERVICE', { args: serviceArgs(fact) })]
  );
}

/** Row 10. When the root of the address answers too, the path may as well be one too many. */
function pageInstead(answer: Answer): Draft[] {
  const args = { doubleSlash: /[^:]\/\//.test(answer.fact.url) };
  const root = withoutPrefix(answer);
  const remedies =
    args.doubleSlash || pathPrefix(answer.url) === '' ? [] : proxyRemedies(answer.reading, 'prefix');
  if (root === null) return [say(answer, 'PREFIX_NOT_STRIPPED', { args, remedies })];
  return [
    ...root.map((each) => ({ ...each, confidence: 'likely' as const })),
    say(answer, 'PREFIX_NOT_STRIPPED', { confidence: 'possible', args, remedies }),
  ];
}

const serviceArgs = (fact: HttpFact): Draft['args'] => ({
  title: fact.body?.title ?? null,
  server: fact.headers?.server.join(', ') || null,
  contentType: fact.body?.contentType ?? null,
});
