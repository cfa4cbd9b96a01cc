import type { Install } from '../engine/schema.ts';
import type { FolderAccess } from './access.ts';
import { dirname, type FileState, type World } from './world.ts';

/** Why something may not be written here, and what can be done instead. */
export interface Barrier {
  code: string;
  reason: string;
  alternative?: string;
}

const overlayInstead =
  'the overlay, which writes to HERMES_HOME only: hermes-compat patch apply --carrier overlay';

/** What stands against any change for this engine. */
export function engineBarrier(world: World): Barrier | null {
  const { install } = world;
  if (install === null) return { code: 'INSTALL_NOT_FOUND', reason: 'no Hermes install was found to change' };
  // Other packages may lie elsewhere on the path; these can be nowhere else.
  const missing = install.missingModules.filter((name) => name.startsWith('hermes_cli.'));
  if (missing.length > 0) {
    return {
      code: 'ENGINE_BROKEN_PACKAGE',
      reason: `this install lacks ${missing.join(', ')}, so its dashboard cannot start`,
      alternative: 'update to Hermes 0.16 or newer, or supply the missing files',
    };
  }
  if (install.interpreter === null) {
    return {
      code: 'ENGINE_BROKEN_PACKAGE',
      reason: 'the Python of this install was not found, so a change could not be checked before it is made',
    };
  }
  if (world.update?.state === 'live') {
    return {
      code: 'UPDATE_IN_PROGRESS',
      reason: `an engine update is running (pid ${world.update.pid ?? 'not written yet'}, ${world.update.path})`,
      alternative: 'run this again when it is done',
    };
  }
  return null;
}

/** What stands against an edit in the installed tree. */
export function treeBarrier(world: World, file: FileState): Barrier | null {
  const { install } = world;
  if (install === null) return null;
  const sealed = sealedBarrier(install);
  if (sealed !== null) return sealed;
  if (world.update?.state === 'stale') {
    return {
      code: 'UPDATE_INTERRUPTED',
      reason: `an engine update was cut (${world.update.path} names pid ${world.update.pid ?? 'none'}, which is gone): the tree may be half new`,
      alternative: `finish it with the engine's own update, or ${overlayInstead}`,
    };
  }
  if (!inside(file.real, install.root)) {
    return {
      code: 'SEALED_INSTALL',
      reason: `${file.path} is a link to ${file.real}, outside the install`,
      alternative: overlayInstead,
    };
  }
  return fileBarrier(world, file, overlayInstead);
}

function sealedBarrier(install: Install): Barrier | null {
  const barrier = (reason: string): Barrier => ({
    code: 'SEALED_INSTALL',
    reason,
    alternative: overlayInstead,
  });
  if (install.method === 'nix' || install.root.startsWith('/nix/store/'))
    return barrier('the Nix store is read-only by design');
  if (install.method === 'docker')
    return barrier('this install is a layer of a container image: an edit is lost with the container');
  if (install.notWritable === 'managed') return barrier('this install is managed by another program');
  if (install.notWritable === 'sealed') return barrier('this install is a sealed bundle');
  return null;
}

/** What stands against replacing or making a file. */
export function fileBarrier(world: World, file: FileState, alternative?: string): Barrier | null {
  const more = alternative === undefined ? {} : { alternative };
  if (file.stat !== null && file.stat.kind !== 'file')
    return { code: 'FOREIGN_EDITS', reason: `${file.path} is no regular file`, ...more };
  if (file.stat !== null && file.stat.uid !== world.me.uid) {
    return {
      code: 'NOT_OWNER',
      reason: notOwner(world, file.path, file.stat.uid),
      alternative: `run this as that user`,
    };
  }
  return folderBarrier(world, dirname(file.real), alternative);
}

export function folderBarrier(world: World, folder: string, alternative?: string): Barrier | null {
  const access: FolderAccess = world.folders.get(folder) ?? { kind: 'ok' };
  const more = alternative === undefined ? {} : { alternative };
  switch (access.kind) {
    case 'ok':
      return null;
    case 'not-owner':
      return {
        code: 'NOT_OWNER',
        reason: notOwner(world, access.folder, access.uid),
        alternative: 'run this as that user',
      };
    case 'read-only-fs':
      return { code: 'READ_ONLY_FS', reason: `${access.folder} is on a read-only file system`, ...more };
    case 'not-writable':
      return { code: 'NOT_WRITABLE', reason: `${world.me.user} may not write to ${access.folder}`, ...more };
    default:
      return access satisfies never;
  }
}

const notOwner = (world: World, path: string, uid: number): string =>
  `${path} belongs to uid ${uid}, and we are ${world.me.user} (uid ${world.me.uid}): files would change their owner`;

const inside = (path: string, folder: string): boolean => path.startsWith(`${folder.replace(/\/$/, '')}/`);
