import type { Left } from '../live/leave.ts';
import type { Io } from './io.ts';

/** The sessions that a run makes, and what it has to say of those that stay. */
export interface MadeSessions {
  /** Stored ids that may be there at this moment. */
  made: Set<string>;
  notes: string[];
  add(left: readonly Left[]): void;
  /** Nobody need be told of them any more. */
  close(): void;
}

/** Has a second Ctrl-C say which sessions stay behind on that dashboard or API server. */
export function watchSessions(io: Io, url: string): MadeSessions {
  const made = new Set<string>();
  const notes: string[] = [];
  const words = (): string =>
    made.size === 0
      ? ''
      : `hermes-compat: ended at once; left behind at ${url}: session ${[...made].join(', ')}. Its turn may still run.\n`;
  io.lastWords.add(words);
  return {
    made,
    notes,
    add: (left) => void notes.push(...left.map(leftNote)),
    close: () => void io.lastWords.delete(words),
  };
}

const leftNote = ({ id, why }: Left): string =>
  ({
    away: `session ${id} could not be deleted: it is there again with the dashboard`,
    there: `session ${id} could not be deleted: it is still there`,
    running: `session ${id} is deleted, but its turn did not end when it was stopped: it may come back`,
  })[why];
