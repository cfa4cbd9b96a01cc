import type { CapabilityId } from './capability-ids.ts';
import { codes } from './codes.ts';
import type { Finding, Remedy } from './schema.ts';

/** A finding before the check, the client and the list of remedies are known. */
export interface Draft {
  code: string;
  confidence: Finding['confidence'];
  args: Finding['args'];
  evidence: string[];
  remedies: Remedy[];
  severity: Finding['severity'];
  /** Trying again can help; as the code says unless this case is special. */
  retryable: boolean;
  /** Capabilities that it takes away; `all` for what stops every client. Decides whether an error counts for a client. */
  touches: readonly CapabilityId[] | 'all';
}

type Options = Partial<Omit<Draft, 'code'>>;

export function draft(code: string, options: Options = {}): Draft {
  const meaning = codes.get(code);
  if (meaning === undefined) throw new Error(`no such finding code: ${code}`);
  return {
    code,
    confidence: 'certain',
    args: {},
    evidence: [],
    remedies: [],
    severity: meaning.severity,
    retryable: meaning.retryable,
    touches: 'all',
    ...options,
  };
}

/** Remedies that this program carries out itself when asked. */
const ours = new Set<Remedy['carrier']>(['overlay', 'source']);

export function toFinding(from: Draft, check: string): Finding {
  const weSolve = from.remedies.some((remedy) => ours.has(remedy.carrier) && remedy.where === 'here');
  return {
    code: from.code,
    check,
    severity: from.severity,
    confidence: from.confidence,
    args: from.args,
    evidence: from.evidence,
    retryable: from.retryable,
    needsHuman: from.severity !== 'info' && !from.retryable && !weSolve,
    fix: from.remedies.map((remedy) => remedy.id),
  };
}
