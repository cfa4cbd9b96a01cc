import { describe, expect, test } from 'vitest';
import { compare, reduce, storedSessionsOf } from '../../src/turn/index.ts';
import { turnCases } from './cases.ts';

describe('every recorded case gives the expected differences from its stored rows', () => {
  for (const one of turnCases().filter((c) => c.stored !== null)) {
    test(one.name, () => {
      expect(compare(reduce(one.records).turns, storedSessionsOf(one.stored))).toEqual(
        one.expected.comparison,
      );
    });
  }
});
