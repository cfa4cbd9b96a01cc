import type { EventInput } from './core.ts';
import { isObject, listOf, objectOf, type Json } from './json.ts';

/** What a frame other than an event is to the reducer; null when it is nothing. */
export type Wire =
  | { kind: 'request'; id: string | null; method: string; params: Json }
  | { kind: 'response'; id: string; result: unknown; error: unknown };

/** Request ids of a client are texts or numbers; `1` and `"1"` are not the same. */
export function idOf(id: unknown): string | null {
  return typeof id === 'string' ? `s${id}` : typeof id === 'number' ? `n${id}` : null;
}

export function wireOf(frame: Json): Wire | null {
  const method = frame['method'];
  const id = idOf(frame['id']);
  if (typeof method === 'string') return { kind: 'request', id, method, params: objectOf(frame['params']) };
  if (id === null) return null;
  return 'result' in frame || 'error' in frame
    ? { kind: 'response', id, result: frame['result'], error: frame['error'] }
    : null;
}

/** The prompt of `prompt.submit` as text: numbers become digits, parts are joined, null and what is no text stay null. */
export function promptOf(text: unknown): string | null {
  if (typeof text === 'string') return text;
  if (typeof text === 'number' || typeof text === 'boolean') return String(text);
  if (!Array.isArray(text)) return null;
  const parts = listOf(text).map((part) => (typeof part === 'string' ? part : objectOf(part)['text']));
  return parts.filter((part) => typeof part === 'string').join('\n');
}

const noPayload: Json = {};

/** An event in the shape of its `params`; null when it has no type. */
export function eventOf(params: Json, at: number | null, order: number): EventInput | null {
  const type = params['type'];
  if (typeof type !== 'string') return null;
  const seq = params['seq'];
  const payload = params['payload'];
  return {
    kind: 'event',
    type,
    payload: isObject(payload) ? payload : noPayload,
    seq: typeof seq === 'number' && Number.isFinite(seq) && seq >= 0 ? seq : null,
    at,
    order,
  };
}
