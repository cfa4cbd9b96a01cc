import { execFileSync } from 'node:child_process';

import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import { quote, quoteAll } from '../../src/host/quote.ts';

it('quotes only where it must', () => {
  expect(quoteAll(['ls', '-l', '/a/b.c', 'x=1', 'a b', "it's", '', '~', '$x', '*'])).toBe(
    `ls -l /a/b.c 'x=1' 'a b' 'it'\\''s' '' '~' '$x' '*'`,
  );
});

it('gives every word to a shell as it is', () => {
  const word = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0'));
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 20 }), (words) => {
      const printed = execFileSync('/bin/sh', ['-c', `printf '%s\\0' ${quoteAll(words)}`], {
        encoding: 'utf8',
      });
      expect(printed.split('\0').slice(0, -1)).toEqual(words);
    }),
    { numRuns: 60 },
  );
});

it('refuses what no word can hold', () => {
  expect(() => quote('a\0b')).toThrow(RangeError);
});
