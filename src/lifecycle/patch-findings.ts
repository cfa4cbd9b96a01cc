import type { Host } from '../host/types.ts';
import type { Facts } from '../probe/schema.ts';
import type { Target } from '../target/types.ts';
import type { Seen } from './choose-service.ts';
import { chosenInstall } from './chosen-install.ts';

/**
 * What `patch status` finds wrong with our patches on this target: modified, older, by another. Read only where something of a
 * patch can be: an overlay, a marker, or an install that was edited.
 */
export async function patchFindings(host: Host, target: Target, seen: Seen): Promise<Facts['patchFindings']> {
  const { home } = seen.host;
  const install = chosenInstall(seen);
  if (home === null) return undefined;
  const something = home.overlay.present || home.markers.length > 0 || install?.state === 'edited';
  if (!something) return undefined;
  const [{ loadCatalogue }, { statusOf }, { readWorld }] = await Promise.all([
    import('../patch/catalogue.ts'),
    import('../patch/status.ts'),
    import('../patch/world.ts'),
  ]);
  const catalogue = await loadCatalogue();
  const scene = { target: { kind: target.kind, name: target.name, url: null }, home, install };
  const { findings } = await statusOf(await readWorld(host, scene, catalogue), catalogue);
  return findings;
}
