import { compatFolder, hookFolder } from '../../engine/compat-places.ts';
import { CompatError } from '../../errors.ts';
import type { Host } from '../../host/types.ts';
import { fileErrorsAs } from '../../patch/file-trouble.ts';
import { hashOf } from '../../patch/journal.ts';
import { hookKind } from './kinds.ts';
import { keepHooks, readHooks } from './records.ts';
import type { HookFile, HookId, HookPlace, HookRecord } from './types.ts';

/**
 * Takes one hook away and puts back what stood there, the same file that was moved. False: none was installed.
 *
 * @throws CompatError refused, when somebody changed it since; nothing is done then
 */
export async function removeHook(place: HookPlace, id: HookId): Promise<boolean> {
  const record = (await readHooks(place.host, place.home.root)).find((each) => each.id === id);
  if (record === undefined) return false;
  await fileErrorsAs('refused', `hook ${id} could not be removed`, async () => {
    await refuseChanged(place, record);
    await undoHook(place, record);
  });
  return true;
}

/** Each step back from where an install stands, also one that was cut. @throws CompatError, FileError */
export async function undoHook(place: HookPlace, record: HookRecord): Promise<void> {
  const { host, home } = place;
  await hookKind(record.id).disable(place, record);
  for (const file of record.files) await takeBack(host, file);
  const hooks = await readHooks(host, home.root);
  await keepHooks(
    host,
    home.root,
    hooks.filter(({ id }) => id !== record.id),
  );
  await removeEmptyFolders(place);
}

export async function removeEmptyFolders({ host, home }: HookPlace): Promise<void> {
  for (const folder of [hookFolder(home.root), compatFolder(home.root)]) await removeIfEmpty(host, folder);
}

/**
 * What somebody made of a hook may go on working, and is not ours to throw away.
 *
 * @throws CompatError refused, with what to do by hand
 */
export async function refuseChanged(place: HookPlace, record: HookRecord): Promise<void> {
  const { id, byHand } = hookKind(record.id);
  if ((await hookKind(id).linesState(place, record)) === 'changed')
    throw new CompatError('refused', `hook ${id} was changed since it was installed. ${byHand ?? ''}`, {
      finding: 'FOREIGN_EDITS',
      args: { hook: id },
    });
  for (const file of record.files) await refuseChangedFile(place.host, file, record);
}

async function refuseChangedFile(
  host: Host,
  { path, sha256: hash, moved }: HookFile,
  { command }: HookRecord,
): Promise<void> {
  const now = await hashOf(host, path);
  if (now === null || now === hash) return;
  const aside = moved !== null && (await host.stat(moved)) !== null ? moved : null;
  // Of two files the person has kept this one. It is theirs, unless it is what we made with something more in it.
  if (moved !== null && aside === null && !(await host.readFile(path)).includes(command)) return;
  const message =
    aside === null
      ? `${path} is not the hook that was installed: somebody changed it since. Move it away or delete it, then run this again`
      : `${path} is not the hook that was installed; what stood there before is ${aside}. Keep the one that you want, then run this again`;
  throw new CompatError('refused', message, { finding: 'FOREIGN_EDITS', args: { path, moved: aside } });
}

async function takeBack(host: Host, { path, sha256: hash, moved }: HookFile): Promise<void> {
  const aside = moved !== null && (await host.stat(moved)) !== null ? moved : null;
  const now = await hashOf(host, path);
  if (aside !== null) {
    // Also where ours was never put in its place: the rename is the way back from each step.
    await host.rename(aside, path);
    await removeIfEmpty(host, aside.slice(0, aside.lastIndexOf('/')));
  } else if (now === hash) await host.removeFile(path);
  const fresh = `${path}.hermes-compat-new`;
  // A read-only disk refuses also to remove what is not there.
  if ((await host.stat(fresh)) !== null) await host.removeFile(fresh);
}

async function removeIfEmpty(host: Host, folder: string): Promise<void> {
  try {
    await host.removeDir(folder);
  } catch {
    // Somebody's things are in it.
  }
}
