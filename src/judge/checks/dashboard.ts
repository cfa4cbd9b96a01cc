import { draft } from '../draft.ts';
import { launch } from '../remedies/launch.ts';
import type { CheckDefinition } from './check.ts';
import { done, skip } from './check.ts';

export const dashboard: CheckDefinition = {
  id: 'dashboard',
  summary: 'a dashboard is running',
  run({ reading, reach }) {
    if (reach.state === 'reached') return done([], reading.facts.service?.url ?? '');
    if (reach.state !== 'absent') return skip('no dashboard was reached');
    if (reading.install === null) return skip('no install was found');
    return done([
      draft('DASHBOARD_NOT_RUNNING', {
        args: { install: reading.install.root, version: reading.install.version },
        evidence: ['no process of a dashboard was found for this home'],
        remedies: reading.install.missingModules.length > 0 ? [] : [launch(reading)],
      }),
    ]);
  },
};
