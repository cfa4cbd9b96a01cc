import { type Asked, asked, statusProbe } from './dashboard.ts';
import { field } from './json.ts';
import { get, type HttpProbe, skip } from './http.ts';
import type { Run } from './run.ts';
import { readStatus } from './status.ts';
import { skipUpgrade } from './upgrade.ts';

const models: HttpProbe = { id: 'api-server-models', path: '/v1/models', list: 'data' };

/** The gateway's API server, for clients in legacy mode: its health names it, then its models with the key. Source: gateway/platforms/api_server.py. */
export async function askApiServer(run: Run): Promise<Asked> {
  run.base.prefix = run.base.prefix.replace(/\/v1$/, '');
  const [health, status] = await Promise.all([
    get(run, { id: 'api-server-health', path: '/health', public: true }),
    get(run, statusProbe),
  ]);
  run.status = readStatus(status.fact.status, status.json, run.redact);
  const platform = field(health.json, 'platform');
  const named = health.fact.status === 200 && typeof platform === 'string' && /hermes/i.test(platform);
  const token = run.input.credential?.kind === 'token' ? run.input.credential.secret : null;
  await Promise.all([
    named ? get(run, { ...models, id: 'api-server-models-bare' }) : null,
    named && token !== null
      ? get(run, { ...models, credential: 'bearer', headers: { Authorization: `Bearer ${token}` } })
      : skip(run, models, named ? 'no credential' : 'no API server answered'),
  ]);
  const why = 'legacy mode';
  skipUpgrade(
    run,
    { id: 'main', path: '/api/ws', credential: 'none', headers: {}, origin: run.input.origin },
    why,
  );
  const contract = { value: null, from: null, state: 'unknown' as const, raw: null, why };
  const facts = asked(run, contract);
  return {
    ...facts,
    rpc: { ...facts.rpc, why },
    ...(named && token !== null ? { access: { ...facts.access, used: { kind: 'bearer', token } } } : {}),
  };
}
