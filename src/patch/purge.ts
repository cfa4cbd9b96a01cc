import {
  compatFolder,
  journalFile,
  lockFolder,
  markerFile,
  sharedMarkerFile,
} from '../engine/compat-places.ts';
import { CompatError } from '../errors.ts';

import { backupFolder } from './finish.ts';
import { historyFile } from './history.ts';
import { takeLock } from './lock.ts';
import type { Session } from './change.ts';
import { readMarkers } from './marker.ts';
import { removeIfEmpty } from './roll-back.ts';
import { statusOf } from './status.ts';
import { join, namesIn, readWorld } from './world.ts';

/**
 * Removes every record of ours. Only when nothing of ours is left in use: the records are what undoes it.
 *
 * @throws CompatError refused
 */
export async function purge(session: Session): Promise<string[]> {
  const { host, scene, catalogue, who } = session;
  const { root } = scene.home;
  if ((await host.stat(compatFolder(root))) === null) return [];
  const world = await readWorld(host, scene, catalogue);
  const left = (await statusOf(world, catalogue)).patches.filter(
    ({ carrier, state }) => carrier !== null && state !== 'applied-by-other',
  );
  const elsewhere = world.markers.ours?.entries ?? [];
  if (left.length > 0 || elsewhere.length > 0) {
    const names = [
      ...left.map(({ id, carrier }) => `${id} (${carrier ?? ''})`),
      ...elsewhere.map(({ patch, install, home }) => `${patch} (${install ?? home})`),
    ];
    throw new CompatError(
      'refused',
      `records stay while patches are applied: ${[...new Set(names)].join(', ')}`,
      {
        commands: [['hermes-compat', 'patch', 'revert']],
      },
    );
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
