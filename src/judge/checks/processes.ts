import { draft } from '../draft.ts';
import type { CheckDefinition } from './check.ts';
import { done, skip } from './check.ts';

export const processes: CheckDefinition = {
  id: 'processes',
  summary: 'one dashboard runs for this home',
  run({ reading }) {
    const { process, facts } = reading;
    if (process === null || process.hermesHome === null)
      return skip('the process of the dashboard is not known');
    const others = facts.processes.filter(
      (each) =>
        each.pid !== process.pid &&
        (each.command === 'dashboard' || each.command === 'serve') &&
        each.hermesHome === process.hermesHome,
    );
    return done(
      others.map((each) =>
        draft('ORPHAN_BACKEND', {
          args: { pid: each.pid, port: each.port, install: each.install },
          evidence: [
            `pid ${each.pid}${each.port === null ? '' : ` on port ${each.port}`}, started ${each.startedAt ?? 'at an unknown time'}, from ${each.install ?? 'an unknown install'}`,
            `it has the same home ${each.hermesHome ?? ''} as pid ${process.pid}`,
          ],
        }),
      ),
    );
  },
};
