import { hookFolder, overlayFolder } from '../../engine/compat-places.ts';
import { filesOnly, type HookKind } from './types.ts';

/** The overlay is loaded at every start of a dashboard; with this file there it notes each start. */
export const overlay: HookKind = {
  id: 'overlay',
  does: 'each dashboard that starts notes that a re-check is due',
  limits:
    'it only notes: another hook, or the next doctor, does the re-check; a source edit alone has no overlay',
  async problem({ host, home }) {
    for (const path of [home.path, home.root])
      if ((await host.stat(`${overlayFolder(path)}/manifest.json`)) !== null) return null;
    return 'no overlay of ours is there: hermes-compat patch apply makes one';
  },
  files: async ({ home }) => [
    {
      path: `${hookFolder(home.root)}/on-start`,
      text: 'Dashboards that load the overlay of hermes-compat note their start beside this file.\n',
      mode: 0o600,
    },
  ],
  ...filesOnly,
};
