/** Value of a `.env` line after the equals sign, as python-dotenv reads it: quotes, escapes in double ones, comments. */
export function dotenvValue(raw: string): string {
  const text = raw.replace(/\r$/, '').replace(/^[ \t]+/, '');
  const single = /^'((?:\\'|[^'])*)'/.exec(text);
  if (single) return (single[1] as string).replaceAll(/\\([\\'])/g, '$1');
  const double = /^"((?:\\"|[^"])*)"/.exec(text);
  if (double) return (double[1] as string).replaceAll(/\\([\\'"abfnrtv])/g, unescape);
  return text.replace(/(^|[ \t])#.*$/, '').replace(/[ \t]+$/, '');
}

const escapes: Record<string, string> = { a: '\u0007', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };
const unescape = (_: string, letter: string): string => escapes[letter] ?? letter;
