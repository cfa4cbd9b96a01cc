import { compatFolder, hookFolder } from '../../engine/compat-places.ts';
import { CompatError } from '../../errors.ts';
import { quoteAll } from '../../host/quote.ts';
import { FileError, type Host } from '../../host/types.ts';
import { hashOf, writeWhole } from '../../patch/journal.ts';
import { sha256 } from '../../patch/text.ts';
import { ensureHookFolder } from '../hook-log.ts';
import { cron } from './cron.ts';
import { git, movedName } from './git.ts';
import { launchd } from './launchd.ts';
import { overlay } from './overlay.ts';
import { systemdSystem, systemdUser } from './systemd.ts';
import type { HookFile, HookId, HookKind, HookPlace, HookRecord, HookState } from './types.ts';
import { wrappedPath, wrapper } from './wrapper.ts';

export const hookKinds: readonly HookKind[] = [
  overlay,
  systemdUser,
  systemdSystem,
  launchd,
  cron,
  git,
  wrapper,
];

export const hookKind = (id: HookId): HookKind => hookKinds.find((kind) => kind.id === id) as HookKind;

const recordFile = (root: string): string => `${hookFolder(root)}/installed.json`;

export async function readHooks(host: Host, root: string): Promise<HookRecord[]> {
  try {
    const text = (await host.readFile(recordFile(root), 1 << 20)).toString('utf8');
    const { hooks } = JSON.parse(text) as { hooks?: unknown };
    return Array.isArray(hooks) ? hooks.filter(isRecord) : [];
  } catch (error) {
    if (error instanceof FileError || error instanceof SyntaxError) return [];
    throw error;
  }
}

const isRecord = (value: unknown): value is HookRecord => {
  const record = value as Partial<HookRecord> | null;
  return (
    typeof record?.id === 'string' &&
    hookKinds.some(({ id }) => id === record.id) &&
    Array.isArray(record.files) &&
    record.files.every(({ path, sha256: hash }) => typeof path === 'string' && typeof hash === 'string')
  );
};

async function keep(host: Host, root: string, hooks: readonly HookRecord[]): Promise<void> {
  if (hooks.length === 0) return host.removeFile(recordFile(root));
  await ensureHookFolder(host, root);
  await writeWhole(host, recordFile(root), `${JSON.stringify({ hooks }, null, 2)}\n`);
}

/** Overlay start-up and what watches files; cron where nothing does. */
export async function defaultHooks(place: HookPlace): Promise<HookId[]> {
  const { os, uid } = await place.host.identity();
  const watcher: HookId = os === 'darwin' ? 'launchd' : uid === 0 ? 'systemd-system' : 'systemd-user';
  const answers = (await hookKind(watcher).problem(place)) === null;
  const carried = (await overlay.problem(place)) === null;
  return [...(carried ? (['overlay'] as const) : []), answers ? watcher : 'cron'];
}

/**
 * Installs one hook. What stands in its place is moved aside with all that it is, and called by ours. Installed already: nothing
 * is done. The record is written first, so that a run that was cut can be taken back.
 *
 * @throws CompatError refused
 */
export async function installHook(place: HookPlace, id: HookId, at: string): Promise<'installed' | 'kept'> {
  const { host, home } = place;
  const kind = hookKind(id);
  const hooks = await readHooks(host, home.root);
  const before = hooks.find((each) => each.id === id);
  if (before !== undefined) {
    const runs = quoteAll(place.command);
    if (before.command === runs && (await hookState(place, before)) === 'installed') return 'kept';
    await removeHook(place, id);
    return installHook(place, id, at);
  }
  const problem = await kind.problem(place);
  if (problem !== null)
    throw new CompatError('refused', `hook ${id} cannot be installed: ${problem}`, { args: { hook: id } });
  await ensureHookFolder(host, home.root);
  const others = hooks.filter((each) => each.id !== id);
  const planned = await plannedFiles(place, kind);
  const record: HookRecord = {
    id,
    at,
    command: quoteAll(place.command),
    files: planned.map(({ path, sha256: hash, moved }) => ({ path, sha256: hash, moved })),
    lines: null,
  };
  await keep(host, home.root, [...others, record]);
  try {
    for (const file of planned) await putFile(host, file);
    Object.assign(record, await kind.enable(place));
    await keep(host, home.root, [...others, record]);
  } catch (cause) {
    await removeHook(place, id);
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CompatError('refused', `hook ${id} could not be installed: ${why}; everything is as it was`, {
      args: { hook: id },
      cause,
    });
  }
  return 'installed';
}

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

/** `gone` and `changed` win over `installed`. */
export async function hookState(place: HookPlace, record: HookRecord): Promise<HookState> {
  const states: HookState[] = [await hookKind(record.id).linesState(place, record)];
  for (const { path, sha256: hash } of record.files) {
    const now = await hashOf(place.host, path);
    states.push(now === null ? 'gone' : now === hash ? 'installed' : 'changed');
  }
  return (['changed', 'gone', 'installed'] as const).find((state) => states.includes(state)) ?? 'installed';
}

/**
 * Takes one hook away and puts back what stood there, the same file that was moved. A file that somebody wrote in the place of
 * ours stays; false: none was installed.
 *
 * @throws CompatError refused, when what stands there now would be lost
 */
export async function removeHook(place: HookPlace, id: HookId): Promise<boolean> {
  const { host, home } = place;
  const hooks = await readHooks(host, home.root);
  const record = hooks.find((each) => each.id === id);
  if (record === undefined) return false;
  for (const file of record.files) await refuseLoss(host, file);
  await hookKind(id).disable(place, record);
  for (const file of record.files) await takeBack(host, file);
  await keep(
    host,
    home.root,
    hooks.filter((each) => each !== record),
  );
  for (const folder of [hookFolder(home.root), compatFolder(home.root)]) await removeIfEmpty(host, folder);
  return true;
}

async function refuseLoss(host: Host, { path, sha256: hash, moved }: HookFile): Promise<void> {
  const now = await hashOf(host, path);
  const isOther = now !== null && now !== hash;
  if (!isOther || moved === null || (await host.stat(moved)) === null) return;
  throw new CompatError(
    'refused',
    `${path} is not the hook that was installed; what stood there before is ${moved}. Keep the one that you want, then run this again`,
    { finding: 'FOREIGN_EDITS', args: { path, moved } },
  );
}

async function takeBack(host: Host, { path, sha256: hash, moved }: HookFile): Promise<void> {
  const aside = moved !== null && (await host.stat(moved)) !== null ? moved : null;
  const now = await hashOf(host, path);
  if (aside !== null) {
    // Also where ours was never put in its place: the rename is the way back from each step.
    await host.rename(aside, path);
    await removeIfEmpty(host, aside.slice(0, aside.lastIndexOf('/')));
  } else if (now === hash) await host.removeFile(path);
  await host.removeFile(`${path}.hermes-compat-new`);
}

async function removeIfEmpty(host: Host, folder: string): Promise<void> {
  try {
    await host.removeDir(folder);
  } catch {
    // Somebody's things are in it.
  }
}
