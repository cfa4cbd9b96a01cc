import { hookFolder } from '../../engine/compat-places.ts';
import { CompatError } from '../../errors.ts';
import { quoteAll } from '../../host/quote.ts';
import type { Host } from '../../host/types.ts';
import { fileErrorsAs, findingOf } from '../../patch/file-trouble.ts';
import { sha256 } from '../../patch/text.ts';
import { ensureHookFolder } from '../hook-log.ts';
import { movedName } from './git.ts';
import { hookKind, hookState } from './kinds.ts';
import { keepHooks, readHooks } from './records.ts';
import { refuseChanged, removeEmptyFolders, removeHook, undoHook } from './remove.ts';
import type { HookFile, HookId, HookKind, HookPlace, HookRecord } from './types.ts';
import { wrappedPath } from './wrapper.ts';

/**
 * Why this hook cannot be installed here, without the words that say which; null when it can, or stands there already.
 *
 * @throws CompatError refused, when somebody changed the one that is there
 */
export async function hookProblem(place: HookPlace, id: HookId): Promise<string | null> {
  const before = await recordOf(place, id);
  if (before !== undefined) {
    if (await isCurrent(place, before)) return null;
    await refuseChanged(place, before);
  }
  return hookKind(id).problem(place);
}

/** @throws CompatError refused */
export function refuseProblem(id: HookId, problem: string | null): void {
  if (problem === null) return;
  throw new CompatError('refused', `hook ${id} cannot be installed: ${problem}`, { args: { hook: id } });
}

const recordOf = async ({ host, home }: HookPlace, id: HookId): Promise<HookRecord | undefined> =>
  (await readHooks(host, home.root)).find((each) => each.id === id);

const isCurrent = async (place: HookPlace, record: HookRecord): Promise<boolean> =>
  record.command === quoteAll(place.command) && (await hookState(place, record)) === 'installed';

/**
 * Installs one hook. What stands in its place is moved aside with all that it is, and called by ours. Installed already: nothing
 * is done. The record is written first, so that a run that was cut can be taken back.
 *
 * @throws CompatError refused: all is as it was; half-done: it is not, and the record stays
 */
export async function installHook(place: HookPlace, id: HookId, at: string): Promise<'installed' | 'kept'> {
  refuseProblem(id, await hookProblem(place, id));
  const before = await recordOf(place, id);
  if (before !== undefined && (await isCurrent(place, before))) return 'kept';
  if (before !== undefined) await removeHook(place, id);
  const planned = await plannedFiles(place, hookKind(id));
  const record: HookRecord = {
    id,
    at,
    command: quoteAll(place.command),
    files: planned.map(({ path, sha256: hash, moved }) => ({ path, sha256: hash, moved })),
    lines: null,
  };
  try {
    await fileErrorsAs('refused', `hook ${id} could not be installed`, () => keepRecord(place, record));
  } catch (error) {
    await removeEmptyFolders(place);
    throw error;
  }
  try {
    for (const file of planned) await putFile(place.host, file);
    Object.assign(record, await hookKind(id).enable(place));
    await keepRecord(place, record);
  } catch (cause) {
    await takeBackFailed(place, record, cause);
  }
  return 'installed';
}

async function keepRecord({ host, home }: HookPlace, record: HookRecord): Promise<void> {
  await ensureHookFolder(host, home.root);
  const others = (await readHooks(host, home.root)).filter(({ id }) => id !== record.id);
  await keepHooks(host, home.root, [...others, record]);
}

/** @throws CompatError refused, half-done */
async function takeBackFailed(place: HookPlace, record: HookRecord, cause: unknown): Promise<never> {
  const finding = findingOf(cause);
  const details = { ...(finding === null ? {} : { finding }), args: { hook: record.id }, cause };
  const failed = `hook ${record.id} could not be installed: ${wordsOf(cause)}`;
  try {
    await undoHook(place, record);
  } catch (error) {
    throw new CompatError(
      'half-done',
      `${failed}; what was done could not be taken back (${wordsOf(error)}): hermes-compat hook remove ${record.id} does it`,
      { ...details, journal: hookFolder(place.home.root) },
    );
  }
  throw new CompatError('refused', `${failed}; everything is as it was`, details);
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

type PlannedFile = HookFile & { text: string; mode: number };

async function plannedFiles(place: HookPlace, kind: HookKind): Promise<PlannedFile[]> {
  const files = await kind.files(place);
  return Promise.all(
    files.map(async ({ path, text, mode }): Promise<PlannedFile> => {
      const stands = (await place.host.stat(path)) !== null;
      return { path, text, mode, sha256: sha256(text), moved: stands ? asidePath(kind.id, path) : null };
    }),
  );
}

const asidePath = (id: HookId, path: string): string =>
  id === 'wrapper' ? wrappedPath(path) : movedName(path);

async function putFile(host: Host, { path, text, mode, moved }: PlannedFile): Promise<void> {
  const folder = (of: string): string => of.slice(0, of.lastIndexOf('/'));
  await makeFolders(host, folder(path));
  if (moved !== null) {
    if ((await host.stat(moved)) !== null)
      throw new Error(`${moved} is there already; it would be written over`);
    await makeFolders(host, folder(moved));
  }
  const fresh = `${path}.hermes-compat-new`;
  await host.removeFile(fresh);
  await host.createFile(fresh, Buffer.from(text), mode);
  if (moved !== null) await host.rename(path, moved);
  await host.rename(fresh, path);
}

async function makeFolders(host: Host, folder: string): Promise<void> {
  if (folder === '' || (await host.stat(folder, true)) !== null) return;
  await makeFolders(host, folder.slice(0, folder.lastIndexOf('/')));
  await host.mkdir(folder, 0o755);
}
