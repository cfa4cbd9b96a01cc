/** A socket that listens, as /proc/net/tcp shows it. */
export interface Listener {
  address: string;
  port: number;
  uid: number;
  inode: string;
}

/** Lines of /proc/net/tcp and tcp6 (`sl local remote st … uid timeout inode`), those that listen. */
export function parseListeners(lines: string[]): Listener[] {
  return lines.flatMap((line) => {
    const fields = line.trim().split(/\s+/);
    const [host, port] = (fields[1] ?? '').split(':');
    const inode = fields[9];
    if (!host || !port || !inode || fields[3] !== '0A') return [];
    return [{ address: address(host), port: Number.parseInt(port, 16), uid: Number(fields[7]), inode }];
  });
}

/** The kernel prints each 32-bit word in the byte order of the machine, little endian on all that engines run on. */
function address(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) =>
    (word.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16)).toReversed(),
  );
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.every((byte) => byte === 0)) return '::';
  if (bytes.slice(0, 15).every((byte) => byte === 0) && bytes[15] === 1) return '::1';
  if (bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255) return bytes.slice(12).join('.');
  const groups = Array.from({ length: 8 }, (_, i) =>
    (((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0)).toString(16),
  );
  return groups.join(':');
}

/** Inodes of the sockets that each process holds, from `ls -l /proc/PID/fd …`. */
export function socketInodes(lines: string[]): Map<number, Set<string>> {
  const held = new Map<number, Set<string>>();
  let inodes = new Set<string>();
  for (const line of lines) {
    const pid = /^\/proc\/(\d+)\/fd:?$/.exec(line)?.[1];
    if (pid !== undefined) {
      inodes = new Set();
      held.set(Number(pid), inodes);
    }
    const inode = /socket:\[(\d+)\]$/.exec(line)?.[1];
    if (inode !== undefined) inodes.add(inode);
  }
  return held;
}

/** Records of `lsof -F pun`: p PID, u uid, n ADDRESS:PORT. */
export function parseLsof(
  lines: string[],
): { pid: number; uid: number | null; address: string; port: number; program: string | null }[] {
  const found: ReturnType<typeof parseLsof> = [];
  let pid = 0;
  let uid: number | null = null;
  let program: string | null = null;
  for (const line of lines) {
    const value = line.slice(1);
    if (line.startsWith('p')) [pid, uid, program] = [Number(value), null, null];
    else if (line.startsWith('u')) uid = Number(value);
    else if (line.startsWith('c')) program = value;
    else if (line.startsWith('n')) {
      const at = /^(.*):(\d+)$/.exec(value);
      if (!at) continue;
      const host = (at[1] ?? '').replace(/^\[|\]$/g, '');
      found.push({ pid, uid, program, address: host === '*' ? '0.0.0.0' : host, port: Number(at[2]) });
    }
  }
  return found;
}
