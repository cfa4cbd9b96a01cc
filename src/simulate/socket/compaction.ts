import { since } from '../release/since.ts';
import type { Row } from '../world.ts';
import { emit, newStoredId } from './hub.ts';
import type { Run } from './run.ts';
import { addRow } from './run.ts';

/** A conversation that outgrows the window is summed up before the next call: how each release tells it, and what it does to the stored rows. */

/** What the engines keep free of a window of 64,000 tokens. */
const mostTokens = 0.85 * 64_000;

const summary =
  '[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted into the summary below.\n## Summary\nThe user ran scripted scenarios. Nothing is open.';

const cleared = '[Old tool output cleared to save context space]';

interface Compacted {
  rows: Row[];
  /** Index of the first row of this turn among them. */
  firstRow: number;
}

const summaryRow = (role: Row['role'], kind?: string): Row => ({
  id: 0,
  role,
  content: summary,
  at: Date.now(),
  ...(kind !== undefined && { kind }),
});

/** 0.18.2 to 0.21.0: the first prompt stays, what lies between it and this turn is one summary. The first turn has nothing before it. */
const keepingFirst = (rows: readonly Row[], firstRow: number): Compacted | null =>
  firstRow === 0
    ? null
    : {
        rows: [...rows.slice(0, 1), summaryRow('assistant'), ...rows.slice(firstRow)],
        firstRow: 2,
      };

/** From 0.21.4: one hidden summary of everything up to the prompt of this turn, and the results of its tools are cleared. */
const hiding = (rows: readonly Row[], firstRow: number): Compacted => ({
  rows: [
    summaryRow('user', 'hidden'),
    ...rows.slice(firstRow + 1).map((row) => (row.role === 'tool' ? { ...row, content: cleared } : row)),
  ],
  firstRow: 0,
});

/** In place, with new ids, as the engine writes them anew. */
const rewrite = (run: Run): void => {
  const { session, hub } = run;
  const compact = since(hub.world.release, '0.21.4') ? hiding : keepingFirst;
  const compacted = compact(session.rows, run.firstRow);
  if (compacted === null) return;
  const last = session.rows.at(-1)?.id ?? 0;
  session.rows = compacted.rows.map((row, at) => ({ ...row, id: last + at + 1 }));
  run.firstRow = compacted.firstRow;
};

const tell = (run: Run, kind: string, text: string): void =>
  emit(run.hub, run.session, 'status.update', { kind, text });

/** Compacts when the model said that its last call took too much. */
export const compactWhenFull = (run: Run, tokens: number): void => {
  if (tokens < mostTokens || run.compacted) return;
  const { release } = run.hub.world;
  run.compacted = true;
  run.session.compressions += 1;
  const text = '🗜️ Compacting context — summarizing earlier conversation so I can continue...';
  tell(run, since(release, '0.17.0') ? 'compacting' : 'lifecycle', text);
  if (since(release, '0.18.2')) rewrite(run);
  if (since(release, '0.20.0')) tell(run, 'compacted', '✓ Context compaction complete — continuing turn...');
};

/** Up to 0.17 the conversation goes on under a new stored id; the old one keeps the transcript before. */
export const rotateWhenCompacted = ({ hub, session, compacted }: Run): void => {
  if (!compacted || since(hub.world.release, '0.18.2')) return;
  const old = { ...session, id: `${session.id}-before`, open: false, turn: null, question: null };
  hub.world.sessions.unshift(old);
  session.stored = newStoredId(new Date());
  session.rows = [];
  addRow(session, { role: 'assistant', content: summary });
};
