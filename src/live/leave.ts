import type { GatewaySession } from '../turn/index.ts';
import type { Chat } from './chat.ts';
import { askLimitMs, dashboardRows, type Rows } from './session-rows.ts';
import { pause } from './stage.ts';
import { ask, type Way } from './way.ts';

/** A session of ours that could not be deleted, and why. */
export interface Left {
  id: string;
  why: 'away' | 'there' | 'running';
}

/** All of the goodbye lasts at most about twice this: somebody may wait behind Ctrl-C. */
const stopLimitMs = 5000;
const lookLimitMs = 4000;

/**
 * Stops what runs in the chat's own sessions, lets them go, deletes them with what compaction made of them, and looks again: an engine that
 * writes on after a DELETE brings the session back. Never rejects. Ids that are gone are taken out of `chat.made`.
 */
export async function leaveSessions(way: Way, chat: Chat): Promise<Left[]> {
  if (chat.made.size === 0) return [];
  const wasCalm = chat.own.every(({ running }) => !running);
  const isStopped = await stopTurns(way, chat).catch(() => false);
  for (const { storedId } of chat.own) if (storedId !== null) chat.made.add(storedId);
  const ids = [...chat.made];
  const options = { isCalm: wasCalm && isStopped, limitMs: lookLimitMs };
  const left = await removeSessions(dashboardRows(way), ids, options);
  for (const id of ids) if (!left.some((each) => each.id === id)) chat.made.delete(id);
  if (isStopped) return left;
  return ids.map((id) => left.find((each) => each.id === id) ?? { id, why: 'running' });
}

/** Whether nothing of it runs any more, as far as the engine says. */
async function stopTurns(way: Way, { gateway, own }: Chat): Promise<boolean> {
  const isRunning = own.some(({ running }) => running);
  if (!gateway.isOpen()) {
    if (!isRunning) return true;
    // Where nothing answers nothing can be stopped either, and the tries of `reconnect` take their time.
    await ask(way, 'GET', '/api/status', { timeoutMs: askLimitMs });
    await within(stopLimitMs, gateway.reconnect());
  }
  const stopped = await Promise.all(
    own.map(async (session) => {
      const until = performance.now() + stopLimitMs;
      await within(stopLimitMs, gateway.interrupt(session)).catch(() => undefined);
      const hasEnded = await ended(session, until);
      await within(askLimitMs, gateway.closeSession(session)).catch(() => undefined);
      return hasEnded;
    }),
  );
  return stopped.every(Boolean);
}

async function ended(session: GatewaySession, until: number): Promise<boolean> {
  while (session.running && performance.now() < until) await pause(50);
  return !session.running;
}

/** Only these ids, and what came of them. `isCalm`: nothing ran, so one look is enough. Never rejects. */
export async function removeSessions(
  rows: Rows,
  ids: readonly string[],
  { isCalm, limitMs }: { isCalm: boolean; limitMs: number },
): Promise<Left[]> {
  const until = performance.now() + limitMs;
  let quiet = 0;
  for (;;) {
    const left = (await Promise.all(ids.map((id) => removeOne(rows, id)))).filter((each) => each !== null);
    if (left.some(({ why }) => why === 'away') || performance.now() > until) return left;
    quiet = left.length === 0 ? quiet + 1 : 0;
    if (quiet >= (isCalm ? 1 : 4)) return left;
    await pause(300);
  }
}

async function removeOne(rows: Rows, id: string): Promise<Left | null> {
  try {
    // Newest first: an engine forgets whose child it was with the parent.
    for (const each of (await rows.chain(id)).toReversed()) await rows.remove(each);
    return !(await rows.has(id)) ? null : { id, why: 'there' };
  } catch {
    return { id, why: 'away' };
  }
}

function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${ms / 1000} s`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
