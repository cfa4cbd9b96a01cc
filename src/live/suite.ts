import type { Provider } from '../simulate/index.ts';
import { compare, type LogRecord, type StoredSessions } from '../turn/index.ts';
import { cellOf, cellText, firstError, type Cell } from './cell.ts';
import { type Chat, openChat } from './chat.ts';
import { expectedCell } from './expected.ts';
import { scenarios, type Scenario } from './scenarios.ts';
import { leaveSessions, type Left } from './leave.ts';
import { pause, type Stage } from './stage.ts';
import { reasonOf } from './through-losses.ts';
import type { Way } from './way.ts';

/**
 * `pass`: as expected. `fail`: otherwise. `error`: it could not be brought to an end; `why` says where. `skip`: this transport cannot be asked.
 * `lost`: the dashboard failed in the middle of that turn.
 */
export interface ScenarioResult {
  id: string;
  status: 'pass' | 'fail' | 'error' | 'skip';
  got: string | null;
  /** The committed cell, or for a release without a column the outcomes alone. */
  expected: string;
  from: 'table' | 'outcomes';
  why: string | null;
  lost?: { turn: number; error: string };
  ms: number;
}

export interface SuiteOptions {
  way: Way;
  provider: Provider | null;
  files: Stage['files'];
  version: string | null;
  /** Ids; null for all. */
  only: readonly string[] | null;
  signal: AbortSignal;
  keep: boolean;
  onResult?(result: ScenarioResult): void;
  /** Sessions of a scenario that could not be deleted. */
  onLeft?(left: readonly Left[]): void;
  /** As in ChatOptions. */
  made?: Set<string>;
  onRecord?(scenario: string, record: LogRecord): void;
}

/** Runs the scenarios one after the other, each with a socket and sessions of its own, which are deleted afterwards. */
export async function runSuite(options: SuiteOptions): Promise<ScenarioResult[]> {
  const results: ScenarioResult[] = [];
  for (const scenario of scenarios) {
    if (options.only !== null && !options.only.includes(scenario.id)) continue;
    if (options.signal.aborted) break;
    const result = await runScenario(scenario, options);
    results.push(result);
    options.onResult?.(result);
  }
  return results;
}

async function runScenario(scenario: Scenario, options: SuiteOptions): Promise<ScenarioResult> {
  const { way, provider, files, signal, version, made } = options;
  const began = performance.now();
  const cell = version === null ? undefined : expectedCell(version, scenario.id, files !== null);
  const expected = cell ?? scenario.outcomes.join(', ');
  const base = { id: scenario.id, expected, from: cell === undefined ? 'outcomes' : 'table' } as const;
  const sessions: string[] = [];
  try {
    const chat = await openChat({
      way,
      signal,
      onQuestion: ({ kind }) => (kind === 'approval' ? 'deny' : null),
      onRecord: (record) => options.onRecord?.(scenario.id, record),
      ...(made && { made }),
    });
    try {
      const faults = new Set<string>();
      const stage: Stage = {
        chat,
        provider,
        files,
        sessions,
        faults,
        signal,
        prompt: promptMaker(scenario.id),
      };
      await scenario.run(stage);
      const got = cellOf(chat.finished(), await storedRows(chat, sessions), faults);
      const status = matches(got, base.from, expected) ? 'pass' : 'fail';
      const why = status === 'fail' ? firstError(chat.finished()) : null;
      return { ...base, status, got: cellText(got), why, ms: since(began) };
    } finally {
      const left = deletes(options) ? await leaveSessions(way, chat) : [];
      options.onLeft?.(left);
      chat.close();
    }
  } catch (error) {
    const why = reasonOf(error);
    return { ...base, status: 'error', got: null, why, ms: since(began) };
  }
}

/** An engine of our own goes with its home: after an interrupt nobody need wait for its sessions. */
const deletes = ({ keep, signal, provider }: SuiteOptions): boolean =>
  !keep && !(signal.aborted && provider !== null);

/** An engine may write its last rows after its word that the turn is over: what is missing is looked for once more until nothing changes. */
async function storedRows(chat: Chat, sessions: readonly string[]): Promise<StoredSessions> {
  let rows = await chat.stored(sessions);
  const isWhole = (): boolean =>
    !compare(chat.finished(), rows).differences.some(({ code }) => code.startsWith('missing-'));
  for (let look = 0; look < 4 && !isWhole(); look += 1) {
    await pause(700);
    const next = await chat.stored(sessions);
    if (JSON.stringify(next) === JSON.stringify(rows)) break;
    rows = next;
  }
  return rows;
}

const matches = (got: Cell, from: ScenarioResult['from'], expected: string): boolean =>
  (from === 'table' ? cellText(got) : got.outcomes.join(', ')) === expected;

const since = (began: number): number => Math.round(performance.now() - began);

/** Prompts that occur nowhere else, so that they can be counted at the model. */
export function promptMaker(id: string): (script: string) => string {
  const nonce = Math.floor(Math.random() * 0x1000000).toString(16);
  let count = 0;
  return (script) => {
    count += 1;
    return `SCN:${script} [${id} ${nonce}.${count}]`;
  };
}
