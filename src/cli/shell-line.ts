/** One argv as a line that a POSIX shell reads back the same. */
export const shellLine = (argv: readonly string[]): string => argv.map(quoteWord).join(' ');

const quoteWord = (word: string): string =>
  /^[A-Za-z0-9_@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
