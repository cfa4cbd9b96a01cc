import {
  createReducer,
  isGatewayFailure,
  openGateway,
  type Attached,
  type Gateway,
  type GatewayQuestion,
  type GatewaySession,
  type LogRecord,
  type StoredSessions,
  type Turn,
} from '../turn/index.ts';
import { ask, socketOpener, type Way } from './way.ts';

/** Chat over one dashboard: a gateway client whose frames go into a reducer, and the stored rows beside it. */
export interface Chat {
  gateway: Gateway;
  log: readonly LogRecord[];
  turns(): readonly Turn[];
  /** The turns as if the recording ended now. */
  finished(): readonly Turn[];
  /** Waits until something holds, looking after each frame. Rejects after the limit, and with `isLost` when the socket goes away by itself. */
  until(what: string, holds: () => boolean, limitMs?: number): Promise<void>;
  /** Waits until this many turns are settled, and nothing runs in this session. */
  settled(session: GatewaySession, count: number, limitMs?: number): Promise<void>;
  /** After a loss: a new socket and every session attached again. Rejects when the dashboard stays away. */
  recover(): Promise<readonly Attached[]>;
  /** A new session of this chat's own. */
  begin(): Promise<GatewaySession>;
  own: readonly GatewaySession[];
  /** Stored ids of the own sessions, as long as they may be there. */
  made: Set<string>;
  /** Why the socket went away by itself; null while it is there. */
  lost(): string | null;
  stored(ids: readonly string[]): Promise<StoredSessions>;
  close(): void;
}

/** The socket went away without our doing, and nothing more of the running turn can come. */
export const isLost = (error: unknown): error is Error & { lost: true } =>
  error instanceof Error && 'lost' in error;

/** A wait that came to nothing, for whatever reason: its sentence is for people. */
class WaitError extends Error {}

/** Why a conversation could not go on, in words; null for what is no matter of the dashboard's. */
export const failureOf = (error: unknown): string | null =>
  error instanceof WaitError || isGatewayFailure(error) ? error.message.slice(0, 300) : null;

export interface ChatOptions {
  way: Way;
  signal: AbortSignal;
  onQuestion(question: GatewayQuestion): string | null;
  onRecord?(record: LogRecord): void;
  /** Takes the ids of `Chat.made` as they come and go, for somebody who has to tell of them at any moment. */
  made?: Set<string>;
}

/** First turns of an engine process build an agent: up to a minute without a network. */
const turnLimitMs = 150_000;

export async function openChat({
  way,
  signal,
  onQuestion,
  onRecord,
  made = new Set(),
}: ChatOptions): Promise<Chat> {
  const reducer = createReducer({ valueLimit: 2000 });
  const log: LogRecord[] = [];
  const waiting = new Set<() => void>();
  const own: GatewaySession[] = [];
  let lost: string | null = null;
  const lookAgain = (): void => {
    for (const look of waiting) look();
  };
  const gateway = await openGateway({
    connect: socketOpener(way),
    onQuestion,
    onRecord(record) {
      log.push(record);
      reducer.push(record);
      onRecord?.(record);
    },
    // After the record: by now the session has noted what the event says of it.
    onEvent: lookAgain,
    onLost: (why) => {
      lost = why;
      lookAgain();
    },
  });
  const until: Chat['until'] = (what, holds, limitMs = turnLimitMs) =>
    waitUntil({ waiting, signal, lost: () => lost }, what, holds, limitMs);
  const settle: Chat['settled'] = async (session, count, limitMs) => {
    const turns = (): readonly Turn[] => reducer.snapshot().turns;
    const holds = (): boolean =>
      !session.running && turns().filter((turn) => turn.outcome !== null).length >= count;
    // An attach between the last frame and the word that the session is idle: the end went elsewhere, and the rows tell it.
    const isMissed = (): boolean =>
      !session.running &&
      turns().some(({ session: id, phase }) => id === session.runtimeId && phase === 'degraded');
    await until(`turn ${count} to end`, () => holds() || isMissed(), limitMs);
    if (holds() || session.storedId === null) return;
    await gateway.resume(session.storedId, session);
    await until(`turn ${count} to end`, holds, limitMs);
  };
  return {
    gateway,
    log,
    turns: () => reducer.snapshot().turns,
    finished: () => reducer.finish().turns,
    until,
    settled: (session, count, limitMs) => settle(session, count, limitMs),
    async recover() {
      const attached = await gateway.reconnect();
      lost = null;
      return attached;
    },
    own,
    made,
    async begin() {
      const session = await gateway.create();
      own.push(session);
      if (session.storedId !== null) made.add(session.storedId);
      return session;
    },
    lost: () => lost,
    stored: (ids) => readStored(way, ids),
    close: () => gateway.close(),
  };
}

interface Waits {
  waiting: Set<() => void>;
  signal: AbortSignal;
  lost(): string | null;
}

/** Ended by the limit of the whole run, not by a person. */
export const isAtLimit = ({ reason }: AbortSignal): boolean =>
  reason instanceof DOMException && reason.name === 'TimeoutError';

function waitUntil(
  { waiting, signal, lost }: Waits,
  what: string,
  holds: () => boolean,
  limitMs: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      clearTimeout(timer);
      waiting.delete(look);
      signal.removeEventListener('abort', stop);
    };
    const look = (): void => {
      const why = lost();
      const does = holds();
      if (!does && why === null) return;
      leave();
      if (does) resolve();
      else
        reject(
          Object.assign(new WaitError(`lost while waiting for ${what}: ${why}`), { lost: true as const }),
        );
    };
    const stop = (): void => {
      leave();
      reject(
        new WaitError(
          `${isAtLimit(signal) ? 'the limit of --timeout came' : 'interrupted'} while waiting for ${what}`,
        ),
      );
    };
    const timer = setTimeout(() => {
      leave();
      reject(new WaitError(`waited ${limitMs / 1000} s for ${what}`));
    }, limitMs);
    waiting.add(look);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    else look();
  });
}

/** Rows are written a little after the last frame, so they are read until two readings agree. */
async function readStored(way: Way, ids: readonly string[]): Promise<StoredSessions> {
  let before = '';
  for (let reading = 1; ; reading += 1) {
    const sessions = await Promise.all(ids.map((id) => readRows(way, id)));
    const text = JSON.stringify(sessions);
    if (text === before || reading >= 12) return { sessions };
    before = text;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

async function readRows(way: Way, asked: string): Promise<StoredSessions['sessions'][number]> {
  const { status, json } = await ask(way, 'GET', `/api/sessions/${encodeURIComponent(asked)}/messages`);
  const body = (status === 200 ? json : null) as
    | { session_id?: unknown; messages?: unknown }
    | null
    | undefined;
  const id = body?.session_id;
  const messages = body?.messages;
  return {
    asked,
    answer: {
      session_id: typeof id === 'string' ? id : null,
      messages: Array.isArray(messages) ? messages : [],
    },
  };
}
