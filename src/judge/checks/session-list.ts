import { draft } from '../draft.ts';
import type { CheckDefinition } from './check.ts';
import { done, skip } from './check.ts';

/** The engine calls a row active for five minutes after its last message (`is_active`), whether a turn runs or not. */
export const sessionList: CheckDefinition = {
  id: 'session-list',
  summary: 'the session list calls active what really runs a turn',
  probes: ['sessions'],
  run({ reading }) {
    const list = reading.facts.sessionList ?? null;
    if (list === null) return skip('no session list to compare with what runs');
    const evidence = [`${list.rows} rows read, ${list.running} turns run`];
    // A dashboard that was used a moment ago is not at fault: only what the engine cannot explain is a warning.
    const stale = draft('SESSION_ROW_STALE_ACTIVE', {
      severity: 'info',
      args: { count: list.stale },
      evidence,
    });
    const missing = draft('SESSION_ROW_MISSING_ACTIVE', { args: { count: list.missing }, evidence });
    const drafts = [...(list.stale > 0 ? [stale] : []), ...(list.missing > 0 ? [missing] : [])];
    return done(drafts, evidence.join(''));
  },
};
