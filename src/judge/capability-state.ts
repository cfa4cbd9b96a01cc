import type { Capability } from '../probe/schema.ts';
import type { CapabilityId } from './capability-ids.ts';
import type { Diagnosis } from './diagnosis.ts';
import type { Reading } from './reading.ts';
import { releaseOffers } from './release-data.ts';

export type State = Omit<Capability, 'id'>;

export const yes = (...evidence: string[]): State => ({ state: 'yes', evidence });
export const no = (...evidence: string[]): State => ({ state: 'no', evidence });
export const unknown = (...evidence: string[]): State => ({ state: 'unknown', evidence });
export const notApplicable = (...evidence: string[]): State => ({ state: 'not-applicable', evidence });

/** From the release alone; used where no dashboard runs and where no probe can tell. */
export function byRelease(id: CapabilityId, reading: Reading): State {
  if (reading.version === null)
    return unknown(
      reading.versionText === null
        ? 'the version is not known'
        : `the version ${reading.versionText} cannot be read`,
    );
  const data = releaseOffers(id, reading.version);
  const text = `release data: ${id} since ${data.since}, this is ${reading.version.text}`;
  return data.offers ? yes(text) : no(text);
}

/** No dashboard runs: the release decides, unless the package cannot start one. */
export function notRunning(id: CapabilityId, { reading }: Diagnosis): State {
  if (reading.install === null) return unknown('no dashboard and no install was found');
  if (reading.install.missingModules.length > 0)
    return no(`the package lacks ${reading.install.missingModules.join(', ')}, so no dashboard starts`);
  return byRelease(id, reading);
}
