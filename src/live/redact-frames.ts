import type { LogRecord } from '../turn/index.ts';

/** Keys whose values are left out of a frame log: the system prompt and the big lists of `session.info`, and what may be a credential. */
const dropped = new Set(['system_prompt', 'tools', 'skills', 'mcp_servers']);
const secret = /(?:^|_)(?:token|ticket|secret|password|passwd|authorization|cookie|api_?key)$/i;
/** Files that a client uploads; their bytes help nobody. */
const bytes = new Set(['data_url', 'content_base64', 'data']);
const counted = /^(?:input|output|prompt|completion|total|max)_?tokens?$/i;

/** One line of a frame log without system prompt and credentials. `secrets` are values that must not occur anywhere. The text of the chat remains. */
export function redactRecord(record: LogRecord, secrets: readonly string[]): LogRecord {
  return { ...record, frame: clean(record.frame, secrets) };
}

function clean(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string')
    return secrets.reduce((text, each) => text.replaceAll(each, '[redacted]'), value);
  if (Array.isArray(value)) return value.map((each) => clean(each, secrets));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, cleanKey(key, each, secrets)]));
}

function cleanKey(key: string, value: unknown, secrets: readonly string[]): unknown {
  if (dropped.has(key) && (typeof value === 'string' || typeof value === 'object') && value !== null)
    return '[left out]';
  if (bytes.has(key) && typeof value === 'string' && value.length > 200) return '[bytes left out]';
  if (secret.test(key) && !counted.test(key) && typeof value === 'string') return '[redacted]';
  return clean(value, secrets);
}
