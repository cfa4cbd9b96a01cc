/** Comparing texts of which white space is not part: engines trim and glue segments differently in deltas, final text and rows. */

/** The text without any white space. */
export function squeeze(text: string): string {
  return text.replace(/\s+/g, '');
}

export function sameText(a: string, b: string): boolean {
  return a === b || squeeze(a) === squeeze(b);
}

/** Number of the first `kept` characters that are not white space, as an index into `raw` behind the last of them. */
export function indexBehind(raw: string, kept: number): number {
  let seen = 0;
  for (let i = 0; i < raw.length; i += 1) {
    if (seen === kept) return i;
    if (!isSpace(raw, i)) seen += 1;
  }
  return raw.length;
}

function isSpace(text: string, index: number): boolean {
  return text.charAt(index).trim() === '';
}

/**
 * What a final text says about the text that was streamed before it (white space aside):
 * `same` · `beginning`: the stream is its beginning · `cut`: it ends the stream after a blank line, `at` is where it begins there ·
 * `holes`: the stream is beginning and end of it · `other`.
 */
export type Relation =
  | { kind: 'same' }
  | { kind: 'beginning' }
  | { kind: 'cut'; at: number }
  | { kind: 'holes' }
  | { kind: 'other' };

export function relate(streamed: string, whole: string): Relation {
  const seen = squeeze(streamed);
  const all = squeeze(whole);
  if (seen === all) return { kind: 'same' };
  if (all.startsWith(seen)) return { kind: 'beginning' };
  if (seen.endsWith(all)) {
    const at = nextFilled(streamed, indexBehind(streamed, seen.length - all.length));
    return /\n[^\S\n]*\n\s*$/.test(streamed.slice(0, at)) ? { kind: 'cut', at } : { kind: 'other' };
  }
  return isWithHoles(seen, all) ? { kind: 'holes' } : { kind: 'other' };
}

function nextFilled(raw: string, from: number): number {
  let at = from;
  while (at < raw.length && isSpace(raw, at)) at += 1;
  return at;
}

/** True when `part` is `whole` with one piece missing (at its beginning or in the middle). */
function isWithHoles(part: string, whole: string): boolean {
  if (part.length >= whole.length) return false;
  let ahead = 0;
  while (ahead < part.length && part[ahead] === whole[ahead]) ahead += 1;
  return whole.endsWith(part.slice(ahead)) || endsWithLater(part, whole, ahead);
}

/** The common beginning may be longer than needed: a shorter one leaves a longer end to look for. */
function endsWithLater(part: string, whole: string, ahead: number): boolean {
  let behind = 0;
  while (behind < part.length && part[part.length - 1 - behind] === whole[whole.length - 1 - behind])
    behind += 1;
  return ahead + behind >= part.length;
}

/**
 * The lengths, longest first, of all beginnings of `next` with which `text` ends.
 * Linear (prefix function), because both can be hundreds of kilobytes.
 */
export function sharedEnds(text: string, next: string): number[] {
  const tail = text.slice(Math.max(0, text.length - next.length));
  const joined = `${next}\u0000${tail}`;
  const border = new Int32Array(joined.length);
  for (let i = 1; i < joined.length; i += 1) {
    let length = border[i - 1] ?? 0;
    while (length > 0 && joined[i] !== joined[length]) length = border[length - 1] ?? 0;
    border[i] = joined[i] === joined[length] ? length + 1 : length;
  }
  const lengths: number[] = [];
  for (let length = border[joined.length - 1] ?? 0; length > 0; length = border[length - 1] ?? 0) {
    lengths.push(length);
  }
  return tail === '' || next === '' ? [] : lengths;
}

/** True when `text` holds every word of `words` (a prompt), words that begin with `@` aside; false without any word. */
export function holdsWords(text: string, words: string): boolean {
  const wanted = words.split(/\s+/).filter((word) => word !== '' && !word.startsWith('@'));
  return wanted.length > 0 && wanted.every((word) => text.includes(word));
}
