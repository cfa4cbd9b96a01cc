import { overlayMounts } from '../model-library.ts';
import { draft } from '../draft.ts';
import { overlay as overlayRemedy } from '../remedies/overlay.ts';
import { restart } from '../remedies/launch.ts';
import type { CheckDefinition } from './check.ts';
import { done, skip } from './check.ts';
import { overlayIsNewer } from './restart.ts';

export const overlay: CheckDefinition = {
  id: 'overlay',
  summary: 'our overlay, where it is installed, is loaded by the running dashboard',
  run({ reading, reach }, { capabilities }) {
    const { home } = reading;
    if (home === null || !home.overlay.present) return skip('no overlay of ours is in the home');
    if (reach.state !== 'reached') return skip('no dashboard was reached');
    if (!home.overlay.carries.includes('model-library')) return skip('it adds no route that could be asked');
    const library = capabilities.find((each) => each.id === 'model-library');
    if (library?.state !== 'no') return done([], `revision ${home.overlay.revision ?? '?'}`);
    const enabled = overlayMounts(reading);
    if (enabled && overlayIsNewer(reading)) return done([], 'written after the dashboard had started');
    return done([
      draft('OVERLAY_NOT_LOADED', {
        confidence: enabled ? 'likely' : 'certain',
        args: { why: enabled ? 'not-restarted' : 'not-enabled', home: home.path },
        evidence: [
          `the overlay is in ${home.path}/plugins/hermes-compat`,
          ...library.evidence,
          ...(enabled ? [] : ['plugins.enabled of config.yaml does not name it, or plugins are isolated']),
        ],
        remedies: enabled ? [restart(reading)] : [overlayRemedy(reading, 'model-library')],
      }),
    ]);
  },
};
