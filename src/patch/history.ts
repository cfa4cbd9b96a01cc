import { compatFolder } from '../engine/compat-places.ts';
import { FileError, type Host } from '../host/types.ts';
import { writeWhole } from './journal.ts';
import type { HistoryEntry } from './schema.ts';
import { join } from './world.ts';

export const historyFile = (root: string): string => join(compatFolder(root), 'history.json');

const kept = 200;

type Stored = HistoryEntry & { id: string };

/** What was done here, oldest first. A file that cannot be read counts as empty: it is for people. */
export async function readHistory(host: Host, root: string): Promise<Stored[]> {
  const { historyEntrySchema } = await import('./schema.ts');
  let data: unknown;
  try {
    data = JSON.parse((await host.readFile(historyFile(root))).toString('utf8'));
  } catch (error) {
    if (error instanceof FileError || error instanceof SyntaxError) return [];
    throw error;
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
  const before = await readHistory(host, root);
  if (before.some((each) => each.id === id && each.action === entry.action)) return;
  const entries = [...before, { id, ...entry }].slice(-kept);
  await writeWhole(host, historyFile(root), `${JSON.stringify(entries, null, 2)}\n`);
}
