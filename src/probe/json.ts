/**
 * JSON of a stranger. 4 MiB can hold more than a million objects, each of which costs thirty times its text:
 * a document with more values than any answer of an engine has is refused before it is parsed.
 */
export type Parsed = { ok: true; value: unknown } | { ok: false; problem: 'not-json' | 'too-large' };

const mostValues = 110_000;
/** Text below this cannot hold many. */
const small = 65_536;

export function parseJson(text: string): Parsed {
  if (text.length > small && valuesIn(text) > mostValues) return { ok: false, problem: 'too-large' };
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return { ok: false, problem: 'not-json' };
  }
}

/** Separators and openings, also those inside strings: an upper bound. */
function valuesIn(text: string): number {
  let values = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x2c || code === 0x3a || code === 0x5b || code === 0x7b) values += 1;
  }
  return values;
}

/** An own property of a JSON object; undefined for anything else. */
export const field = (json: unknown, name: string): unknown =>
  typeof json === 'object' && json !== null && !Array.isArray(json) && Object.hasOwn(json, name)
    ? (json as Record<string, unknown>)[name]
    : undefined;
