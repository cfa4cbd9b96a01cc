import { get, type Got, skip } from './http.ts';
import { protectedReads } from './reads.ts';
import type { Run } from './run.ts';
import { skipUpgrade } from './upgrade.ts';

/** What answers when no dashboard does. Bare requests only: no credential goes to something that is not known. */
export async function lookElsewhere(run: Run, status: Got): Promise<void> {
  const { fact } = status;
  if (fact.outcome !== 'answered') {
    // Servers that speak TLS often just close on a plain request.
    const isClosed = fact.error?.phase === 'first-byte' && /^(CLOSED|ECONNRESET)$/.test(fact.error.code);
    if (fact.error?.phase === 'tls' || (isClosed && !run.route.secure)) {
      const { inspect } = await import('./tls.ts');
      run.tls = await inspect({ ...run.route, secure: true }, run.all.signal);
    }
    return skipRest(run, 'status could not be asked', true);
  }
  const code = fact.status ?? 0;
  // A redirect, a demand for a login or a failing upstream says all that there is to say.
  const tells = code !== 401 && code !== 429 && code < 500 && (code < 300 || code >= 400);
  const atRoot = async (): Promise<unknown> =>
    run.base.prefix === ''
      ? null
      : get(run, { id: 'status-root', path: '/api/status', absolute: true, public: true });
  if (!tells) {
    if (code === 401) await atRoot();
    return skipRest(run, 'no Hermes dashboard answered', true);
  }
  const invalidHost = code === 400 && /invalid host/i.test(status.text?.slice(0, 1000) ?? '');
  await Promise.all([
    get(run, { id: 'page', path: '/', public: true }),
    get(run, { id: 'api-server-health', path: '/health', public: true }),
    atRoot(),
    invalidHost
      ? get(run, { id: 'status-loopback-host', path: '/api/status', host: '127.0.0.1', public: true })
      : null,
  ]);
  skipRest(run, 'no Hermes dashboard answered', false);
}

function skipRest(run: Run, why: string, page: boolean): void {
  if (page) skip(run, { id: 'page', path: '/' }, why);
  skip(run, { id: 'health', path: '/api/health' }, why);
  skip(run, { id: 'sessions-bare', path: '/api/sessions?limit=1' }, why);
  for (const read of protectedReads) skip(run, read, why);
  skip(run, { id: 'openapi', path: '/openapi.json' }, why);
  skip(run, { id: 'asset', path: '/' }, why);
  skipUpgrade(
    run,
    { id: 'main', path: '/api/ws', credential: 'none', headers: {}, origin: run.input.origin },
    why,
  );
}
