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

/** Lines of at most `width` characters; a word longer than that stays whole, so that it can be copied. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return line === '' ? lines : [...lines, line];
}
