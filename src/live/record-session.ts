import { CompatError, usageError } from '../errors.ts';
import type { LogRecord } from '../turn/index.ts';
import { failureOf, isAtLimit, openChat, type Chat } from './chat.ts';
import { leaveSessions, type Left } from './leave.ts';
import { recovered, settleThroughLosses } from './through-losses.ts';
import { ask, type Way } from './way.ts';

export interface RecordOptions {
  way: Way;
  prompts: readonly string[];
  /** Stored id of a session to join; null makes a new one. */
  attach: string | null;
  limitMs: number | null;
  keep: boolean;
  signal: AbortSignal;
  onRecord(record: LogRecord): void;
  /** Called now and then, so that little is held in memory. */
  flush(): Promise<void>;
  /** As in ChatOptions. */
  made?: Set<string>;
}

export interface Recorded {
  turns: number;
  storedId: string | null;
  removed: boolean;
  left: readonly Left[];
  /** Why it ended before it should have, in words; null where it did not. An interrupt is no failure. */
  failure: string | null;
}

/**
 * Drives a session of its own through the prompts, or listens to one until the signal or the limit. Approvals are denied in its own, left alone
 * in another's. What the dashboard does on the way is in the result; only what keeps it from beginning is thrown.
 */
export async function recordSession(options: RecordOptions): Promise<Recorded> {
  const { way, attach, signal, onRecord, made } = options;
  const chat = await openChat({
    way,
    signal,
    onRecord,
    onQuestion: ({ kind }) => (attach === null && kind === 'approval' ? 'deny' : null),
    ...(made && { made }),
  });
  const recorded: Recorded = { turns: 0, storedId: null, removed: false, left: [], failure: null };
  try {
    recorded.failure =
      attach === null ? await drive(chat, options, recorded) : await listen(chat, attach, options, recorded);
  } catch (error) {
    const why = failureOf(error);
    if (why === null) throw error;
    if (!signal.aborted || isAtLimit(signal)) recorded.failure = why;
  } finally {
    if (!options.keep) recorded.left = await leaveSessions(way, chat);
    chat.close();
  }
  recorded.turns = chat.finished().length;
  recorded.removed = !options.keep && chat.own.length > 0 && recorded.left.length === 0;
  return recorded;
}

async function drive(chat: Chat, options: RecordOptions, recorded: Recorded): Promise<string | null> {
  const session = await chat.begin();
  recorded.storedId = session.storedId;
  for (const [index, prompt] of options.prompts.entries()) {
    await chat.gateway.submit(session, prompt);
    const away = await settleThroughLosses(chat, session, index + 1, 600_000);
    if (away !== null) return lostText(away);
    await options.flush();
  }
  return null;
}

async function listen(
  chat: Chat,
  storedId: string,
  { signal, limitMs, flush }: RecordOptions,
  recorded: Recorded,
): Promise<string | null> {
  await chat.gateway.resume(storedId);
  recorded.storedId = storedId;
  const until = limitMs === null ? Number.POSITIVE_INFINITY : performance.now() + limitMs;
  while (!signal.aborted && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    await flush();
    const away = chat.lost() === null ? null : await recovered(chat);
    if (away !== null) return lostText(away);
  }
  return isAtLimit(signal) ? 'the limit of --timeout came' : null;
}

const lostText = (why: string): string => `the dashboard was lost and did not come back (${why})`;

/**
 * The whole id of a stored session. Asked over HTTP before anything is attached: from 0.22 on an attach to an id that nobody knows makes a session.
 *
 * @throws CompatError usage (no such session), unchecked
 */
export async function findSession(way: Way, id: string): Promise<string> {
  const path = `/api/sessions/${encodeURIComponent(id)}/messages`;
  const { status, json } = await ask(way, 'GET', path).catch((error: unknown) => {
    throw new CompatError('unchecked', `the sessions of ${way.url} cannot be read; nothing was attached`, {
      cause: error,
    });
  });
  if (status === 404)
    throw usageError(`${way.url} has no session "${id.slice(0, 80)}"; nothing was attached`);
  if (status !== 200)
    throw new CompatError(
      'unchecked',
      `the sessions of ${way.url} cannot be read (HTTP ${status}); nothing was attached`,
    );
  // Engines also find an id by its beginning.
  const found = (json as { session_id?: unknown } | null | undefined)?.session_id;
  return typeof found === 'string' ? found : id;
}
