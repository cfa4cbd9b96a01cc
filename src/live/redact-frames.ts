import { completionErrorText, type LogRecord } from '../turn/index.ts';
import { maskKeys } from './mask-keys.ts';

/** Keys whose values are left out of a frame log: the system prompt and the big lists of `session.info`, and what may be a credential. */
const dropped = new Set(['system_prompt', 'tools', 'skills', 'mcp_servers']);
const secret = /(?:^|_)(?:token|ticket|secret|password|passwd|authorization|cookie|api_?key)$/i;
/** Files that a client uploads; their bytes help nobody. */
const bytes = new Set(['data_url', 'content_base64', 'data']);
const counted = /^(?:input|output|prompt|completion|total|max)_?tokens?$/i;

/** Keys of a frame under which an engine tells of a failure. */
const failing = /^(?:error|error_.*|.*_error|failure.*|warning|notice|detail|reason)$/;
/** Events that carry the chat itself; all others tell of how it goes, and what looks like a key in them is masked. */
const chat = /^(?:message|reasoning|thinking|tool|subagent)\./;

/**
 * One line of a frame log without system prompt and credentials. `secrets` are values that must not occur anywhere; in what tells of a failure
 * everything goes that looks like a key, because providers repeat the key that they refuse. The text of the chat remains.
 */
export function redactRecord(record: LogRecord, secrets: readonly string[]): LogRecord {
  return { ...record, frame: clean(record.frame, { secrets, masks: false }) };
}

interface Rules {
  secrets: readonly string[];
  /** Whether this tells of a failure. */
  masks: boolean;
}

function clean(value: unknown, rules: Rules): unknown {
  if (typeof value === 'string') return cleanText(value, rules);
  if (Array.isArray(value)) return value.map((each) => clean(each, rules));
  if (typeof value !== 'object' || value === null) return value;
  const masks = rules.masks || tellsFailure(value as Record<string, unknown>);
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      cleanKey(key, each, { ...rules, masks: masks || failing.test(key) }),
    ]),
  );
}

function cleanText(value: string, { secrets, masks }: Rules): string {
  const text = secrets.reduce((text, each) => text.replaceAll(each, '[redacted]'), value);
  return masks || completionErrorText(text) !== null ? maskKeys(text) : text;
}

/** An event, or a row that closes a failed turn. */
function tellsFailure({ type, payload, display_kind: kind }: Record<string, unknown>): boolean {
  if (kind === 'failed_turn') return true;
  if (typeof type !== 'string' || typeof payload !== 'object' || payload === null) return false;
  const { status } = payload as { status?: unknown };
  return type === 'message.complete' ? status !== 'complete' : !chat.test(type);
}

function cleanKey(key: string, value: unknown, rules: Rules): unknown {
  if (dropped.has(key) && (typeof value === 'string' || typeof value === 'object') && value !== null)
    return '[left out]';
  if (bytes.has(key) && typeof value === 'string' && value.length > 200) return '[bytes left out]';
  if (secret.test(key) && !counted.test(key) && typeof value === 'string') return '[redacted]';
  return clean(value, rules);
}
