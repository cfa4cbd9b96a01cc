import { draft } from '../draft.ts';
import { atLeast } from '../version.ts';
import type { CheckDefinition } from './check.ts';
import { done, skip } from './check.ts';

export const gateway: CheckDefinition = {
  id: 'gateway',
  summary: 'whether a gateway owns the sessions of this home (0.22 and newer)',
  run({ reading }) {
    if (reading.version === null || !atLeast(reading.version, '0.22.0'))
      return skip('this release has no such gateway');
    const home = reading.process?.hermesHome ?? reading.home?.path ?? null;
    const found = reading.facts.processes.find(
      (each) => each.command === 'gateway' && each.hermesHome === home,
    );
    if (found === undefined || home === null) return done([]);
    return done([
      draft('CANONICAL_GATEWAY_PRESENT', {
        args: { pid: found.pid, home },
        evidence: [`pid ${found.pid} is a gateway of ${home}`],
      }),
    ]);
  },
};
