import type { GatewaySession } from '../turn/index.ts';
import { isLost, type Chat } from './chat.ts';

/** Waits for the end of a turn, also over a socket that is lost and found again. Why, where the dashboard stays away. */
export async function settleThroughLosses(
  chat: Chat,
  session: GatewaySession,
  count: number,
  limitMs?: number,
): Promise<string | null> {
  for (;;) {
    try {
      await chat.settled(session, count, limitMs);
      return null;
    } catch (error) {
      if (!isLost(error)) throw error;
      const away = await recovered(chat);
      if (away !== null) return away;
    }
  }
}

/** A new socket, and every session attached again. Why, where that does not come about. */
export const recovered = (chat: Chat): Promise<string | null> =>
  chat.recover().then(
    () => null,
    (failure: unknown) => reasonOf(failure),
  );

export const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message.slice(0, 300) : 'unknown';
