import type { Capability, Facts } from '../probe/schema.ts';
import { schemaVersion, tool } from '../tool.ts';
import type { CapabilityId } from './capability-ids.ts';
import { capabilitiesOf } from './capabilities.ts';
import type { CheckDefinition, Outcome } from './checks/check.ts';
import { checks } from './checks/index.ts';
import type { Client } from './client.ts';
import { contractView } from './contract.ts';
import { codes } from './codes.ts';
import type { Diagnosis } from './diagnosis.ts';
import { diagnose } from './diagnosis.ts';
import type { Draft } from './draft.ts';
import { draft, toFinding } from './draft.ts';
import type { Check, Report } from './schema.ts';
import { transportOf } from './transport.ts';
import { exitCodeFor, verdictFor } from './verdict.ts';

export interface JudgeOptions {
  /** The client whose needs decide, by name; one of `clients`. */
  client: string;
  clients: readonly Client[];
  /** Check ids: only these, or all but these. */
  only?: readonly string[];
  skip?: readonly string[];
  failOn?: 'error' | 'warn';
}

/** A report without the time that it took: the facts say when they were taken, and judging has no clock. */
export type Judgement = Omit<Report, 'durationMs'>;

interface Run {
  definition: CheckDefinition;
  outcome: Outcome;
}

interface Case {
  client: Client;
  diagnosis: Diagnosis;
  capabilities: Capability[];
  runs: Run[];
  /** Every finding with the check that it came from. */
  found: { draft: Draft; check: string }[];
}

/** Judges facts for a client. Pure: the same facts and options give the same report. Throws only for a client that is not in `clients`. */
export function judge(facts: Facts, options: JudgeOptions): Judgement {
  const client = options.clients.find((each) => each.name === options.client);
  if (client === undefined) throw new Error(`no client "${options.client}"`);
  const main = judgeFor(facts, client, options);
  const findings = main.found.map((each) => toFinding(each.draft, each.check));
  const verdict = verdictOf(main);
  const { reading } = main.diagnosis;
  return {
    schemaVersion,
    kind: 'report',
    tool,
    target: { ...facts.target, url: facts.service?.url ?? facts.target.url },
    client: client.name,
    verdict,
    clients: Object.fromEntries(
      options.clients.map((each) => [
        each.name,
        each === client ? verdict : verdictOf(judgeFor(facts, each, options)),
      ]),
    ),
    exitCode: exitCodeFor(verdict, findings, options.failOn ?? 'error'),
    engine: {
      version: reading.versionText,
      generation: reading.install?.generation ?? null,
      contract: contractView(reading).known,
      install: reading.install?.root ?? null,
    },
    capabilities: main.capabilities,
    findings,
    checks: main.runs.map((run) => toCheck(run, facts)),
    transport: transportOf(main.diagnosis, main.capabilities),
    remedies: uniqueById(main.found.flatMap((each) => each.draft.remedies)),
  };
}

const notChecked = 'its check was left out';

const verdictOf = (each: Case): Report['verdict'] =>
  verdictFor(
    each.client,
    each.found.map(({ draft }) => draft),
    each.capabilities,
  );

function judgeFor(facts: Facts, client: Client, options: JudgeOptions): Case {
  const diagnosis = diagnose(facts, client.name);
  const left = checks.filter((each) => !isSelected(each, options));
  const undecided = new Set(left.flatMap((each) => each.decides ?? []));
  const capabilities = capabilitiesOf(diagnosis).map((each) =>
    undecided.has(each.id as CapabilityId)
      ? { id: each.id, state: 'unknown' as const, evidence: [notChecked] }
      : each,
  );
  const runs = checks.map((definition): Run => {
    if (!isSelected(definition, options))
      return { definition, outcome: { kind: 'skip', reason: 'left out' } };
    return { definition, outcome: definition.run(diagnosis, { client, capabilities }) };
  });
  const found = runs.flatMap(({ definition, outcome }) =>
    outcome.kind === 'done' ? outcome.drafts.map((each) => ({ draft: each, check: definition.id })) : [],
  );
  return {
    client,
    diagnosis,
    capabilities,
    runs,
    found: [...found, ...notKnown(client, capabilities, found)],
  };
}

const isSelected = (check: CheckDefinition, { only, skip }: JudgeOptions): boolean =>
  (only === undefined || only.length === 0 || only.includes(check.id)) && skip?.includes(check.id) !== true;

const onSocket: readonly string[] = ['ws', 'rpc', 'embedded-chat'];

/** What no check had a finding for although the client requires it. What hangs on an error that is already told gets none of its own. */
function notKnown(client: Client, capabilities: readonly Capability[], found: Case['found']): Case['found'] {
  const failed = new Set(
    found
      .filter(({ draft: each }) => each.severity === 'error' && codes.get(each.code)?.weight != null)
      .map((each) => each.check),
  );
  const told = (id: string): boolean =>
    ['reach', 'credential', 'install', 'engine-package'].some((check) => failed.has(check)) ||
    (onSocket.includes(id) && (failed.has('websocket') || failed.has('rpc')));
  return client.requires.flatMap((id) => {
    const capability = capabilities.find((each) => each.id === id);
    if (capability?.state !== 'unknown') return [];
    const leftOut = capability.evidence[0] === notChecked;
    if (told(id) && !leftOut) return [];
    return [
      {
        check: checks.find((each) => each.decides?.includes(id) === true)?.id ?? 'reach',
        draft: draft('CAPABILITY_UNKNOWN', {
          args: { capability: id, leftOut },
          evidence: capability.evidence,
          touches: [id],
        }),
      },
    ];
  });
}

function toCheck({ definition, outcome }: Run, facts: Facts): Check {
  const times = [...facts.http, ...facts.ws].filter((each) => definition.probes?.includes(each.id) === true);
  const durationMs = times.reduce((most, each) => Math.max(most, each.phases.total), 0);
  const base = { id: definition.id, durationMs };
  if (outcome.kind === 'skip') return { ...base, status: 'skip', reason: outcome.reason };
  if (outcome.kind === 'error') return { ...base, status: 'error', reason: outcome.reason };
  const severities = outcome.drafts.map((each) => each.severity);
  const status = severities.includes('error') ? 'fail' : severities.includes('warn') ? 'warn' : 'pass';
  return { ...base, status, reason: outcome.reason || outcome.drafts.map((each) => each.code).join(', ') };
}

const uniqueById = (remedies: Report['remedies']): Report['remedies'] => [
  ...new Map(remedies.map((each) => [each.id, each])).values(),
];
