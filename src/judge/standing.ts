import type { HttpFact } from '../probe/exchange-schema.ts';
import type { Draft } from './draft.ts';
import { draft } from './draft.ts';
import type { Reading } from './reading.ts';
import { sawHttp, sawWs } from './saw.ts';
import { gatedStanding } from './standing-gated.ts';
import { sourceWords } from './source-words.ts';
import { launch } from './remedies/launch.ts';
import { update } from './remedies/update.ts';
import { before } from './version.ts';

/** Whether the credential is good: `yes` only when a protected read passed with it, or none is needed. */
export interface Standing {
  ok: 'yes' | 'no' | 'unknown';
  drafts: Draft[];
}

export const isJson = (fact: HttpFact | null): boolean =>
  fact?.body?.kind === 'json' && fact.body.problem === null;

/** A protected read that truly answered; a 200 with HTML is not a JSON endpoint. */
export const passed = (fact: HttpFact | null): boolean => fact?.status === 200 && isJson(fact);

export function standing(reading: Reading): Standing {
  return reading.gated ? gatedStanding(reading) : openStanding(reading);
}

function openStanding(reading: Reading): Standing {
  const { credential } = reading.facts;
  const bare = reading.http('sessions-bare');
  if (credential.kind === 'login') return loginAtUngated(reading);
  if (credential.kind === 'none') return withoutToken(reading);
  const proof = reading.http('sessions');
  if (proof?.status === 401) return { ok: 'no', drafts: [tokenRejected(reading, proof)] };
  if (!passed(proof)) return { ok: reading.ws('main')?.outcome === 'open' ? 'yes' : 'unknown', drafts: [] };
  if (passed(bare)) return { ok: 'yes', drafts: [notProved(bare)] };
  return { ok: 'yes', drafts: [] };
}

const notProved = (bare: HttpFact | null): Draft =>
  draft('TOKEN_NOT_PROVED', { evidence: bare === null ? [] : [sawHttp(bare)] });

function withoutToken(reading: Reading): Standing {
  const bare = reading.http('sessions-bare');
  if (passed(bare)) return { ok: 'yes', drafts: [notProved(bare)] };
  if (reading.ws('main')?.outcome === 'open') return { ok: 'yes', drafts: [] };
  const { unreadable } = reading.facts.credential;
  const evidence = [reading.http('page'), bare].filter((fact) => fact !== null).map(sawHttp);
  const args = { url: reading.facts.service?.url ?? null };
  if (unreadable === null || unreadable === 'not-asked')
    return { ok: 'no', drafts: [draft('TOKEN_MISSING', { args, evidence })] };
  // The first release that takes a token from its environment is 0.16.0.
  const ignoresTokens = reading.version !== null && before(reading.version, '0.16.0');
  return {
    ok: 'no',
    drafts: [
      draft('TOKEN_UNREADABLE', {
        args: { ...args, why: unreadable, ignoresTokens },
        evidence,
        remedies: !reading.hasDisk ? [] : ignoresTokens ? [update(reading, '0.16.0')] : [launch(reading)],
      }),
    ],
  };
}

function tokenRejected(reading: Reading, proof: HttpFact): Draft {
  const { credential } = reading.facts;
  const ws = reading.ws('main');
  // Up to 0.15 a token that was set is not the one in use.
  const isUsed = reading.version === null || !before(reading.version, '0.16.0');
  const others = [
    ['the process environment', isUsed ? (reading.process?.env.sessionToken ?? null) : null],
    ['.env', isUsed ? (reading.home?.envFile.sessionToken ?? null) : null],
  ] as const;
  return draft('TOKEN_REJECTED', {
    args: {
      source: credential.source,
      fingerprint: credential.fingerprint,
      url: reading.facts.service?.url ?? null,
    },
    evidence: [
      sawHttp(proof),
      ...(ws === null ? [] : [sawWs(ws)]),
      ...(credential.fingerprint === null
        ? []
        : [`the token from ${sourceWords(credential.source)} has fingerprint ${credential.fingerprint}`]),
      ...others
        .filter(([, fingerprint]) => fingerprint !== null && fingerprint !== credential.fingerprint)
        .map(([place, fingerprint]) => `the token in ${place} has fingerprint ${fingerprint}`),
    ],
  });
}

function loginAtUngated(reading: Reading): Standing {
  const bare = reading.http('sessions-bare');
  return {
    ok: 'no',
    drafts: [
      draft('AUTH_MODE_MISMATCH', {
        args: { given: 'login', wanted: 'token', providers: reading.facts.status?.authProviders ?? [] },
        evidence: [
          `/api/status says auth_required: ${String(reading.facts.status?.authRequired ?? 'nothing')}`,
          ...(bare === null ? [] : [sawHttp(bare)]),
        ],
      }),
    ],
  };
}
