import { compatFolder, markerFile, sharedMarkerFile } from '../engine/compat-places.ts';
import { FileError, type Host } from '../host/types.ts';
import { tool } from '../tool.ts';
import { addHistory } from './history.ts';
import { ensureFolder, removeJournal, writeWhole } from './journal.ts';
import { removeIfEmpty, removeStaged } from './roll-back.ts';
import type { Journal } from './journal-schema.ts';
import { join } from './world.ts';

export const backupFolder = (root: string): string => join(compatFolder(root), 'backups');

/** All that follows a committed change. May be cut and run again. */
export async function finish(host: Host, root: string, journal: Journal): Promise<void> {
  await keepBackups(host, root, journal);
  await removeStaged(host, journal);
  for (const folder of journal.emptied) await removeIfEmpty(host, folder);
  await writeWhole(host, markerFile(root), `${JSON.stringify(journal.marker, null, 2)}\n`);
  if (journal.shared.action === 'write') await writeWhole(host, sharedMarkerFile(root), journal.shared.text);
  if (journal.shared.action === 'remove') await host.removeFile(sharedMarkerFile(root));
  await addHistory(host, root, journal.id, {
    at: journal.at,
    tool,
    action: journal.action,
    outcome: 'done',
    patches: journal.patches,
    files: journal.changes.map(({ path, beforeSha256, afterSha256 }) => ({
      path,
      beforeSha256,
      afterSha256,
    })),
    why: null,
  });
  await removeJournal(host, root);
}

/** Files as they were before anything of ours, named by their hash. */
async function keepBackups(host: Host, root: string, journal: Journal): Promise<void> {
  const wanted = journal.changes.filter(({ backup }) => backup);
  if (wanted.length === 0) return;
  await ensureFolder(host, backupFolder(root));
  for (const { original, beforeSha256 } of wanted) {
    if (original === null || beforeSha256 === null) continue;
    try {
      await host.rename(original, join(backupFolder(root), beforeSha256));
    } catch (error) {
      // Moved there by a run that was cut after it.
      if (!(error instanceof FileError && error.code === 'not-found')) throw error;
    }
  }
}
