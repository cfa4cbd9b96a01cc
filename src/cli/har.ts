import { usageError } from '../errors.ts';
import type { LogRecord } from '../turn/index.ts';

/** True when a text begins as an HTTP Archive does: one object whose first key is `log`. */
export const isHar = (text: string): boolean => /^\uFEFF?\s*\{\s*"log"\s*:/.test(text);

interface Message {
  time: number;
  conn: string;
  dir: 'in' | 'out';
  frame: unknown;
}

/**
 * The WebSocket messages of a browser's HAR export (`_webSocketMessages`: `type` send or receive, `time` in seconds, `data`), all sockets by
 * time. What is no JSON text is left out.
 * @throws CompatError usage
 */
export function recordsOfHar(name: string, text: string): LogRecord[] {
  const entries = entriesOf(name, text);
  const messages = entries.flatMap((entry, i) => messagesOf(entry, `ws${i + 1}`));
  if (messages.length === 0) {
    throw usageError(
      `${name} holds no WebSocket messages; export the HAR with content while the socket is open`,
    );
  }
  messages.sort((a, b) => a.time - b.time);
  const start = messages[0]?.time ?? 0;
  return messages.map(({ time, conn, dir, frame }) => ({
    t: Math.round((time - start) * 10_000) / 10,
    dir,
    conn,
    frame,
  }));
}

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

function entriesOf(name: string, text: string): Json[] {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw usageError(`${name} looks like a HAR and is not whole JSON`, { cause: error });
  }
  const log = isObject(value) ? value['log'] : null;
  const entries = isObject(log) ? log['entries'] : null;
  return Array.isArray(entries) ? entries.filter(isObject) : [];
}

function messagesOf(entry: Json, conn: string): Message[] {
  const list = entry['_webSocketMessages'];
  if (!Array.isArray(list)) return [];
  return list.filter(isObject).flatMap((message) => {
    const { type, time, data } = message;
    const dir = type === 'send' ? 'out' : type === 'receive' ? 'in' : null;
    if (dir === null || typeof data !== 'string') return [];
    try {
      const at = typeof time === 'number' && Number.isFinite(time) ? time : 0;
      return [{ time: at, conn, dir, frame: JSON.parse(data) as unknown }];
    } catch {
      return [];
    }
  });
}
