import { compatFolder } from '../engine/compat-places.ts';
import { CompatError } from '../errors.ts';
import { textIfThere } from '../host/read-text.ts';
import { FileError, type Host } from '../host/types.ts';
import { fileErrorsAs } from './file-trouble.ts';
import { writeWhole } from './journal.ts';
import type { HistoryEntry } from './schema.ts';
import { join } from './world.ts';

export const historyFile = (root: string): string => join(compatFolder(root), 'history.json');

const kept = 200;
const historyBytes = 16 << 20;

type Stored = HistoryEntry & { id: string };

/**
 * What was done here, oldest first. A file that is not ours in form counts as empty: it is for people.
 *
 * @throws CompatError unchecked HOME_UNREADABLE
 */
export async function readHistory(host: Host, root: string): Promise<Stored[]> {
  const { historyEntrySchema } = await import('./schema.ts');
  const text = await fileErrorsAs('unchecked', 'the history cannot be read', () =>
    textIfThere(host, historyFile(root), historyBytes),
  );
  let data: unknown;
  try {
    data = JSON.parse(text ?? '[]');
  } catch {
    return [];
  }
  if (!Array.isArray(data)) return [];
  return data.flatMap((each: unknown): Stored[] => {
    const entry = historyEntrySchema.safeParse(each);
    const id = (each as { id?: unknown } | null)?.id;
    return entry.success ? [{ ...entry.data, id: typeof id === 'string' ? id : '' }] : [];
  });
}

/** Adds an entry once, however often it is asked to. */
export async function addHistory(host: Host, root: string, id: string, entry: HistoryEntry): Promise<void> {
  // A change that is done does not fail for the sake of its history.
  const before = await readHistory(host, root).catch((error: unknown): Stored[] => {
    if (error instanceof CompatError && error.cause instanceof FileError && error.cause.code !== 'cut')
      return [];
    throw error;
  });
  if (before.some((each) => each.id === id && each.action === entry.action)) return;
  const entries = [...before, { id, ...entry }].slice(-kept);
  await writeWhole(host, historyFile(root), `${JSON.stringify(entries, null, 2)}\n`);
}
