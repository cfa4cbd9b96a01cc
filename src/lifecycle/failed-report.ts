import { capabilityIds } from '../judge/capability-ids.ts';
import type { Judgement } from '../judge/judge.ts';
import type { Target } from '../target/types.ts';
import { documentHead } from '../tool.ts';

/** Why a target has no facts at all; `exitCode` as for the error alone. */
export interface Failure {
  reason: string;
  exitCode: number;
}

/** A report for a target whose check ended by an error of ours, of its set-up or of its time limit: unknown, whatever is asked. */
export function failedReport(
  target: Target,
  client: string,
  clients: readonly { name: string }[],
  { reason, exitCode }: Failure,
): Judgement {
  const unusable = { usable: 'unknown', why: reason } as const;
  return {
    ...documentHead('report'),
    target: { kind: target.kind, name: target.name, url: target.kind === 'http' ? target.url : null },
    client,
    verdict: 'unknown',
    clients: Object.fromEntries(clients.map(({ name }) => [name, 'unknown'])),
    exitCode,
    engine: {
      version: null,
      generation: null,
      contract: { value: null, from: null, state: 'unknown' },
      install: null,
    },
    capabilities: capabilityIds.map((id) => ({ id, state: 'unknown', evidence: [reason] })),
    findings: [],
    checks: [{ id: 'reach', status: 'error', reason, durationMs: 0 }],
    transport: { auto: { ...unusable, chooses: null }, dashboard: unusable, legacy: unusable },
    remedies: [],
  };
}
