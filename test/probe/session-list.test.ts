import { expect, test } from 'vitest';
import { compareLists, listedRows } from '../../src/probe/session-list.ts';

const rows = listedRows({
  sessions: [
    { id: 'idle-held', is_active: true, source: 'tui' },
    { id: 'gone', is_active: true, source: 'tui' },
    { id: 'elsewhere', is_active: true, source: 'telegram' },
    { id: 'runs', is_active: true, source: 'tui' },
    { id: 'runs-unseen', is_active: false, source: 'cli' },
    { id: 7 },
  ],
});

test('rows said to be active without a turn, and turns without such a row', () => {
  const live = new Map([
    ['idle-held', false],
    ['runs', true],
    ['runs-unseen', true],
    ['not-stored-yet', true],
  ]);
  expect(compareLists(rows, live)).toEqual({ rows: 5, running: 3, stale: 2, missing: 1 });
});

test.each([null, 'text', {}, { sessions: 'no' }])('%j is no list', (json) => {
  expect(listedRows(json)).toBeNull();
  expect(compareLists(listedRows(json), new Map())).toBeNull();
  expect(compareLists(rows, null)).toBeNull();
});
