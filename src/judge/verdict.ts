import type { Capability } from '../probe/schema.ts';
import type { Client } from './client.ts';
import type { Draft } from './draft.ts';
import type { Weight } from './codes.ts';
import { codes } from './codes.ts';
import type { Finding, Verdict } from './schema.ts';

const order: readonly [Exclude<Weight, null>, Verdict][] = [
  ['I', 'incompatible'],
  ['N', 'needs-remedy'],
  ['U', 'unknown'],
];

const counts = (found: Draft, client: Client): boolean =>
  found.severity === 'error' &&
  (found.touches === 'all' ||
    found.touches.some(
      (id) => client.requires.includes(id) || (id === 'contract' && client.contract?.required === true),
    ));

/**
 * The strongest of incompatible, needs-remedy, unknown over the errors that touch what the client requires. Remedies never change it.
 * Without any, a required capability that is not a clear yes still keeps it from being compatible.
 */
export function verdictFor(
  client: Client,
  drafts: readonly Draft[],
  capabilities: readonly Capability[],
): Verdict {
  const weights = new Set(drafts.filter((each) => counts(each, client)).map((each) => weightOf(each)));
  const strongest = order.find(([weight]) => weights.has(weight));
  if (strongest !== undefined) return strongest[1];
  const all = client.requires.every((id) => capabilities.find((each) => each.id === id)?.state === 'yes');
  return all ? 'compatible' : 'unknown';
}

/** A contract that the client refuses to work with is for the engine's owner to change; one that nobody could read is not known. */
function weightOf(found: Draft): Weight {
  if (found.code === 'CONTRACT_UNKNOWN') return 'U';
  if (found.code.startsWith('CONTRACT_')) return 'I';
  return codes.get(found.code)?.weight ?? null;
}

/** 0 compatible, 1 needs-remedy or incompatible (with `warn` also a warning), 3 unknown. */
export function exitCodeFor(
  verdict: Verdict,
  findings: readonly Finding[],
  failOn: 'error' | 'warn',
): 0 | 1 | 3 {
  switch (verdict) {
    case 'needs-remedy':
    case 'incompatible':
      return 1;
    case 'unknown':
      return 3;
    case 'compatible':
      return failOn === 'warn' && findings.some((each) => each.severity === 'warn') ? 1 : 0;
    default: {
      const never: never = verdict;
      return never;
    }
  }
}
