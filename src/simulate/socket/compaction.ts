import { randomBytes } from 'node:crypto';
import { since } from '../release/since.ts';
import type { Row } from '../world.ts';
import { emit } from './hub.ts';
import type { Run } from './run.ts';
import { addRow } from './run.ts';

/** A conversation that outgrows the window is summed up before the next call: how each release tells it, and what it does to the stored rows. */

/** What the engines keep free of a window of 64,000 tokens. */
const mostTokens = 0.85 * 64_000;

const summary =
  '[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted into the summary below.\n## Summary\nThe user ran scripted scenarios. Nothing is open.';

const cleared = '[Old tool output cleared to save context space]';

/** The rows with new ids, as the engine writes them anew. */
const renumbered = (rows: readonly Row[], after: number): Row[] =>
  rows.map((row, at) => ({ ...row, id: after + at + 1 }));

/** In place, with new ids: the first prompt stays, what lies between it and this turn is one summary; newer releases sum up this turn too. */
const rewrite = (run: Run): void => {
  const { session, hub } = run;
  const last = session.rows.at(-1)?.id ?? 0;
  const hides = since(hub.world.release, '0.21.4');
  // The first turn has nothing before it that could be summed up.
  if (run.firstRow === 0 && !hides) return;
  const told: Row = {
    id: 0,
    role: hides ? 'user' : 'assistant',
    content: summary,
    at: Date.now(),
    ...(hides && { kind: 'hidden' }),
  };
  const rest = session.rows.slice(run.firstRow + (hides ? 1 : 0));
  const later = hides ? rest.map((row) => (row.role === 'tool' ? { ...row, content: cleared } : row)) : rest;
  const before = hides ? [told] : [...session.rows.slice(0, 1), told];
  session.rows = renumbered([...before, ...later], last);
  run.firstRow = hides ? 0 : before.length;
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
  session.stored = `${session.stored.slice(0, -6)}${randomBytes(3).toString('hex')}`;
  session.rows = [];
  addRow(session, { role: 'assistant', content: summary });
};
