import type { Draft } from '../draft.ts';
import { draft } from '../draft.ts';
import { parseVersion } from '../../engine/version.ts';
import type { Reading } from '../reading.ts';
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
        return done(oddStatus(reading), `Hermes Agent ${reading.versionText ?? 'of unknown version'}`);
      case 'failed':
        return brokenOnDisk(reading, reach.drafts)
          ? couldNot('the dashboard does not start; the package says why')
          : done(reach.drafts);
      default: {
        const never: never = reach;
        return never;
      }
    }
  },
};

/** A start that failed by what the files show too is told once, by the check of the package, which knows the way out. */
const brokenOnDisk = ({ install }: Reading, drafts: readonly Draft[]): boolean =>
  (install?.missingModules.length ?? 0) > 0 && drafts.every(({ code }) => code === 'ENGINE_BROKEN_PACKAGE');

/** A checkout without tags honestly says "unknown" (0.22); its files then know better. */
const unreadable = (reading: Reading, version: string | null): boolean =>
  version !== null && parseVersion(version) === null && !(version === 'unknown' && reading.version !== null);

/**
 * A Hermes whose status has fields of another type, or a version that nobody can read. A version that is no text at all, or absurdly
 * long, is not what an engine sends: then nothing behind it is trusted. Odd text is: structure decides.
 */
function oddStatus(reading: Reading): Draft[] {
  const status = reading.facts.status;
  if (status === null) return [];
  const wrong = status.wrongTypes;
  const problems = [
    wrong.length === 0 ? null : `wrong type or size: ${wrong.join(', ')}`,
    status.version === null && !wrong.includes('version') ? 'no version' : null,
    unreadable(reading, status.version) ? `no version: ${status.version?.slice(0, 60)}` : null,
  ].filter((each) => each !== null);
  if (problems.length === 0) return [];
  return [
    draft('RESPONSE_INVALID', {
      severity: status.version === null ? 'error' : 'warn',
      args: { url: reading.facts.service?.url ?? null, problem: problems.join('; ') },
      evidence: problems.map((each) => `/api/status: ${each}`),
    }),
  ];
}
