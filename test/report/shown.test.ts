import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { paragraph, shown } from '../../src/report/shown.ts';

// What foreign text may do to a terminal or a page: nothing.

test.each([
  ['escape sequences', 'a\u001b[31mred\u001b]8;;http://x\u0007link', 'a·red·link'],
  ['line breaks', 'one\r\ntwo\tthree', 'one two three'],
  ['direction', 'evil\u202etxt.exe', 'evil·txt.exe'],
  ['what nobody sees', 'to\u200bken\u{e0041}', 'to·ken·'],
  ['half a letter', 'a\ud83d', 'a·'],
  ['piles of marks', `z${'\u0301'.repeat(30)}!`, `z${'\u0301'.repeat(4)}·!`],
  ['letters with the marks they have', 'e\u0302\u0301 שׁ', 'e\u0302\u0301 שׁ'],
])('%s', (_, text, right) => {
  expect(shown(text)).toBe(right);
});

test('a cut leaves no half letter', () => {
  expect(shown('😀😀😀', 4)).toBe('😀…');
});

test('a paragraph keeps to 80 columns, colours take none, and a long word stays whole', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'é', '-'), minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 1 }),
      fc.integer({ min: 0, max: 24 }),
      fc.integer({ min: 0, max: 24 }),
      (words, indent, hang) => {
        const lines = paragraph(words.map((each) => `\u001b[1m${each}\u001b[0m`).join(' '), indent, hang);
        const plain = lines.map((line) => line.replaceAll(/\u001b\[\d+m/g, ''));
        expect(plain.every((line) => line.length <= 80)).toBe(true);
        expect(plain.map((line) => line.trim()).join(' ')).toBe(words.join(' '));
        expect(plain.every((line, at) => line.search(/\S/) === (at === 0 ? indent : hang))).toBe(true);
      },
    ),
  );
  const path = `/${'x'.repeat(120)}`;
  expect(paragraph(`Removed ${path} today`)).toEqual(['Removed', `  ${path}`, '  today']);
});
