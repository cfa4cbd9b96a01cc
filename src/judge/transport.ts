import type { Capability } from '../probe/schema.ts';
import { apiServer } from './api-server.ts';
import type { Diagnosis } from './diagnosis.ts';
import type { Report } from './schema.ts';

type Transport = Report['transport'];
type Usable = Transport['dashboard'];

/** What a client would get over each transport. `auto` takes the dashboard where it works, else the gateway's API server. */
export function transportOf(diagnosis: Diagnosis, capabilities: readonly Capability[]): Transport {
  const dashboard = dashboardUse(capabilities);
  const { usable, why } = apiServer(diagnosis.reading);
  const legacy = { usable, why };
  return { auto: autoUse(dashboard, legacy), dashboard, legacy };
}

function dashboardUse(capabilities: readonly Capability[]): Usable {
  const of = (id: string): Capability | undefined => capabilities.find((each) => each.id === id);
  const needed = ['status', 'ws', 'rpc'].map(of);
  const absent = needed.find((each) => each?.state === 'no');
  if (absent !== undefined) return { usable: 'no', why: absent.evidence[0] ?? `${absent.id} is not there` };
  const open = needed.find((each) => each?.state !== 'yes');
  if (open !== undefined)
    return { usable: 'unknown', why: open.evidence[0] ?? `${open.id} could not be checked` };
  return { usable: 'yes', why: of('rpc')?.evidence[0] ?? '/api/ws answers JSON-RPC' };
}

function autoUse(dashboard: Usable, legacy: Usable): Transport['auto'] {
  if (dashboard.usable === 'yes') return { ...dashboard, chooses: 'dashboard' };
  if (legacy.usable === 'yes') return { ...legacy, chooses: 'legacy' };
  const unclear = dashboard.usable === 'unknown' ? dashboard : legacy;
  return { usable: unclear.usable === 'unknown' ? 'unknown' : 'no', why: unclear.why, chooses: null };
}
