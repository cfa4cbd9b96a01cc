import { statusProbe } from './dashboard.ts';
import { get } from './http.ts';
import type { Run } from './run.ts';
import type { NetworkError } from './exchange-schema.ts';
import type { Facts } from './schema.ts';

const gone = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'CLOSED', 'EHOSTUNREACH', 'ENETUNREACH']);

/** It answered, and then something was refused or cut: asks once more, and says so when it is really gone or had been. */
export async function lookForFlapping(run: Run): Promise<Facts['flapping']> {
  const first = run.http.find(({ id, outcome }) => id === 'status' && outcome === 'answered');
  if (first === undefined || run.all.signal.aborted) return null;
  const lost = lostProbes(run);
  const [one] = lost;
  if (one === undefined) return null;
  const again = (await get(run, { ...statusProbe, id: 'status-again' })).fact;
  const refused = lost.find(({ error }) => error.code === 'ECONNREFUSED');
  if (again.outcome === 'answered' && refused === undefined) return null;
  const { name, error } =
    again.error === null ? (refused ?? one) : { name: 'status-again', error: again.error };
  return { before: `status answered ${first.status}`, after: `${name}: ${error.code}` };
}

function lostProbes(run: Run): { name: string; error: NetworkError }[] {
  const cut: NetworkError = { phase: 'frame', code: 'CLOSED', message: '' };
  const sockets = run.ws.map(({ id, error, close }) => ({
    id: `ws ${id}`,
    error: close === null ? error : (error ?? cut),
  }));
  return [...run.http, ...sockets].flatMap(({ id, error }) =>
    error !== null && gone.has(error.code) ? [{ name: id, error }] : [],
  );
}
