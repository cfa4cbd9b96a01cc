import type { Draft } from './draft.ts';
import { draft } from './draft.ts';
import { answerDrafts } from './reach-answer.ts';
import { networkDrafts } from './reach-network.ts';
import type { Reading } from './reading.ts';
import { sawHttp } from './saw.ts';
import type { Report } from './schema.ts';

/**
 * The gateway's API server, which clients in legacy mode use instead of the dashboard. Its /health names a `platform`,
 * its /v1/models asks for the key. Source: gateway/platforms/api_server.py.
 */
export interface ApiServer {
  usable: Report['transport']['legacy']['usable'];
  why: string;
  drafts: Draft[];
}

const answer = (usable: ApiServer['usable'], why: string, drafts: Draft[] = []): ApiServer => ({
  usable,
  why,
  drafts,
});

export function apiServer(reading: Reading): ApiServer {
  const health = reading.http('api-server-health');
  if (health === null) return notAsked(reading);
  if (health.outcome !== 'answered')
    return answer('unknown', sawHttp(health), networkDrafts(health, reading));
  const isApiServer = health.status === 200 && health.body?.keys.includes('platform') === true;
  if (isApiServer) return withKey(reading, sawHttp(health));
  if (reading.facts.status !== null)
    return answer('no', 'a dashboard answers there', [
      draft('WRONG_SERVICE', {
        args: { url: reading.facts.service?.url ?? null, title: 'a Hermes dashboard', wanted: 'api-server' },
        evidence: [sawHttp(health), '/api/status is the status of a dashboard'],
      }),
    ]);
  return answer('no', sawHttp(health), answerDrafts(health, reading));
}

function notAsked(reading: Reading): ApiServer {
  const running = reading.facts.status?.gatewayRunning ?? null;
  if (running === false) return answer('no', 'the gateway, which has the API server, is not running');
  return answer(
    'unknown',
    running === true ? 'the gateway runs; its API server was not asked' : 'the API server was not asked',
  );
}

function withKey(reading: Reading, healthSeen: string): ApiServer {
  const models = reading.http('api-server-models');
  const bare = reading.http('api-server-models-bare');
  const { credential } = reading.facts;
  const args = {
    source: credential.source,
    fingerprint: credential.fingerprint,
    url: reading.facts.service?.url ?? null,
    apiServer: true,
  };
  if (models?.status === 401 || models?.status === 403)
    return answer('no', sawHttp(models), [draft('TOKEN_REJECTED', { args, evidence: [sawHttp(models)] })]);
  if (models?.status === 200) return answer('yes', sawHttp(models));
  if (bare?.status === 200) return answer('yes', sawHttp(bare));
  if (bare?.status === 401 || bare?.status === 403)
    return answer('unknown', sawHttp(bare), [draft('TOKEN_MISSING', { args, evidence: [sawHttp(bare)] })]);
  const asked = models ?? bare;
  return asked === null
    ? answer(reading.facts.asked.mode === 'legacy' ? 'unknown' : 'yes', healthSeen)
    : answer('unknown', sawHttp(asked));
}
