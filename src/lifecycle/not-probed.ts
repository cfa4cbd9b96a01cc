import type { Install } from '../engine/schema.ts';
import type { ProbeFacts } from '../probe/types.ts';
import type { Credential } from '../target/types.ts';

/** Facts of probing where there is nothing to probe: only the contract is known, from the source of the install. */
export function notProbed(credential: Credential | null, install: Install | null): ProbeFacts {
  const why = 'no dashboard is running';
  const contract = install?.contract ?? null;
  return {
    credential: {
      kind: credential?.kind ?? 'none',
      source: credential?.source ?? null,
      fingerprint: credential?.fingerprint ?? null,
      unreadable: null,
      login: null,
    },
    status: null,
    http: [],
    ws: [],
    rpc: { outcome: 'skipped', why, method: 'none', answer: null, errorCode: null, ms: null, error: null },
    contract:
      contract === null
        ? { value: null, from: null, state: 'unknown', raw: null, why }
        : { value: contract.value, from: 'source', state: contract.state, raw: contract.raw, why: null },
    tls: null,
    phases: { dns: null, tcp: null, tls: null, firstByte: null, upgrade: null, rpc: null, total: 0 },
    flapping: null,
  };
}
