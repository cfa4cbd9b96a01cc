import { codes } from './codes.ts';
import type { Draft } from './draft.ts';
import { draft } from './draft.ts';
import { answerDrafts } from './reach-answer.ts';
import { networkDrafts } from './reach-network.ts';
import type { Reading } from './reading.ts';
import { inOrder } from './remedies/residue.ts';

/**
 * What `GET /api/status` says about the address (rows 1 to 13 of the decision table).
 * `absent`: no dashboard was named or found. `failed` carries the reason.
 */
export type Reach =
  | { state: 'absent' }
  | { state: 'reached' }
  | { state: 'failed'; drafts: Draft[] }
  | { state: 'not-looked' };

export function reach(reading: Reading): Reach {
  const { hostError } = reading.facts;
  if (hostError != null) return { state: 'failed', drafts: [hostDraft(hostError)] };
  if (reading.facts.service === null) return { state: 'absent' };
  const status = reading.http('status');
  // What a person cut short says nothing about the server.
  if (status === null || status.error?.code === 'ABORTED') return { state: 'not-looked' };
  const drafts =
    status.outcome === 'answered' ? answerDrafts(status, reading) : networkDrafts(status, reading);
  return drafts.length === 0 ? { state: 'reached' } : { state: 'failed', drafts };
}

/** The way to the host failed, so nothing behind it was seen. A code that only a newer version knows is told as its class. */
function hostDraft({ finding, text, args, commands }: NonNullable<Reading['facts']['hostError']>): Draft {
  const known = codes.get(finding)?.weight != null;
  return draft(known ? finding : 'SSH_UNREACHABLE', {
    args: known ? args : { ...args, error: finding },
    evidence: [text],
    remedies: commands.length === 0 ? [] : [inOrder('reach-host', commands)],
  });
}
