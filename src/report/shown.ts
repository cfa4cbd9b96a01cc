/**
 * Text from outside as a terminal may show it: no escape sequences, no control or direction characters, one line, at most `most` characters.
 * What is taken out leaves a visible sign, so that nobody can hide a word.
 */
export function shown(text: string, most = 400): string {
  const clean = text
    .replaceAll(
      /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|[@-Z\\-_])?/g,
      '·',
    )
    .replaceAll(/[\r\n\t]+/g, ' ')
    .replaceAll(
      /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu,
      '·',
    );
  // A pile of marks on one letter reaches over other lines, and no line can be broken within it.
  const wellFormed = clean
    .replaceAll(/(\p{M}{4})\p{M}+/gu, '$1·')
    .replaceAll(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '·');
  return wellFormed.length > most
    ? `${wellFormed.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`
    : wellFormed;
}

/** Columns that a terminal shows of a line: colours take none. */
const columnsOf = (text: string): number => text.replaceAll(/\u001b\[[0-9;]*m/g, '').length;

/** Lines of at most `width` columns; a word longer than that stays whole, so that it can be copied. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && columnsOf(line) + 1 + columnsOf(word) > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return line === '' ? lines : [...lines, line];
}

/**
 * A sentence in lines of at most 80 columns: the first stands `indent` columns in, the rest `hang`. Commands do not go through it, they
 * are copied as one line.
 */
export function paragraph(text: string, indent = 0, hang = indent + 2): string[] {
  const [first = '', ...more] = wrap(text, 80 - indent);
  const rest = more.length === 0 ? [] : wrap(more.join(' '), 80 - hang);
  return [`${' '.repeat(indent)}${first}`, ...rest.map((line) => `${' '.repeat(hang)}${line}`)];
}
