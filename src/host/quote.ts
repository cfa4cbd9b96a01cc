const plain = /^[A-Za-z0-9_@%+:,./-]+$/;

/**
 * One word of a POSIX shell line: as it is when nothing in it is special, else in single quotes.
 *
 * @throws RangeError for a NUL, which no shell word can hold
 */
export function quote(word: string): string {
  if (word.includes('\0')) throw new RangeError('a shell word cannot hold a NUL character');
  return plain.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** argv as one POSIX shell line. */
export const quoteAll = (argv: readonly string[]): string => argv.map(quote).join(' ');
