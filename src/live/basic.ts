import type { GatewayQuestion, LogRecord, StoredSessions, Turn } from '../turn/index.ts';
import { cellOf, cellText, firstError } from './cell.ts';
import { openChat, type Chat } from './chat.ts';
import { leaveSessions, type Left } from './leave.ts';
import type { ScenarioResult } from './suite.ts';
import { reasonOf, settleThroughLosses } from './through-losses.ts';
import type { Way } from './way.ts';

export interface BasicOptions {
  way: Way;
  prompt: string;
  signal: AbortSignal;
  keep: boolean;
  onRecord?(record: LogRecord): void;
  /** As in ChatOptions. */
  made?: Set<string>;
}

export interface BasicRun {
  result: ScenarioResult;
  turns: readonly Turn[];
  storedId: string | null;
  /** What could not be deleted of what it made. */
  left: readonly Left[];
  /** Whether the engine may have taken the prompt. If not, another transport can still carry it. */
  sent: boolean;
}

/** Every question of a real home is answered with no: approvals are denied, a choice is left open until the turn is stopped. */
const deny = ({ kind }: GatewayQuestion): string | null => (kind === 'approval' ? 'deny' : null);

/** One plain turn of a session of its own, its restore over a new socket, and its stored rows. Only that session is deleted. */
export async function runBasic(options: BasicOptions): Promise<BasicRun> {
  const { way, signal } = options;
  const began = performance.now();
  const run: Progress = { sent: false, turns: [], storedId: null };
  let left: Left[] = [];
  const done = (part: Part): BasicRun => ({
    ...run,
    left,
    result: {
      id: 'basic',
      expected: 'completed',
      from: 'outcomes',
      ...part,
      ms: Math.round(performance.now() - began),
    },
  });
  try {
    const { onRecord, made } = options;
    const chat = await openChat({
      way,
      signal,
      onQuestion: deny,
      ...(onRecord && { onRecord }),
      ...(made && { made }),
    });
    let part: Part;
    try {
      part = await driveBasic(chat, options, run);
    } finally {
      if (!options.keep) left = await leaveSessions(way, chat);
      chat.close();
    }
    return done(part);
  } catch (error) {
    return done({ status: 'error', got: null, why: reasonOf(error) });
  }
}

type Part = Pick<ScenarioResult, 'status' | 'got' | 'why' | 'lost'>;

interface Progress {
  sent: boolean;
  turns: readonly Turn[];
  storedId: string | null;
}

async function driveBasic(chat: Chat, { prompt }: BasicOptions, run: Progress): Promise<Part> {
  const session = await chat.begin();
  run.storedId = session.storedId;
  const submitted = await chat.gateway.submit(session, prompt);
  run.sent = submitted.status !== 'busy' && submitted.status !== 'held';
  const lostWhy = await settleThroughLosses(chat, session, 1);
  run.turns = chat.finished();
  if (lostWhy !== null) {
    const turn = run.turns.at(-1)?.index ?? 0;
    const error = `The dashboard was lost in the middle of this turn (${lostWhy}) and did not come back.`;
    const got = cellText(cellOf(run.turns, { sessions: [] }, []));
    return { status: 'fail', got, why: `${error} Its prompt is not sent again.`, lost: { turn, error } };
  }
  const stored = await chat.stored(run.storedId === null ? [] : [run.storedId]);
  chat.gateway.drop();
  await chat.gateway.reconnect();
  run.turns = chat.finished();
  const faults = isEmpty(stored) ? ['nothing-stored'] : [];
  const status = run.turns[0]?.outcome === 'completed' && faults.length === 0 ? 'pass' : 'fail';
  const why = status === 'fail' ? firstError(run.turns) : null;
  return { status, got: cellText(cellOf(run.turns, stored, faults)), why };
}

const isEmpty = ({ sessions }: StoredSessions): boolean =>
  sessions.every(({ answer }) => answer.messages.length === 0);
