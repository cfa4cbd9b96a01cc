import {
  compatFolder,
  journalFile,
  lockFolder,
  markerFile,
  sharedMarkerFile,
} from '../engine/compat-places.ts';
import { CompatError } from '../errors.ts';
import type { Host } from '../host/types.ts';
import { fileErrorsAs } from './file-trouble.ts';
import { backupFolder } from './finish.ts';
import { historyFile } from './history.ts';
import { takeLock } from './lock.ts';
import type { Session } from './change.ts';
import { readMarkers } from './marker.ts';
import { removeIfEmpty } from './roll-back.ts';
import { statusOf } from './status.ts';
import type { MarkerEntry } from './schema.ts';
import { join, namesIn, readState, readWorld, type World } from './world.ts';

/**
 * Removes every record of ours. Only when nothing of ours is left in use: the records are what undoes it.
 *
 * @throws CompatError refused
 */
export const purge = (session: Session): Promise<string[]> =>
  fileErrorsAs('refused', 'our records cannot be removed', () => removeRecords(session));

async function removeRecords(session: Session): Promise<string[]> {
  const { host, scene, catalogue, who } = session;
  const { root } = scene.home;
  if ((await host.stat(compatFolder(root))) === null) return [];
  const world = await readWorld(host, scene, catalogue);
  const left = await stillApplied(session, world);
  if (left.length > 0) {
    throw new CompatError('refused', `records stay while patches are applied: ${left.join(', ')}`, {
      commands: [['hermes-compat', 'patch', 'revert']],
    });
  }
  const lock = await takeLock(host, lockFolder(root), who, '');
  const removed: string[] = [];
  try {
    const remove = async (path: string): Promise<void> => {
      if ((await host.stat(path)) === null) return;
      await host.removeFile(path);
      removed.push(path);
    };
    if ((await readMarkers(host, root)).shared.kind === 'ours') await remove(sharedMarkerFile(root));
    for (const name of await namesIn(host, backupFolder(root))) await remove(join(backupFolder(root), name));
    await removeIfEmpty(host, backupFolder(root));
    await remove(historyFile(root));
    // The marker goes last: it says that the rest is ours.
    await remove(markerFile(root));
    await lock.clear();
  } finally {
    await lock.release();
  }
  await removeIfEmpty(host, journalFile(root).replace(/\/[^/]*$/, ''));
  await removeIfEmpty(host, compatFolder(root));
  return removed;
}

/** Patches that our records would still be needed for: here by bytes, elsewhere by the files that the marker names. */
async function stillApplied({ host, catalogue }: Session, world: World): Promise<string[]> {
  const status = await statusOf(world, catalogue);
  const here = status.patches
    .filter(({ carrier, state }) => carrier !== null && state !== 'applied-by-other')
    .map(({ id, carrier }) => `${id} (${carrier ?? ''})`);
  const elsewhere: string[] = [];
  for (const entry of world.markers.ours?.entries ?? []) {
    const place = entry.carrier === 'source' ? entry.install : entry.home;
    const isHere = place === (entry.carrier === 'source' ? (world.install?.id ?? null) : world.overlayHome);
    if (!isHere && (await holdsOurs(host, entry)))
      elsewhere.push(`${entry.patch} (${place ?? 'unknown place'})`);
  }
  return [...new Set([...here, ...elsewhere])];
}

async function holdsOurs(host: Host, { files }: MarkerEntry): Promise<boolean> {
  for (const { path, afterSha256 } of files) {
    if (afterSha256 === null || path.endsWith('/config.yaml')) continue;
    const { bytes } = await readState(host, path);
    if (bytes !== null && (bytes.includes('hermes-compat') || path.includes('/plugins/hermes-compat/')))
      return true;
  }
  return false;
}
