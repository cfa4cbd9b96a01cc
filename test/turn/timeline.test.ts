import { describe, expect, test } from 'vitest';
import { createReducer, reduce } from '../../src/turn/index.ts';
import { plain, turnCases } from './cases.ts';

describe('every recorded case gives the expected turns', () => {
  for (const one of turnCases()) {
    test(one.name, () => {
      expect(plain(reduce(one.records))).toEqual(one.expected.turns);
    });
  }
});

describe('frame by frame gives the same as the whole recording', () => {
  for (const one of turnCases()) {
    test(one.name, () => {
      const reducer = createReducer();
      for (const record of one.records) {
        reducer.push(record);
        reducer.snapshot();
      }
      expect(plain(reducer.finish())).toEqual(one.expected.turns);
    });
  }
});
