import type { Capability } from '../../probe/schema.ts';
import type { CapabilityId } from '../capability-ids.ts';
import type { Client } from '../client.ts';
import type { Diagnosis } from '../diagnosis.ts';
import type { Draft } from '../draft.ts';

/** What a check came to: findings (none is a pass), not applicable here, or it could not be checked. */
export type Outcome =
  | { kind: 'done'; drafts: Draft[]; reason: string }
  | { kind: 'skip'; reason: string }
  | { kind: 'error'; reason: string };

export interface CheckContext {
  client: Client;
  capabilities: readonly Capability[];
}

/**
 * One question about the facts. Each lives in a file of `judge/checks/` and is listed in `checks/index.ts`; its id is permanent.
 * It sees facts only, so that saved facts give the same answer later.
 */
export interface CheckDefinition {
  id: string;
  summary: string;
  /** Capabilities that are unknown when this check is left out. */
  decides?: readonly CapabilityId[];
  /** Runs in legacy mode too, where no dashboard is looked at. */
  legacy?: true;
  /** Ids of the probes whose time it took. */
  probes?: readonly string[];
  run(diagnosis: Diagnosis, context: CheckContext): Outcome;
}

export const done = (drafts: Draft[], reason = ''): Outcome => ({ kind: 'done', drafts, reason });
export const skip = (reason: string): Outcome => ({ kind: 'skip', reason });
export const couldNot = (reason: string): Outcome => ({ kind: 'error', reason });
