import { FileError, type Host } from '../host/types.ts';
import { removeBytecode } from './bytecode.ts';
import { hashOf, removeJournal } from './journal.ts';
import type { Journal } from './journal-schema.ts';
import { sha256 } from './text.ts';
import { namesIn } from './world.ts';

type Change = Journal['changes'][number];

/**
 * Puts back every file of a change that was not committed, and removes all that was made for it. May be cut and run again. A
 * file that holds neither the old nor the new bytes was changed by somebody else since: it is left, and the journal stays.
 *
 * @throws Error that names such files
 */
export async function rollBack(host: Host, root: string, journal: Journal): Promise<void> {
  const foreign: string[] = [];
  for (const change of journal.changes.toReversed()) {
    const now = await hashOf(host, change.path);
    if (now === change.beforeSha256) continue;
    if (now === change.afterSha256) await putBack(host, change);
    else foreign.push(change.path);
  }
  if (foreign.length > 0)
    throw new Error(
      `${foreign.join(', ')} was changed by another program since; its old bytes are in the journal`,
    );
  await removeStaged(host, journal);
  for (const folder of journal.folders.toReversed()) await removeIfEmpty(host, folder);
  await removeBytecode(host, journal.bytecode);
  await removeJournal(host, root);
}

async function putBack(host: Host, change: Change): Promise<void> {
  const { path, beforeSha256, stagedOld, original } = change;
  if (beforeSha256 === null || stagedOld === null) return host.removeFile(path);
  // Staged before the first rename, so this needs no space.
  if ((await hashOf(host, stagedOld)) !== beforeSha256) {
    if (original === null) throw new Error(`the old bytes of ${path} are gone`);
    const bytes = await host.readFile(original);
    if (sha256(bytes) !== beforeSha256)
      throw new Error(`the old bytes of ${path} in the journal are damaged`);
    await host.removeFile(stagedOld);
    await host.createFile(stagedOld, bytes, change.mode);
    if ((await host.stat(path)) !== null) await host.copyOwnership(path, stagedOld);
  }
  await host.rename(stagedOld, path);
}

export async function removeStaged(host: Host, journal: Journal): Promise<void> {
  for (const { stagedNew, stagedOld } of journal.changes) {
    if (stagedNew !== null) await removeQuietly(host, stagedNew);
    if (stagedOld !== null) await removeQuietly(host, stagedOld);
  }
}

/** Its folder may never have been made. */
async function removeQuietly(host: Host, path: string): Promise<void> {
  try {
    await host.removeFile(path);
  } catch (error) {
    if (!(error instanceof FileError && error.code === 'not-a-directory')) throw error;
  }
}

/** Leaves a folder that something of somebody else is in. */
export async function removeIfEmpty(host: Host, folder: string): Promise<void> {
  try {
    await host.removeDir(folder);
  } catch (error) {
    // Not every transport tells "not empty" from other reasons.
    const names = await namesIn(host, folder);
    if (names.length === 0) throw error;
  }
}
