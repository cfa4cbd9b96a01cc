import { compatFolder, journalFile } from '../engine/compat-places.ts';
import { CompatError } from '../errors.ts';
import { bytesIfThere } from '../host/read-text.ts';
import { FileError, type Host } from '../host/types.ts';
import { refuseForeignFolder } from './lock.ts';
import type { Journal } from './journal-schema.ts';
import { sha256 } from './text.ts';
import { basename, dirname, join, namesIn } from './world.ts';

export const journalFolder = (root: string): string => dirname(journalFile(root));

/** Makes a folder that is ours alone, or checks that it is. */
export async function ensureFolder(host: Host, folder: string, mode = 0o700): Promise<void> {
  try {
    await host.mkdir(folder, mode);
  } catch (error) {
    if (!(error instanceof FileError && error.code === 'exists')) throw error;
    await refuseForeignFolder(host, folder);
  }
}

export async function ensureStateFolder(host: Host, root: string): Promise<void> {
  if ((await host.stat(root, true)) === null) await host.mkdir(root, 0o700);
  await ensureFolder(host, compatFolder(root));
}

/** Replaces a file of ours whole, or makes it. */
export async function writeWhole(host: Host, path: string, text: string): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.new`);
  await host.removeFile(temporary);
  await host.createFile(temporary, Buffer.from(text), 0o600);
  await host.rename(temporary, path);
}

export async function writeJournal(host: Host, root: string, journal: Journal): Promise<void> {
  await writeWhole(host, journalFile(root), `${JSON.stringify(journal, null, 2)}\n`);
}

/** The change that was cut, or null. @throws CompatError half-done for a journal that cannot be read */
export async function readJournal(host: Host, root: string): Promise<Journal | null> {
  const path = journalFile(root);
  const bytes = await bytesIfThere(host, path);
  if (bytes === null) return null;
  const { journalSchema } = await import('./journal-schema.ts');
  try {
    return journalSchema.parse(JSON.parse(bytes.toString('utf8')));
  } catch (cause) {
    throw new CompatError('half-done', `a change was cut, and its journal ${path} cannot be read`, {
      finding: 'JOURNAL_UNFINISHED',
      args: { path },
      journal: dirname(path),
      cause,
    });
  }
}

/** The journal goes first: what is left of its folder then belongs to nothing. */
export async function removeJournal(host: Host, root: string): Promise<void> {
  await host.removeFile(journalFile(root));
  await removeLeftovers(host, root);
}

export async function removeLeftovers(host: Host, root: string): Promise<void> {
  const folder = journalFolder(root);
  for (const name of await namesIn(host, folder)) await host.removeFile(join(folder, name));
  await host.removeDir(folder);
}

/** sha256 of a file; null when there is none. */
export async function hashOf(host: Host, path: string): Promise<string | null> {
  const bytes = await bytesIfThere(host, path);
  return bytes === null ? null : sha256(bytes);
}
