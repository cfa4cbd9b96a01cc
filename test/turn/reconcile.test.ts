import { describe, expect, test } from 'vitest';
import {
  markTurnFailed,
  pruneOverlay,
  reconcileAfterRefresh,
  restoreOverlay,
  shouldSendToAgent,
  type ActiveTurn,
  type OverlayEvent,
  type Row,
} from '../../src/turn/index.ts';
import { reconcileCases } from './cases.ts';

interface RowCase {
  name: string;
  op?: string;
  rows: Row[];
  sendable: string[];
  current: Row[];
  stored: Row[];
  activeTurn: ActiveTurn | null;
  error: string;
  session: string;
  sessions: string[];
  overlay: OverlayEvent[];
  expected: unknown;
}

function casesOf(file: string): RowCase[] {
  return reconcileCases(file) as unknown as RowCase[];
}

/** Key order does not count, absent keys do. */
const bare = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;

describe('what may be sent to the model', () => {
  test.each(casesOf('sendable.json').map((one) => [one.name, one] as const))('%s', (_name, one) => {
    expect(one.rows.filter(shouldSendToAgent).map((row) => row.id)).toEqual(one.sendable);
  });
});

describe('a failed turn', () => {
  test.each(casesOf('mark-failed.json').map((one) => [one.name, one] as const))('%s', (_name, one) => {
    const before = structuredClone(one.current);
    expect(bare(markTurnFailed(one.current, one.activeTurn!, one.error))).toEqual(one.expected);
    expect(one.current).toEqual(before);
  });
});

describe('shown rows joined with stored rows', () => {
  test.each(casesOf('error-preservation.json').map((one) => [one.name, one] as const))('%s', (_name, one) => {
    const { current, stored, activeTurn } = one;
    const once = reconcileAfterRefresh(current, stored, { activeTurn });
    expect(bare(once)).toEqual(one.expected);
    expect(bare(reconcileAfterRefresh(once, stored, { activeTurn }))).toEqual(one.expected);
  });
});

describe('the overlay', () => {
  test.each(casesOf('overlay.json').map((one) => [one.name, one] as const))('%s', (_name, one) => {
    const got =
      one.op === 'prune-overlay'
        ? pruneOverlay(one.overlay, one.sessions)
        : restoreOverlay(one.stored, one.overlay, one.session);
    expect(bare(got)).toEqual(one.expected);
  });
});
