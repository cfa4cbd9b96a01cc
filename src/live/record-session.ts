import type { LogRecord } from '../turn/index.ts';
import { openChat } from './chat.ts';
import { removeSessions } from './suite.ts';
import type { Way } from './way.ts';

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
}

export interface Recorded {
  turns: number;
  storedId: string | null;
  removed: boolean;
}

/** Drives a session of its own through the prompts, or listens to one until the signal or the limit. Approvals are denied in its own, left alone in another's. */
export async function recordSession(options: RecordOptions): Promise<Recorded> {
  const { way, attach, signal, onRecord } = options;
  const chat = await openChat({
    way,
    signal,
    onRecord,
    onQuestion: ({ kind }) => (attach === null && kind === 'approval' ? 'deny' : null),
  });
  const own: string[] = [];
  const recorded: Recorded = { turns: 0, storedId: attach, removed: false };
  try {
    if (attach === null) {
      const session = await chat.gateway.create();
      recorded.storedId = session.storedId;
      if (session.storedId !== null) own.push(session.storedId);
      for (const [index, prompt] of options.prompts.entries()) {
        await chat.gateway.submit(session, prompt);
        await chat.settled(session, index + 1, 600_000);
        await options.flush();
      }
    } else {
      await chat.gateway.resume(attach);
      await listen(options);
    }
    recorded.turns = chat.finished().length;
  } finally {
    chat.close();
    if (!options.keep && own.length > 0) recorded.removed = await removeSessions(way, own);
  }
  return recorded;
}

async function listen({ signal, limitMs, flush }: RecordOptions): Promise<void> {
  const until = limitMs === null ? Number.POSITIVE_INFINITY : performance.now() + limitMs;
  while (!signal.aborted && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    await flush();
  }
}
