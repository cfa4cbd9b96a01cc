import type { Host } from '../host/types.ts';
import type { LaunchFailure } from './classify.ts';
import { type Address, type GatewayAnswer, getText, tokenOfPage, tryGateway } from './gateway.ts';
import { isLoopback, type LaunchHome, type LaunchInstall } from './plan.ts';

/** The token with which /api/ws opens and answers, or why nobody here can tell. */
export type FoundToken =
  | { outcome: 'found'; token: string; ws: 'open'; why: null }
  | { outcome: 'found'; token: null; ws: 'unknown'; why: 'gated' | 'token-in-env-file' }
  | { outcome: 'failed'; failure: LaunchFailure };

interface About {
  install: LaunchInstall;
  home: LaunchHome;
  /** Address that it binds. */
  bind: string;
}

/** The first upgrade loads the whole agent: seconds on a cold machine. */
const patienceMs = 60_000;

/**
 * Tries the token that we gave, then the one in the page: that is the only one on 0.12–0.15, and `.env` may have replaced ours.
 * Never reads `.env`.
 */
export async function findToken(
  host: Host,
  at: Address,
  given: string | null,
  about: About,
  signal: AbortSignal,
): Promise<FoundToken> {
  const limit = (): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  const text = (path: string): Promise<string | null> => getText(host, at, path, limit()).catch(() => null);
  const answers: GatewayAnswer[] = [];
  const tried = async (token: string): Promise<FoundToken | null> => {
    const answer = await tryGateway(host, at, token, limit());
    answers.push(answer);
    return answer.state === 'open' ? { outcome: 'found', token, ws: 'open', why: null } : null;
  };
  const first = given === null ? null : await tried(given);
  if (first !== null) return first;
  if (/"auth_required"\s*:\s*true/.test((await text('/api/status')) ?? ''))
    return { outcome: 'found', token: null, ws: 'unknown', why: 'gated' };
  const page = (await text('/')) ?? '';
  const shown = tokenOfPage(page);
  const second = shown === null || shown === given ? null : await tried(shown);
  if (second !== null) return second;
  if (shown === null && about.home.envFile.sessionToken !== null)
    return { outcome: 'found', token: null, ws: 'unknown', why: 'token-in-env-file' };
  return { outcome: 'failed', failure: explain(answers, page, about) };
}

function explain(
  answers: readonly GatewayAnswer[],
  page: string,
  { install, home, bind }: About,
): LaunchFailure {
  const answer = answers.at(-1);
  const { version } = install;
  if (answer === undefined)
    return { code: 'WEB_BUILD_MISSING', args: { version, tokenInPage: true }, evidence: [] };
  const evidence = [describe(answer)];
  if (/__HERMES_DASHBOARD_EMBEDDED_CHAT__\s*=\s*false/.test(page))
    return {
      code: 'CHAT_DISABLED',
      args: { version, home: home.path, env: home.envFile.tui, openToNetwork: !isLoopback(bind) },
      evidence,
    };
  if (answer.state === 'silent') return { code: 'WS_SILENT', args: {}, evidence };
  // An upgrade that gets an ordinary answer never reached a WebSocket library.
  if (answer.state === 'refused' && answer.status !== 403)
    return { code: 'WS_LIB_MISSING', args: { status: answer.status }, evidence };
  return { code: 'WS_REFUSED', args: {}, evidence };
}

function describe(answer: GatewayAnswer): string {
  switch (answer.state) {
    case 'refused':
      return `the upgrade of /api/ws got HTTP ${answer.status}`;
    case 'silent':
      return '/api/ws opened, but did not answer a request';
    case 'failed':
      return `the upgrade of /api/ws failed: ${answer.message}`;
    case 'open':
      return '/api/ws opened and answered';
    default:
      return answer satisfies never;
  }
}
