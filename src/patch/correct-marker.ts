import { lockFolder, markerFile } from '../engine/compat-places.ts';
import type { Session } from './change.ts';
import { writeWhole } from './journal.ts';
import { takeLock } from './lock.ts';
import { readMarkers } from './marker.ts';
import type { MarkerEntry } from './schema.ts';
import { statusOf } from './status.ts';
import { readWorld } from './world.ts';

/**
 * Writes into our marker the revision that the bytes show, where its entry for them says another: what is in place is not written
 * again, so nothing else would ever bring both together. No other byte is touched; a marker that agrees is not written.
 *
 * @throws CompatError refused (LOCK_HELD)
 */
export async function correctMarker(session: Session): Promise<void> {
  const { host, scene, catalogue, who } = session;
  const { root } = scene.home;
  const { patches } = await statusOf(await readWorld(host, scene, catalogue), catalogue);
  const shown = ({ patch, carrier, home, install }: MarkerEntry): number | null => {
    const mine =
      carrier === 'overlay' ? home === scene.home.path || home === root : install === scene.install?.id;
    const status = patches.find(({ id }) => id === patch);
    return mine && status?.state === 'applied' && status.carrier === carrier ? status.revision : null;
  };
  const isWrong = (entry: MarkerEntry): boolean => ![null, entry.revision].includes(shown(entry));
  if (!(await readMarkers(host, root)).ours?.entries.some(isWrong)) return;
  const lock = await takeLock(host, lockFolder(root), who, '');
  try {
    const { ours } = await readMarkers(host, root);
    if (ours === null) return;
    const entries = ours.entries.map((entry) =>
      isWrong(entry) ? { ...entry, revision: shown(entry) ?? entry.revision } : entry,
    );
    const marker = { ...ours, at: session.now(), entries };
    await writeWhole(host, markerFile(root), `${JSON.stringify(marker, null, 2)}\n`);
  } finally {
    await lock.release();
  }
}
