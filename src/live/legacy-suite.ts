import { compare, type StoredSessions, type Turn } from '../turn/index.ts';
import { cellText, firstError } from './cell.ts';
import { openLegacyChat, type ApiServer, type LegacyChat } from './legacy-chat.ts';
import { legacyScenarios, notLegacy, type LegacyScenario } from './legacy-scenarios.ts';
import { scenarios } from './scenarios.ts';
import { promptMaker, type ScenarioResult, type SuiteOptions } from './suite.ts';
import { reasonOf } from './through-losses.ts';
import type { Way } from './way.ts';

export interface LegacySuiteOptions extends Pick<
  SuiteOptions,
  'provider' | 'only' | 'signal' | 'keep' | 'onResult' | 'onLeft' | 'made'
> {
  way: Way;
  abilities: ApiServer;
}

/** The full suite over an API server. What it cannot be asked is skipped, and why is said. */
export async function runLegacySuite(options: LegacySuiteOptions): Promise<ScenarioResult[]> {
  const results: ScenarioResult[] = [];
  for (const { id } of scenarios) {
    if (options.only !== null && !options.only.includes(id)) continue;
    if (options.signal.aborted) break;
    const scenario = legacyScenarios.find((each) => each.id === id);
    const result = scenario === undefined ? skipped(id) : await runScenario(scenario, options);
    results.push(result);
    options.onResult?.(result);
  }
  return results;
}

const skipped = (id: string): ScenarioResult => ({
  id,
  status: 'skip',
  got: null,
  expected: '',
  from: 'outcomes',
  why: notLegacy[id] ?? 'not over this transport',
  ms: 0,
});

async function runScenario(scenario: LegacyScenario, options: LegacySuiteOptions): Promise<ScenarioResult> {
  const chats: LegacyChat[] = [];
  const faults = new Set<string>();
  const base = {
    id: scenario.id,
    expected: scenario.outcomes.map((allowed) => allowed.join(' or ')).join(', '),
    from: 'outcomes',
  } as const;
  const began = performance.now();
  const ms = (): number => Math.round(performance.now() - began);
  try {
    await scenario.run({
      open(sessionId) {
        const { way, abilities, signal } = options;
        const chat = openLegacyChat({
          way,
          abilities,
          signal,
          ...(sessionId === undefined ? {} : { sessionId }),
        });
        chats.push(chat);
        if (chat.sessionId !== null) options.made?.add(chat.sessionId);
        return chat;
      },
      provider: options.provider,
      faults,
      prompt: promptMaker(scenario.id),
    });
    const turns = chats.flatMap((chat) => chat.finished());
    const fits = noteShown(scenario, turns, faults);
    const got = textOf(turns, (await chats[0]?.stored()) ?? null, faults);
    return { ...base, status: fits ? 'pass' : 'fail', got, why: fits ? null : firstError(turns), ms: ms() };
  } catch (error) {
    const why = reasonOf(error);
    return { ...base, status: 'error', got: null, why, ms: ms() };
  } finally {
    if (!options.keep) await removeAll(chats, options);
  }
}

async function removeAll(chats: readonly LegacyChat[], { onLeft, made }: LegacySuiteOptions): Promise<void> {
  const left = (await Promise.all(chats.map((chat) => chat.remove()))).filter((each) => each !== null);
  const stays = new Set(left.map(({ id }) => id));
  for (const { sessionId } of chats) if (sessionId !== null && !stays.has(sessionId)) made?.delete(sessionId);
  onLeft?.(left.filter(({ id }, index) => left.findIndex((each) => each.id === id) === index));
}

/** Whether each turn came to what it may; one that the stream shows as something else is a fault with a name. */
function noteShown(scenario: LegacyScenario, turns: readonly Turn[], faults: Set<string>): boolean {
  scenario.outcomes.forEach(([wanted], i) => {
    const outcome = turns[i]?.outcome;
    if (outcome !== wanted) faults.add(`${wanted}-not-shown`);
  });
  return (
    turns.length === scenario.outcomes.length &&
    scenario.outcomes.every((allowed, i) => allowed.some((outcome) => outcome === turns[i]?.outcome))
  );
}

/** Differences are those of the first conversation object; a second one continues the same rows. */
export function textOf(
  turns: readonly Turn[],
  stored: StoredSessions | null,
  faults: ReadonlySet<string>,
): string {
  const differences = stored === null ? [] : compare(turns, stored).differences;
  return cellText({
    outcomes: turns.map((turn) => turn.outcome ?? 'open'),
    differences: differences.map(({ turn, code }) => `${turn ?? '-'} ${code}`),
    degraded: turns.filter((turn) => turn.degraded).map((turn) => turn.index),
    faults: [...faults].sort(),
  });
}
