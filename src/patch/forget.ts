import { lockFolder, markerFile, sharedMarkerFile } from '../engine/compat-places.ts';
import type { Session } from './change.ts';
import { writeWhole } from './journal.ts';
import { takeLock } from './lock.ts';
import { readMarkers } from './marker.ts';
import type { MarkerEntry } from './schema.ts';

/**
 * Takes entries out of our marker whose edit is gone and is not needed any more: nothing else would ever remove them.
 * The bytes of the engine are not touched.
 *
 * @returns what was forgotten
 * @throws CompatError refused (LOCK_HELD)
 */
export async function forget(
  session: Session,
  isOver: (entry: MarkerEntry) => boolean,
): Promise<MarkerEntry[]> {
  const { host, scene, who } = session;
  const { root } = scene.home;
  if (!(await readMarkers(host, root)).ours?.entries.some(isOver)) return [];
  const lock = await takeLock(host, lockFolder(root), who, '');
  try {
    const { ours, shared } = await readMarkers(host, root);
    const over = ours?.entries.filter(isOver) ?? [];
    if (ours === null || over.length === 0) return [];
    const entries = ours.entries.filter((entry) => !isOver(entry));
    const marker = { ...ours, at: session.now(), entries };
    await writeWhole(host, markerFile(root), `${JSON.stringify(marker, null, 2)}\n`);
    if (entries.length === 0 && shared.kind === 'ours') await host.removeFile(sharedMarkerFile(root));
    return over;
  } finally {
    await lock.release();
  }
}
