import type { GatewayQuestion, GatewaySession, LogRecord, StoredSessions, Turn } from '../turn/index.ts';
import { cellOf, cellText, firstError } from './cell.ts';
import { isLost, openChat, type Chat } from './chat.ts';
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
  /** Whether the engine may have taken the prompt. If not, another transport can still carry it. */
  sent: boolean;
}

/** Every question of a real home is answered with no: approvals are denied, a choice is left open until the turn is stopped. */
const deny = ({ kind }: GatewayQuestion): string | null => (kind === 'approval' ? 'deny' : null);

/** One plain turn of a session of its own, its restore over a new socket, and its stored rows. Only that session is deleted. */
export async function runBasic(options: BasicOptions): Promise<BasicRun> {
  const { way, signal } = options;
  const began = performance.now();
  const ids: string[] = [];
  const run: Progress = { sent: false, turns: [] };
  const done = (part: Pick<ScenarioResult, 'status' | 'got' | 'why' | 'lost'>): BasicRun => ({
    ...run,
    storedId: ids[0] ?? null,
    result: {
      id: 'basic',
      expected: 'completed',
      from: 'outcomes',
      ...part,
      ms: Math.round(performance.now() - began),
    },
  });
  try {
    const chat = await openChat({ way, signal, onQuestion: deny, ...onRecordOf(options) });
    try {
      return done(await driveBasic(chat, options, ids, run));
    } finally {
      chat.close();
    }
  } catch (error) {
    return done({ status: 'error', got: null, why: reasonOf(error) });
  } finally {
    if (!options.keep) await removeSessions(way, ids);
  }
}

interface Progress {
  sent: boolean;
  turns: readonly Turn[];
}

async function driveBasic(
  chat: Chat,
  { prompt }: BasicOptions,
  ids: string[],
  run: Progress,
): Promise<Pick<ScenarioResult, 'status' | 'got' | 'why' | 'lost'>> {
  const session = await chat.gateway.create();
  if (session.storedId !== null) ids.push(session.storedId);
  const submitted = await chat.gateway.submit(session, prompt);
  run.sent = submitted.status !== 'busy' && submitted.status !== 'held';
  const lostWhy = await settle(chat, session);
  run.turns = chat.finished();
  if (lostWhy !== null) {
    const turn = run.turns.at(-1)?.index ?? 0;
    const error = `The dashboard was lost in the middle of this turn (${lostWhy}) and did not come back.`;
    const got = cellText(cellOf(run.turns, { sessions: [] }, []));
    return { status: 'fail', got, why: `${error} Its prompt is not sent again.`, lost: { turn, error } };
  }
  const stored = await chat.stored(ids);
  chat.gateway.drop();
  await chat.gateway.reconnect();
  run.turns = chat.finished();
  const faults = isEmpty(stored) ? ['nothing-stored'] : [];
  const status = run.turns[0]?.outcome === 'completed' && faults.length === 0 ? 'pass' : 'fail';
  const why = status === 'fail' ? firstError(run.turns) : null;
  return { status, got: cellText(cellOf(run.turns, stored, faults)), why };
}

/** Waits for the end of the turn, also over a socket that is lost and found again. Why, where the dashboard stays away. */
async function settle(chat: Chat, session: GatewaySession): Promise<string | null> {
  for (;;) {
    try {
      await chat.settled(session, 1);
      return null;
    } catch (error) {
      if (!isLost(error)) throw error;
      const away = await chat.recover().then(
        () => null,
        (failure: unknown) => reasonOf(failure),
      );
      if (away !== null) return away;
    }
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message.slice(0, 300) : 'unknown';

const onRecordOf = ({ onRecord }: BasicOptions): Pick<BasicOptions, 'onRecord'> =>
  onRecord === undefined ? {} : { onRecord };

const isEmpty = ({ sessions }: StoredSessions): boolean =>
  sessions.every(({ answer }) => answer.messages.length === 0);
