import { CompatError } from '../errors.ts';
import {
  createReducer,
  readCompletion,
  rowsOfTurn,
  shouldSendToAgent,
  type LogRecord,
  type StoredSessions,
  type Turn,
} from '../turn/index.ts';
import { removeSessions, type Left } from './leave.ts';
import { apiServerRows } from './session-rows.ts';
import { ask, jsonOf, readAll, send, type Way } from './way.ts';

/** A conversation over the API server of a gateway, as clients in legacy mode hold it. */
export interface LegacyChat {
  /** The stored id; null without a key, because only a key may name one. */
  sessionId: string | null;
  /** Sends a prompt and reads its turn to the end. `stop` closes the connection, which is the only Stop there is. */
  send(prompt: string, options?: { stop?: AbortSignal; onText?(): void }): Promise<void>;
  turns(): readonly Turn[];
  finished(): readonly Turn[];
  /** The rows of the conversation; null where this API server shows none (before 0.15.2, or without a key). */
  stored(): Promise<StoredSessions | null>;
  /** Deletes the conversation and looks whether it is gone; null then. What it can never delete is in `legacyNotes`. */
  remove(): Promise<Left | null>;
}

export interface LegacyOptions {
  /** `used` is `bearer` with the key, or `none`. */
  way: Way;
  abilities: ApiServer;
  /** Continues a conversation instead of beginning one. */
  sessionId?: string;
  signal: AbortSignal;
  onRecord?(record: LogRecord): void;
}

/** What an API server can do, by its own word. */
export interface ApiServer {
  /** null where its health does not tell it (before 0.19). */
  version: string | null;
  showsRows: boolean;
  deletes: boolean;
}

const turnLimitMs = 150_000;
/** A turn whose connection was cut ends with its next piece of text, and is refused to be deleted until then. */
const removeLimitMs = 9000;

export function openLegacyChat(options: LegacyOptions): LegacyChat {
  const { way, abilities, signal, onRecord } = options;
  const reducer = createReducer({ valueLimit: 2000 });
  const sessionId = way.used.kind === 'bearer' ? (options.sessionId ?? newId()) : null;
  let isCut = false;
  const history: { role: string; content: string }[] = [];
  const record = (line: LogRecord): void => {
    reducer.push(line);
    onRecord?.(line);
  };
  const path = sessionId === null ? null : `/api/sessions/${encodeURIComponent(sessionId)}`;
  return {
    sessionId,
    async send(prompt, { stop, onText } = {}) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(turnLimitMs)]);
      const messages = [...(sessionId === null ? history : []), { role: 'user', content: prompt }];
      const name = sessionId ?? 'legacy';
      isCut = true;
      await readTurn({ way, sessionId, messages, prompt, name, limit, stop, onText, record });
      isCut = stop?.aborted === true;
      const turn = reducer.finish().turns.at(-1);
      if (turn !== undefined) history.push(...spokenOf(turn));
    },
    turns: () => reducer.snapshot().turns,
    finished: () => reducer.finish().turns,
    stored: async () => (path === null || !abilities.showsRows ? null : readRows(way, path, sessionId ?? '')),
    async remove() {
      if (sessionId === null || !abilities.deletes) return null;
      const options = { isCalm: !isCut, limitMs: removeLimitMs };
      return (await removeSessions(apiServerRows(way), [sessionId], options))[0] ?? null;
    },
  };
}

const newId = (): string => `hermes-compat-${crypto.randomUUID().slice(0, 13)}`;

/** What of a turn goes back to the model where the client keeps the conversation: never an error, a tool or a thought. */
const spokenOf = (turn: Turn): { role: string; content: string }[] =>
  rowsOfTurn(turn, String(turn.index))
    .filter((row) => shouldSendToAgent(row))
    .map(({ role, content }) => ({ role: role === 'agent' ? 'assistant' : 'user', content }));

interface Reading {
  way: Way;
  sessionId: string | null;
  messages: readonly { role: string; content: string }[];
  prompt: string;
  name: string;
  limit: AbortSignal;
  stop: AbortSignal | undefined;
  onText: (() => void) | undefined;
  record(line: LogRecord): void;
}

async function readTurn(reading: Reading): Promise<void> {
  const { way, sessionId, messages, limit, stop, onText } = reading;
  const { message, close } = await send(
    way,
    'POST',
    '/v1/chat/completions',
    {
      body: { stream: true, messages },
      headers: sessionId === null ? {} : { 'X-Hermes-Session-Id': sessionId },
    },
    limit,
  );
  const turn = readCompletion({
    session: reading.name,
    prompt: reading.prompt,
    stored: sessionId,
    now: () => performance.now(),
    record: reading.record,
  });
  const end = (): void => {
    turn.stop();
    close();
  };
  stop?.addEventListener('abort', end, { once: true });
  try {
    const status = message.statusCode ?? 0;
    if (status !== 200) return turn.refuse(status, jsonOf(await readAll(message)));
    message.setEncoding('utf8');
    for await (const piece of message as AsyncIterable<string>) {
      turn.push(piece);
      if (piece.includes('"content"')) onText?.();
    }
    turn.end();
  } catch (error) {
    // Cut by us, or by the network: then the reducer says that the end was not seen.
    if (limit.aborted) throw error;
  } finally {
    stop?.removeEventListener('abort', end);
    close();
  }
}

async function readRows(way: Way, path: string, asked: string): Promise<StoredSessions> {
  let before = '';
  for (let reading = 1; ; reading += 1) {
    const { status, json } = await ask(way, 'GET', `${path}/messages`);
    const { session_id: id, data } = (status === 200 ? json : {}) as { session_id?: unknown; data?: unknown };
    const messages: unknown[] = Array.isArray(data) ? data : [];
    const text = JSON.stringify(messages);
    if (text === before || reading >= 12)
      return { sessions: [{ asked, answer: { session_id: typeof id === 'string' ? id : null, messages } }] };
    before = text;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/**
 * Looks whether an API server answers there and takes the key. Nothing is sent to a model.
 *
 * @throws CompatError unchecked
 */
export async function findApiServer(way: Way): Promise<ApiServer> {
  const failed = (why: string, finding: string): CompatError =>
    new CompatError('unchecked', `no API server of a gateway at ${way.url}: ${why}; nothing was sent`, {
      finding,
    });
  const health = await ask(way, 'GET', '/health').catch((error: unknown) => {
    throw failed(error instanceof Error ? error.message : 'no answer', 'CONNECTION_REFUSED');
  });
  const { platform, version } = (health.json ?? {}) as { platform?: unknown; version?: unknown };
  if (health.status !== 200 || typeof platform !== 'string' || !/hermes/i.test(platform))
    throw failed(`/health answers with HTTP ${health.status} and names no Hermes`, 'WRONG_SERVICE');
  const { status, json } = await ask(way, 'GET', '/v1/capabilities');
  if (status === 401 || status === 403)
    throw failed(
      way.used.kind === 'none' ? 'it asks for a key (API_SERVER_KEY)' : 'it refuses the key',
      way.used.kind === 'none' ? 'TOKEN_MISSING' : 'TOKEN_REJECTED',
    );
  const { endpoints = {} } = (json ?? {}) as { endpoints?: Record<string, unknown> };
  return {
    version: typeof version === 'string' ? version.slice(0, 40) : null,
    showsRows: 'session_messages' in endpoints,
    deletes: 'session_delete' in endpoints,
  };
}

/** What a client of the API server never sees, for the report. */
export function legacyNotes({ showsRows, deletes }: ApiServer, sessionId: string | null): string[] {
  return [
    'over the API server tool arguments and results are not seen, approvals cannot be answered, and a lost connection ends the turn',
    'reasoning and the tool limit are seen there from 0.21.4 on, a failed turn as failed from 0.18.2 on',
    ...(showsRows && sessionId !== null
      ? []
      : ['the stored rows cannot be read here, so nothing is compared with them']),
    ...(deletes && sessionId !== null
      ? []
      : [
          'the session that was made stays: this API server deletes none without a key, and none before 0.15.2',
        ]),
  ];
}
