import { expect, test } from 'vitest';
import { shown } from '../../src/report/shown.ts';

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
