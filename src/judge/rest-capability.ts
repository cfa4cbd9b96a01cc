import type { HttpFact } from '../probe/exchange-schema.ts';
import type { Capability } from '../probe/schema.ts';
import type { CapabilityId } from './capability-ids.ts';
import { byRelease, no, unknown, yes } from './capability-state.ts';
import type { Diagnosis } from './diagnosis.ts';
import { notRunning } from './capability-state.ts';
import type { Reading } from './reading.ts';
import { sawHttp } from './saw.ts';
import { isJson } from './standing.ts';

type State = Omit<Capability, 'id'>;

/** How each endpoint shows that it is there: its probe, the key of a good answer, and its path in openapi.json. */
const endpoints: Partial<Record<CapabilityId, { probe: string; key: string; path: string }>> = {
  sessions: { probe: 'sessions', key: 'sessions', path: '/api/sessions' },
  'session-messages': {
    probe: 'session-messages',
    key: 'messages',
    path: '/api/sessions/{session_id}/messages',
  },
  'model-options': { probe: 'model-options', key: 'providers', path: '/api/model/options' },
  'model-set': { probe: 'model-set', key: 'ok', path: '/api/model/set' },
  'model-library': { probe: 'model-library', key: 'models', path: '/api/model/library' },
};

export type Endpoint = 'sessions' | 'session-messages' | 'model-options' | 'model-set' | 'model-library';

/** What the probe of an endpoint decided; null when it decided nothing (no answer, 401, 5xx). A 200 with HTML is not the endpoint. */
export function probed(id: Endpoint, reading: Reading): State | null {
  const endpoint = endpoints[id];
  const fact = endpoint === undefined ? null : reading.http(endpoint.probe);
  if (endpoint === undefined || fact === null || fact.status === null) return null;
  if (fact.status === 200) return ok(fact, endpoint.key);
  const detail = fact.body?.detail ?? '';
  if (fact.status === 404)
    return id === 'session-messages' && /Session not found/i.test(detail)
      ? yes(sawHttp(fact))
      : no(sawHttp(fact));
  return null;
}

/** Up to 0.15 an unknown path answers 200 with the page. */
function ok(fact: HttpFact, key: string): State | null {
  if (fact.body?.problem != null) return null;
  if (!isJson(fact)) return no(sawHttp(fact));
  if (fact.body?.keys.includes(key) === true || fact.body?.count != null) return yes(sawHttp(fact));
  return unknown(`${sawHttp(fact)}, without ${key}`);
}

/** openapi.json lists every REST path without a credential on ungated engines. */
export function listed(id: Endpoint, reading: Reading): State | null {
  const fact = reading.http('openapi');
  const path = endpoints[id]?.path ?? '';
  if (fact?.status !== 200 || !isJson(fact)) return null;
  const paths = (fact.body?.keys ?? []).filter((key) => key.startsWith('/api/'));
  if (paths.length === 0 && (fact.body?.count ?? 0) === 0) return null;
  const plain = (text: string): string => text.replaceAll(/\{[^}]*\}/g, '{}');
  return paths.some((each) => plain(each) === plain(path))
    ? yes(`openapi.json lists ${path}`)
    : no(`openapi.json does not list ${path}`);
}

export const restCapability =
  (id: Exclude<Endpoint, 'model-library'>) =>
  (diagnosis: Diagnosis): State => {
    const { reading, reach, credential } = diagnosis;
    if (reach.state === 'absent') return notRunning(id, diagnosis);
    if (reach.state !== 'reached') return unknown('no dashboard was reached');
    const seen = probed(id, reading) ?? listed(id, reading);
    if (seen !== null) return seen;
    const fact = reading.http(id);
    const undecided = fact === null || fact.status === 401 || fact.error?.code === 'DEADLINE';
    if (!undecided) return unknown(sawHttp(fact));
    if (reading.install !== null || id === 'model-set') {
      const data = byRelease(id, reading);
      return fact === null ? data : { ...data, evidence: [...data.evidence, sawHttp(fact)] };
    }
    return unknown(credential?.ok === 'no' ? 'it needs a credential' : 'it was not asked');
  };
