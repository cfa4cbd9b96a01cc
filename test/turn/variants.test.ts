import { describe, expect, test } from 'vitest';
import { createReducer, reduce, type LogRecord } from '../../src/turn/index.ts';
import { plain, turnCases } from './cases.ts';
import {
  againAtTheEnd,
  distinct,
  eventParams,
  interleave,
  shiftedCopies,
  isNumbered,
  singleCharacters,
  twice,
  withUnknown,
} from './variants.ts';

const cases = turnCases();

function incrementally(records: readonly LogRecord[]): unknown[] {
  const reducer = createReducer();
  for (const record of records) {
    reducer.push(record);
    reducer.snapshot();
  }
  return plain(reducer.finish());
}

const variants: [string, (records: LogRecord[]) => LogRecord[]][] = [
  ['every frame twice (numbered), or again over a second socket', twice],
  ['all copies after the end of the recording', againAtTheEnd],
  ['each delta cut into single characters', (records) => singleCharacters(records)],
  ['single characters with gaps between all numbers', (records) => singleCharacters(records, 1000)],
  ['unknown events and keys mixed in', withUnknown],
];

describe.each(variants)('%s', (_, change) => {
  test.each(cases.map((one) => [one.name, one] as const))('%s', (_name, one) => {
    const records = change(one.records);
    expect(plain(reduce(records))).toEqual(one.expected.turns);
    if (records.length < 1000) expect(incrementally(records)).toEqual(one.expected.turns);
  });
});

describe('copies, single characters and unknown events at once', () => {
  test.each(cases.filter((one) => one.records.length < 2000).map((one) => [one.name, one] as const))(
    '%s',
    (_name, one) => {
      expect(plain(reduce(withUnknown(twice(singleCharacters(one.records)))))).toEqual(one.expected.turns);
    },
  );
});

describe('numbered frames over a second socket, later by some frames', () => {
  test.each(cases.filter((one) => isNumbered(one.records)).map((one) => [one.name, one] as const))(
    '%s',
    (_name, one) => {
      for (const by of [1, 3, 7])
        expect(plain(reduce(shiftedCopies(one.records, by)))).toEqual(one.expected.turns);
    },
  );
});

describe('two recordings interleaved on one socket', () => {
  test.each(cases.map((one, i) => [one.name, one, cases[(i * 7 + 3) % cases.length]!] as const))(
    '%s',
    (_name, a, b) => {
      const mixed = interleave(distinct(a.records, 'a:'), distinct(b.records, 'b:'));
      const turns = plain(reduce(mixed)) as Record<string, unknown>[];
      const of = (mark: string) =>
        turns
          .filter((turn) => String(turn['session']).startsWith(mark))
          .map((turn, index) => ({ ...turn, index }));
      const want = (mark: string, expected: unknown[]) =>
        expected.map((turn) => ({
          ...(turn as object),
          session: `${mark}${(turn as { session: string }).session}`,
        }));
      expect(of('a:')).toEqual(want('a:', a.expected.turns));
      expect(of('b:')).toEqual(want('b:', b.expected.turns));
      expect(turns.map((turn) => turn['index'])).toEqual(turns.map((_turn, index) => index));
    },
  );
});

/** Places of the live frames with which a turn ended, with the index of the turn. */
function terminals(records: readonly LogRecord[]): { at: number; turn: number }[] {
  const reducer = createReducer();
  const found: { at: number; turn: number }[] = [];
  const open = new Set<number>();
  records.forEach((record, at) => {
    reducer.push(record);
    const type = eventParams(record)?.['type'];
    for (const turn of reducer.snapshot().turns) {
      if (turn.outcome === null) open.add(turn.index);
      else if (open.delete(turn.index) && (type === 'message.complete' || type === 'error'))
        found.push({ at, turn: turn.index });
    }
  });
  return found;
}

describe('cut before the terminal frame: never completed', () => {
  test.each(cases.map((one) => [one.name, one] as const))('%s', (_name, one) => {
    for (const { at, turn } of terminals(one.records)) {
      const { turns } = reduce(one.records.slice(0, at));
      const cut = turns[turn]!;
      expect(['interrupted', 'cancelled']).toContain(cut.outcome);
      expect(cut.degraded).toBe(true);
      expect(cut.final).toBeNull();
    }
  });
});

describe('the terminal frame is missing', () => {
  test.each(cases.map((one) => [one.name, one] as const))('%s', (_name, one) => {
    for (const { at, turn } of terminals(one.records)) {
      const dropped = eventParams(one.records[at]!);
      const records = one.records.filter((record, i) => i !== at && !isCopy(record, dropped));
      const turns = plain(reduce(records)) as Record<string, unknown>[];
      const whole = one.expected.turns as Record<string, unknown>[];
      expect(turns.length).toBe(whole.length);
      turns.forEach((got, i) => {
        if (i !== turn) return expect(got).toEqual(whole[i]);
        expect(got['prompt']).toEqual(whole[i]!['prompt']);
        // Engines that fail before the turn starts send two terminal frames: the second ends it as well.
        if (got['outcome'] === 'error') return expect(whole[i]!['outcome']).toBe('error');
        expect(got['degraded']).toBe(true);
        if (got['outcome'] === 'completed') expect(whole[i]!['outcome']).toBe('completed');
      });
    }
  });
});

/** The same numbered frame over another socket. */
function isCopy(record: LogRecord, dropped: Record<string, unknown> | null): boolean {
  const params = eventParams(record);
  return (
    params !== null &&
    dropped !== null &&
    typeof params['seq'] === 'number' &&
    params['seq'] === dropped['seq'] &&
    params['session_id'] === dropped['session_id']
  );
}
