import type { Host, HostIdentity } from '../host/types.ts';

/** May we replace files in a folder? Looked at on the nearest folder that exists; links are followed. */
export type FolderAccess =
  | { kind: 'ok' }
  | { kind: 'not-owner'; folder: string; uid: number }
  | { kind: 'read-only-fs'; folder: string }
  | { kind: 'not-writable'; folder: string };

/** One line a folder: permission bits as ls shows them, uid, may we write, and which folder that is. */
const script = `
for place in "$@"; do
  while [ ! -e "$place" ] && [ "$place" != "" ]; do place=\${place%/*}; done
  [ "$place" = "" ] && place=/
  writable=no; [ -w "$place" ] && writable=yes
  set -- $(ls -ldnL -- "$place" 2>/dev/null)
  printf '%s %s %s %s\\n' "\${1:--}" "\${3:--1}" "$writable" "$place"
done
`;

/** Nothing is written to find out. */
export async function readFolders(
  host: Host,
  me: HostIdentity,
  folders: readonly string[],
): Promise<Map<string, FolderAccess>> {
  const asked = [...new Set(folders)];
  const { stdout } = await host.script(script, asked);
  const lines = stdout.toString('utf8').split('\n');
  return new Map(asked.map((folder, index) => [folder, access(lines[index] ?? '', folder, me)]));
}

function access(line: string, asked: string, me: HostIdentity): FolderAccess {
  const [, bits = '', uid = '', writable = '', folder = asked] =
    /^(\S+) (-?\d+) (yes|no) (.*)$/.exec(line) ?? [];
  if (!bits.startsWith('d')) return { kind: 'not-writable', folder };
  if (Number(uid) !== me.uid) return { kind: 'not-owner', folder, uid: Number(uid) };
  if (writable === 'yes') return { kind: 'ok' };
  return me.uid === 0 || bits[2] === 'w'
    ? { kind: 'read-only-fs', folder }
    : { kind: 'not-writable', folder };
}
