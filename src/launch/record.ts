import { launchFolder } from '../engine/compat-places.ts';
import { FileError, type Host } from '../host/types.ts';
import { documentHead, type Tool } from '../tool.ts';

/** What `launch` remembers of a dashboard that it started: enough to end exactly that process, and nothing secret. */
export interface LaunchRecord {
  schemaVersion: string;
  kind: 'launch-record';
  tool: Tool;
  id: string;
  pid: number;
  /** Start time as the kernel gives it; pid and this name one process for good. null where unknown. */
  startTicks: string | null;
  /** File that runs, links followed; null until it answered once. */
  executable: string | null;
  port: number;
  /** Address that it binds. */
  host: string;
  /** Id of the install. */
  install: string;
  version: string | null;
  /** HERMES_HOME that it was started with. */
  home: string;
  log: string;
  /** File with the session token, mode 0600; null when none is known to us. */
  tokenFile: string | null;
  /** ISO 8601 */
  startedAt: string;
}

export const newRecord = (
  given: Pick<LaunchRecord, 'id' | 'host' | 'install' | 'version' | 'home' | 'log' | 'startedAt'>,
): LaunchRecord => ({
  ...documentHead('launch-record'),
  pid: 0,
  startTicks: null,
  executable: null,
  port: 0,
  tokenFile: null,
  ...given,
});

export const recordPath = (rootHome: string, id: string): string => `${launchFolder(rootHome)}/${id}.json`;

/** Every record below this root home, oldest first. Files that are no record of ours are left out. */
export async function readRecords(host: Host, rootHome: string): Promise<LaunchRecord[]> {
  const folder = launchFolder(rootHome);
  const names = await host.readdir(folder).catch(nothingThere);
  const records = await Promise.all(
    names
      .filter((name) => name.endsWith('.json'))
      .map((name) => readRecord(host, `${folder}/${name}`, name.slice(0, -'.json'.length))),
  );
  return records
    .filter((record) => record !== null)
    .toSorted((a, b) => a.startedAt.localeCompare(b.startedAt));
}

function nothingThere(error: unknown): string[] {
  if (error instanceof FileError && error.code === 'not-found') return [];
  throw error;
}

/** null when there is none, or when it is not one of ours. */
export async function readRecord(host: Host, path: string, id: string): Promise<LaunchRecord | null> {
  try {
    return parseRecord(JSON.parse((await host.readFile(path, 64 * 1024)).toString('utf8')), id);
  } catch (error) {
    if (error instanceof SyntaxError || (error instanceof FileError && error.code === 'not-found'))
      return null;
    throw error;
  }
}

function parseRecord(value: unknown, id: string): LaunchRecord | null {
  if (typeof value !== 'object' || value === null) return null;
  const { pid, port, kind, ...rest } = value as Record<string, unknown>;
  const texts = ['id', 'host', 'install', 'home', 'log', 'startedAt'].map((key) => rest[key]);
  const mayBeNull = ['startTicks', 'executable', 'version', 'tokenFile'].map((key) => rest[key]);
  const valid =
    kind === 'launch-record' &&
    rest['id'] === id &&
    texts.every((text) => typeof text === 'string') &&
    mayBeNull.every((text) => text === null || typeof text === 'string') &&
    Number.isSafeInteger(pid) &&
    Number(pid) > 1 &&
    Number.isSafeInteger(port);
  return valid ? (value as LaunchRecord) : null;
}

/** Replaces the record as a whole. */
export async function writeRecord(host: Host, rootHome: string, record: LaunchRecord): Promise<void> {
  const path = recordPath(rootHome, record.id);
  await host.removeFile(`${path}.new`);
  await host.createFile(`${path}.new`, Buffer.from(`${JSON.stringify(record, null, 2)}\n`), 0o600);
  await host.rename(`${path}.new`, path);
}

/** Removes record, token and log of a launch, and the folders when nothing else is in them. */
export async function removeTraces(host: Host, rootHome: string, id: string, keepLog = false): Promise<void> {
  const folder = launchFolder(rootHome);
  for (const end of ['json', 'json.new', 'token', ...(keepLog ? [] : ['log'])])
    await host.removeFile(`${folder}/${id}.${end}`);
  for (const path of [folder, folder.slice(0, folder.lastIndexOf('/'))]) {
    try {
      await host.removeDir(path);
    } catch {
      // Other launches or patches keep their things there.
      return;
    }
  }
}

/**
 * Makes sure of our folder in the root home, in which no other user can plant links.
 *
 * @throws FileError when the home does not let us; `changed` when the folder is not safe
 */
export async function ensureFolder(host: Host, rootHome: string): Promise<string> {
  const folder = launchFolder(rootHome);
  const { uid } = await host.identity();
  // A group of one's own is common, and with it folders of mode 775.
  const shut = [[folder.slice(0, folder.lastIndexOf('/')), 0o002] as const, [folder, 0o022] as const];
  for (const [path, openBits] of shut) {
    try {
      await host.mkdir(path, 0o700);
    } catch (error) {
      if (!(error instanceof FileError && error.code === 'exists')) throw error;
    }
    const stat = await host.stat(path);
    if (stat?.kind !== 'dir' || (stat.uid !== uid && stat.uid !== 0) || (stat.mode & openBits) !== 0)
      throw new FileError('changed', path, `${path} is not a folder that only you can write to`);
  }
  return folder;
}
