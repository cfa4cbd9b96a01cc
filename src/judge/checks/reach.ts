import type { CheckDefinition } from './check.ts';
import { couldNot, done, skip } from './check.ts';

export const reach: CheckDefinition = {
  id: 'reach',
  summary: 'a Hermes dashboard answers at the address',
  decides: ['status'],
  probes: ['status', 'api-server-health'],
  run({ reach, reading }) {
    switch (reach.state) {
      case 'absent':
        return skip('no dashboard was named and none runs');
      case 'not-looked':
        return couldNot('/api/status was not asked');
      case 'reached':
        return done([], `Hermes Agent ${reading.versionText ?? 'of unknown version'}`);
      case 'failed':
        return done(reach.drafts);
      default: {
        const never: never = reach;
        return never;
      }
    }
  },
};
