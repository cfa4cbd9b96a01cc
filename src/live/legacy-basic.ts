import type { LogRecord, Turn } from '../turn/index.ts';
import { openLegacyChat, type ApiServer } from './legacy-chat.ts';
import { firstError } from './cell.ts';
import type { Left } from './leave.ts';
import { textOf } from './legacy-suite.ts';
import type { ScenarioResult } from './suite.ts';
import { reasonOf } from './through-losses.ts';
import type { Way } from './way.ts';

export interface LegacyBasicOptions {
  way: Way;
  abilities: ApiServer;
  prompt: string;
  signal: AbortSignal;
  keep: boolean;
  onRecord?(record: LogRecord): void;
  /** As in ChatOptions. */
  made?: Set<string>;
}

export interface LegacyBasicRun {
  result: ScenarioResult;
  turns: readonly Turn[];
  sessionId: string | null;
  /** null where it is gone, or was to be kept. */
  left: Left | null;
}

/** One plain turn over the API server, and its stored rows where it shows them. Only the session that was made for it is deleted. */
export async function runLegacyBasic(options: LegacyBasicOptions): Promise<LegacyBasicRun> {
  const { way, abilities, prompt, signal, onRecord } = options;
  const began = performance.now();
  const chat = openLegacyChat({ way, abilities, signal, ...(onRecord === undefined ? {} : { onRecord }) });
  const base = { id: 'basic', expected: 'completed', from: 'outcomes' } as const;
  const ms = (): number => Math.round(performance.now() - began);
  const { sessionId } = chat;
  let result: ScenarioResult;
  try {
    if (sessionId !== null) options.made?.add(sessionId);
    await chat.send(prompt);
    const turns = chat.finished();
    const stored = await chat.stored();
    const lost = stored !== null && stored.sessions.every(({ answer }) => answer.messages.length === 0);
    const got = textOf(turns, stored, new Set(lost ? ['nothing-stored'] : []));
    const status = turns[0]?.outcome === 'completed' && !lost ? 'pass' : 'fail';
    const why = status === 'fail' ? firstError(turns) : null;
    result = { ...base, status, got, why, ms: ms() };
  } catch (error) {
    const why = reasonOf(error);
    result = { ...base, status: 'error', got: null, why, ms: ms() };
  }
  const left = options.keep ? null : await chat.remove();
  if (left === null && !options.keep && sessionId !== null) options.made?.delete(sessionId);
  return { result, turns: chat.finished(), sessionId, left };
}
