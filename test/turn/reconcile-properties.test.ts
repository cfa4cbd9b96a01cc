import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  markTurnFailed,
  overlayEventsOf,
  preserveLocalErrors,
  reconcileAfterRefresh,
  restoreOverlay,
  shouldSendToAgent,
  type Row,
} from '../../src/turn/index.ts';

/** Turns with few different words, so that equal prompts and answers are common. */
const word = fc.constantFrom('hi', 'go', 'look', 'done', 'hi there');
const turn = fc.record({
  prompt: word,
  answer: fc.option(word, { nil: undefined }),
  error: fc.option(fc.constantFrom('HTTP 401', 'cut'), { nil: undefined }),
  tools: fc.nat(2),
});
const turns = fc.array(turn, { maxLength: 6 });

function rowsOf(
  list: readonly { prompt: string; answer?: string; error?: string; tools: number }[],
  prefix: string,
  live: boolean,
): Row[] {
  let n = 0;
  const id = () => `${prefix}${(n += 1)}`;
  return list.flatMap(({ prompt, answer, error, tools }, i) => {
    const turnId = live ? { turnId: `t${i}` } : {};
    const rows: Row[] = [{ id: id(), role: 'user', content: prompt, ...turnId }];
    for (let t = 0; t < tools; t += 1)
      rows.push({ id: id(), role: 'agent', kind: 'tool_call', content: `call ${t}`, ...turnId });
    if (answer !== undefined && !(live && error !== undefined))
      rows.push({ id: id(), role: 'agent', content: answer, ...turnId });
    if (live && error !== undefined)
      rows.push({ id: id(), role: 'agent', content: '', error, localOnly: true, ...turnId });
    return rows;
  });
}

const errors = (rows: readonly Row[]) => rows.filter((row) => row.error !== undefined).map((row) => row.id);

test('joining twice is joining once, ids stay unique, nothing is changed in place', () => {
  fc.assert(
    fc.property(turns, turns, (shown, kept) => {
      const current = rowsOf(shown, 'l', true);
      const stored = rowsOf(kept, 's', false);
      const before = structuredClone({ current, stored });
      const once = reconcileAfterRefresh(current, stored);
      expect(reconcileAfterRefresh(once, stored)).toEqual(once);
      expect(new Set(once.map((row) => row.id)).size).toBe(once.length);
      expect({ current, stored }).toEqual(before);
    }),
    { numRuns: 1000 },
  );
});

test('an error is lost only when the store answered a prompt of that text, and none is made up', () => {
  fc.assert(
    fc.property(turns, turns, (shown, kept) => {
      const current = rowsOf(shown, 'l', true);
      const stored = rowsOf(kept, 's', false);
      const left = new Set(errors(reconcileAfterRefresh(current, stored)));
      const answered = new Set<string>(
        kept.filter((one) => one.answer !== undefined).map((one) => one.prompt),
      );
      for (const id of errors(current)) {
        const prompt =
          shown[Number(/\d+/.exec(current.find((row) => row.id === id)?.turnId ?? '')?.[0])]?.prompt ?? '';
        if (!answered.has(prompt)) expect(left.has(id)).toBe(true);
      }
      for (const id of left) expect(errors(current)).toContain(id);
    }),
    { numRuns: 1000 },
  );
});

test('every stored row is shown, in the stored order, under its own or its shown id', () => {
  fc.assert(
    fc.property(turns, turns, (shown, kept) => {
      const stored = rowsOf(kept, 's', false);
      const rows = reconcileAfterRefresh(rowsOf(shown, 'l', true), stored).map((row) => row.content);
      let at = -1;
      for (const row of stored) {
        at = rows.indexOf(row.content, at + 1);
        expect(at).toBeGreaterThanOrEqual(0);
      }
    }),
    { numRuns: 1000 },
  );
});

test('no error text is ever sent, whatever was joined', () => {
  fc.assert(
    fc.property(turns, turns, (shown, kept) => {
      const stored = rowsOf(kept, 's', false);
      const failed = markTurnFailed(
        rowsOf(shown, 'l', true),
        { turnId: 't0', userId: 'l1', status: 'running' },
        'secret error',
      );
      for (const rows of [reconcileAfterRefresh(failed, stored), preserveLocalErrors(stored, failed)]) {
        expect(
          rows
            .filter(shouldSendToAgent)
            .some((row) => row.error !== undefined || row.content.includes('secret')),
        ).toBe(false);
      }
    }),
    { numRuns: 500 },
  );
});

test('overlays of any content make nothing throw', () => {
  fc.assert(
    fc.property(fc.jsonValue(), turns, (value, kept) => {
      const events = overlayEventsOf(value) ?? [];
      const rows = restoreOverlay(rowsOf(kept, 's', false), events, 's1');
      expect(rows.length).toBeGreaterThanOrEqual(rowsOf(kept, 's', false).length);
    }),
    { numRuns: 500 },
  );
});
