import type { Capability, Facts } from '../probe/schema.ts';
import { capabilitiesOf } from './capabilities.ts';
import type { CapabilityId } from './capability-ids.ts';
import type { CheckDefinition, Outcome } from './checks/check.ts';
import { checks } from './checks/index.ts';
import type { Client } from './client.ts';
import { codes } from './codes.ts';
import type { Diagnosis } from './diagnosis.ts';
import { diagnose } from './diagnosis.ts';
import type { Draft } from './draft.ts';
import { draft } from './draft.ts';
import type { Verdict } from './schema.ts';
import { verdictFor } from './verdict.ts';

/** Which checks run: only these, or all but these. */
export interface Selection {
  only?: readonly string[];
  skip?: readonly string[];
}

interface Run {
  definition: CheckDefinition;
  outcome: Outcome;
}

/** The facts judged for one client. */
export interface Case {
  diagnosis: Diagnosis;
  capabilities: Capability[];
  runs: Run[];
  /** Every finding with the check that it came from. */
  found: Found[];
  verdict: Verdict;
}

interface Found {
  draft: Draft;
  check: string;
}

const notChecked = 'its check was left out';

export function judgeFor(facts: Facts, client: Client, selection: Selection): Case {
  const isLegacy = facts.asked.mode === 'legacy';
  const diagnosis = diagnose(facts, client.name);
  const capabilities = isLegacy
    ? allUnknown(capabilitiesOf(diagnosis))
    : withoutLeftOut(capabilitiesOf(diagnosis), selection);
  const runs = checks.map((definition): Run => {
    if (!isSelected(definition, selection))
      return { definition, outcome: { kind: 'skip', reason: 'left out' } };
    if (isLegacy && definition.legacy !== true)
      return { definition, outcome: { kind: 'skip', reason: 'legacy mode' } };
    return { definition, outcome: definition.run(diagnosis, { client, capabilities }) };
  });
  const said = runs.flatMap(({ definition, outcome }) =>
    outcome.kind === 'done' ? outcome.drafts.map((each) => ({ draft: each, check: definition.id })) : [],
  );
  const found = isLegacy ? said : [...said, ...notKnown(client, capabilities, said)];
  const drafts = found.map((each) => each.draft);
  const verdict = isLegacy ? legacyVerdict(client, drafts, runs) : verdictFor(client, drafts, capabilities);
  return { diagnosis, capabilities, runs, found, verdict };
}

const isSelected = (check: CheckDefinition, { only, skip }: Selection): boolean =>
  (only === undefined || only.length === 0 || only.includes(check.id)) && skip?.includes(check.id) !== true;

const allUnknown = (capabilities: readonly Capability[]): Capability[] =>
  capabilities.map(({ id }) => ({ id, state: 'unknown', evidence: ['legacy mode looks at no dashboard'] }));

/** What only a check that was left out could tell is not known. */
function withoutLeftOut(capabilities: readonly Capability[], selection: Selection): Capability[] {
  const left = checks.filter((each) => !isSelected(each, selection));
  const undecided = new Set<string>(left.flatMap((each) => each.decides ?? []));
  return capabilities.map((each) =>
    undecided.has(each.id) ? { id: each.id, state: 'unknown', evidence: [notChecked] } : each,
  );
}

/** In legacy mode nothing of the dashboard counts; the API server's own check must have passed. */
function legacyVerdict(client: Client, drafts: readonly Draft[], runs: readonly Run[]): Verdict {
  const verdict = verdictFor({ ...client, requires: [], contract: null }, drafts, []);
  const passed = runs.some(
    ({ definition, outcome }) => definition.id === 'api-server' && outcome.kind === 'done',
  );
  return verdict === 'compatible' && !passed ? 'unknown' : verdict;
}

const onSocket: readonly string[] = ['ws', 'rpc', 'embedded-chat'];
const stopsAll = ['reach', 'credential', 'install', 'engine-package'];

/** What the client requires and no check could tell. What hangs on an error that is already told gets no finding of its own. */
function notKnown(client: Client, capabilities: readonly Capability[], said: readonly Found[]): Found[] {
  const failed = new Set(
    said
      .filter(({ draft: each }) => each.severity === 'error' && codes.get(each.code)?.weight != null)
      .map((each) => each.check),
  );
  const isTold = (id: string): boolean =>
    stopsAll.some((check) => failed.has(check)) ||
    (onSocket.includes(id) && (failed.has('websocket') || failed.has('rpc')));
  return client.requires.flatMap((id) => {
    const capability = capabilities.find((each) => each.id === id);
    if (capability?.state !== 'unknown') return [];
    const leftOut = capability.evidence[0] === notChecked;
    if (isTold(id) && !leftOut) return [];
    return [{ check: checkOf(id), draft: unknownCapability(capability, id, leftOut) }];
  });
}

const checkOf = (id: CapabilityId): string =>
  checks.find((each) => each.decides?.includes(id) === true)?.id ?? 'reach';

const unknownCapability = (capability: Capability, id: CapabilityId, leftOut: boolean): Draft =>
  draft('CAPABILITY_UNKNOWN', {
    args: { capability: id, leftOut },
    evidence: capability.evidence,
    touches: [id],
  });
