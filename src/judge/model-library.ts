import type { State } from './capability-state.ts';
import { no, unknown, yes } from './capability-state.ts';
import type { Diagnosis } from './diagnosis.ts';
import type { Reading } from './reading.ts';
import { listed, probed } from './rest-capability.ts';
import { sawHttp } from './saw.ts';
import { atLeast } from './version.ts';

/** `/api/model/library` is in no release: an overlay of ours or an edit of the source adds it. */
export function modelLibrary({ reading, reach }: Diagnosis): State {
  if (reach.state === 'absent')
    return reading.install === null ? unknown('no install was found') : onDisk(reading);
  if (reach.state !== 'reached') return unknown('no dashboard was reached');
  const seen = probed('model-library', reading) ?? listed('model-library', reading);
  if (seen !== null) return seen;
  if (reading.install !== null) return onDisk(reading);
  const fact = reading.http('model-library');
  return unknown(fact === null ? 'it was not asked' : sawHttp(fact));
}

function onDisk(reading: Reading): State {
  const { install, home, process } = reading;
  if (install === null) return unknown();
  const newer = (process?.newerFiles.length ?? 0) > 0;
  if (install.modelLibrary === 'present' && !newer)
    return yes(`the source in ${install.packageDir} has the route`);
  if (overlayMounts(reading)) return yes(`the overlay in ${home?.root ?? 'the home'} adds the route`);
  if (install.modelLibrary === 'unknown')
    return unknown(`the source in ${install.packageDir} could not be read`);
  if (install.modelLibrary === undefined && install.state !== 'pristine')
    return unknown(`the source in ${install.packageDir} is ${install.state}`);
  return no(
    `no release has the route, and neither the source in ${install.packageDir} nor an overlay adds it`,
  );
}

/** Up to 0.17 a dashboard plugin mounts by itself; later it must be enabled, and not be isolated. */
export function overlayMounts({ home, version }: Reading): boolean {
  if (home === null || !home.overlay.present || !home.overlay.carries.includes('model-library')) return false;
  if (version !== null && !atLeast(version, '0.18.0')) return true;
  return (
    home.config.pluginsEnabled?.includes('hermes-compat') === true && home.config.pluginsIsolation !== 'host'
  );
}
