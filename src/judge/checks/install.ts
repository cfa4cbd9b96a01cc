import { draft } from '../draft.ts';
import type { CheckDefinition } from './check.ts';
import { done, skip } from './check.ts';

export const install: CheckDefinition = {
  id: 'install',
  summary: 'the engine’s install is found on disk',
  run({ reading, reach }) {
    const { facts } = reading;
    if (!reading.hasDisk || facts.host === null) return skip('the disk cannot be read from here');
    const isFound = reach.state === 'absent' ? reading.install !== null : facts.installs.length > 0;
    if (isFound) return done([], reading.install?.root ?? facts.installs[0]?.root ?? '');
    const looked = facts.host.looked.filter((each) => each.found !== 'install');
    return done([
      draft('INSTALL_NOT_FOUND', {
        severity: reach.state === 'reached' ? 'info' : 'error',
        args: { places: looked.map((each) => each.place) },
        evidence: looked
          .slice(0, 12)
          .map((each) => `${each.place}: ${each.found}${each.why === null ? '' : ` (${each.why})`}`),
      }),
    ]);
  },
};
