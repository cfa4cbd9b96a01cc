import type { Facts } from '../probe/schema.ts';
import { documentHead } from '../tool.ts';
import type { Case, Selection } from './case.ts';
import { judgeFor } from './case.ts';
import type { Client } from './client.ts';
import { contractView } from './contract.ts';
import { toFinding } from './draft.ts';
import type { Check, Report } from './schema.ts';
import { transportOf } from './transport.ts';
import { exitCodeFor } from './verdict.ts';

export interface JudgeOptions extends Selection {
  /** The client whose needs decide, by name; one of `clients`. */
  client: string;
  /** Every client gets a verdict of its own. */
  clients: readonly Client[];
  failOn?: 'error' | 'warn';
}

/** A report without the time that it took: judging has no clock. */
export type Judgement = Omit<Report, 'durationMs'>;

/** Judges facts for a client. Pure: the same facts and options give the same report. Throws only for a client that is not in `clients`. */
export function judge(facts: Facts, options: JudgeOptions): Judgement {
  const client = options.clients.find((each) => each.name === options.client);
  if (client === undefined) throw new Error(`no client "${options.client}"`);
  const cases = new Map(options.clients.map((each) => [each.name, judgeFor(facts, each, options)]));
  const own = cases.get(client.name) ?? judgeFor(facts, client, options);
  const findings = own.found.map((each) => toFinding(each.draft, each.check));
  const { reading } = own.diagnosis;
  return {
    ...documentHead('report'),
    target: { kind: facts.target.kind, name: facts.target.name, url: facts.service?.url ?? facts.target.url },
    client: client.name,
    verdict: own.verdict,
    clients: Object.fromEntries([...cases].map(([name, each]) => [name, each.verdict])),
    exitCode: exitCodeFor(own.verdict, findings, options.failOn ?? 'error'),
    engine: {
      version: reading.versionText,
      generation: reading.install?.generation ?? null,
      contract: contractView(reading).known,
      install: reading.install?.root ?? null,
    },
    capabilities: own.capabilities,
    findings,
    checks: own.runs.map((run) => toCheck(run, facts)),
    transport: transportOf(own.diagnosis, own.capabilities),
    remedies: [
      ...new Map(own.found.flatMap((each) => each.draft.remedies).map((each) => [each.id, each])).values(),
    ],
  };
}

/** The time of a check is that of its slowest probe: they run at once. */
function toCheck({ definition, outcome }: Case['runs'][number], facts: Facts): Check {
  const times = [...facts.http, ...facts.ws].filter((each) => definition.probes?.includes(each.id) === true);
  const base = { id: definition.id, durationMs: Math.max(0, ...times.map((each) => each.phases.total)) };
  if (outcome.kind === 'skip') return { ...base, status: 'skip', reason: outcome.reason };
  if (outcome.kind === 'error') return { ...base, status: 'error', reason: outcome.reason };
  const severities = outcome.drafts.map((each) => each.severity);
  const status = severities.includes('error') ? 'fail' : severities.includes('warn') ? 'warn' : 'pass';
  return { ...base, status, reason: outcome.reason || outcome.drafts.map((each) => each.code).join(', ') };
}
