import type { Host, HostIdentity } from '../host/types.ts';

/** May we replace files in a folder? Looked at on the nearest folder that exists. */
export type FolderAccess =
  | { kind: 'ok' }
  | { kind: 'not-owner'; folder: string; uid: number }
  | { kind: 'read-only-fs'; folder: string }
  | { kind: 'not-writable'; folder: string }
  | { kind: 'open'; folder: string };

/** One answer a folder; links are followed. Nothing is written to find out. */
export async function readFolders(
  host: Host,
  me: HostIdentity,
  folders: readonly string[],
): Promise<Map<string, FolderAccess>> {
  const answers = new Map<string, FolderAccess>();
  for (const folder of new Set(folders)) answers.set(folder, await access(host, me, folder));
  return answers;
}

async function access(host: Host, me: HostIdentity, folder: string): Promise<FolderAccess> {
  const parent = folder.slice(0, Math.max(1, folder.lastIndexOf('/')));
  const stat = await host.stat(folder, true);
  if (stat === null) return folder === '/' ? { kind: 'not-writable', folder } : access(host, me, parent);
  if (stat.kind !== 'dir') return { kind: 'not-writable', folder };
  if (stat.uid !== me.uid) return { kind: 'not-owner', folder, uid: stat.uid };
  if ((await host.run(['test', '-w', folder])).code !== 0) {
    const mayWrite = me.uid === 0 || (stat.mode & 0o200) !== 0;
    return mayWrite ? { kind: 'read-only-fs', folder } : { kind: 'not-writable', folder };
  }
  // Another user could plant a link or swap a file between our look and our write.
  return (stat.mode & 0o002) !== 0 ? { kind: 'open', folder } : { kind: 'ok' };
}
