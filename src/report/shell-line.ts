/** One argv as a line that a shell reads back the same. Control and direction characters are escaped, so that it can be shown. */
export const shellLine = (argv: readonly string[]): string => argv.map(quoteWord).join(' ');

const invisible = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

function quoteWord(word: string): string {
  if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word)) return word;
  if (word.search(invisible) === -1) return `'${word.replaceAll("'", `'\\''`)}'`;
  const escaped = word
    .replaceAll(/[\\']/g, (mark) => `\\${mark}`)
    .replaceAll(invisible, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `$'${escaped}'`;
}
