import {
  compare,
  type GatewayQuestion,
  type LogRecord,
  type StoredSessions,
  type Turn,
} from '../turn/index.ts';
import { cellText } from './cell.ts';
import { openChat } from './chat.ts';
import { removeSessions, type ScenarioResult } from './suite.ts';
import type { Way } from './way.ts';

export interface BasicOptions {
  way: Way;
  prompt: string;
  signal: AbortSignal;
  keep: boolean;
  onRecord?(record: LogRecord): void;
}

export interface BasicRun {
  result: ScenarioResult;
  turns: readonly Turn[];
  storedId: string | null;
  /** Null where the socket was lost before the prompt was sent: then another transport can still be used. */
  sent: boolean;
}

/** Every question of a real home is answered with no: approvals are denied, a choice is left open until the turn is stopped. */
const deny = ({ kind }: GatewayQuestion): string | null => (kind === 'approval' ? 'deny' : null);

/** One plain turn of a session of its own, its restore over a new socket, and its stored rows. Only that session is deleted. */
export async function runBasic(options: BasicOptions): Promise<BasicRun> {
  const { way, prompt, signal } = options;
  const began = performance.now();
  const ids: string[] = [];
  const run = { sent: false, turns: [] as readonly Turn[] };
  const base = { id: 'basic', expected: 'completed', from: 'outcomes' } as const;
  const ms = (): number => Math.round(performance.now() - began);
  try {
    const chat = await openChat({ way, signal, onQuestion: deny, ...onRecordOf(options) });
    try {
      const session = await chat.gateway.create();
      if (session.storedId !== null) ids.push(session.storedId);
      run.sent = true;
      await chat.gateway.submit(session, prompt);
      await chat.settled(session, 1);
      const stored = await chat.stored(ids);
      chat.gateway.drop();
      await chat.gateway.reconnect();
      run.turns = chat.finished();
      const got = textOf(run.turns, stored);
      const status = run.turns[0]?.outcome === 'completed' && !lost(stored) ? 'pass' : 'fail';
      return { ...run, storedId: ids[0] ?? null, result: { ...base, status, got, why: null, ms: ms() } };
    } finally {
      chat.close();
    }
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 300) : 'unknown';
    return {
      ...run,
      storedId: ids[0] ?? null,
      result: { ...base, status: 'error', got: null, why, ms: ms() },
    };
  } finally {
    if (!options.keep) await removeSessions(way, ids);
  }
}

const onRecordOf = ({ onRecord }: BasicOptions): Pick<BasicOptions, 'onRecord'> =>
  onRecord === undefined ? {} : { onRecord };

const lost = ({ sessions }: StoredSessions): boolean =>
  sessions.every(({ answer }) => answer.messages.length === 0);

function textOf(turns: readonly Turn[], stored: StoredSessions): string {
  return cellText({
    outcomes: turns.map((turn) => turn.outcome ?? 'open'),
    differences: compare(turns, stored).differences.map(({ turn, code }) => `${turn ?? '-'} ${code}`),
    degraded: turns.filter((turn) => turn.degraded).map((turn) => turn.index),
    faults: lost(stored) ? ['nothing-stored'] : [],
  });
}
