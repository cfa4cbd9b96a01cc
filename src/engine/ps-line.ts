/** A line of `TZ=UTC ps -o pid= -o ppid= -o uid= -o lstart= -o command=`, for hosts without procfs. */
export interface PsLine {
  pid: number;
  ppid: number;
  uid: number;
  /** Milliseconds since 1970, whole seconds. */
  startMs: number | null;
  /** Parted at blanks: where an argument holds one it is two here. */
  argv: string[];
}

export function psLine(line: string): PsLine | null {
  const found = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+\s+\S+\s+\d+\s+[\d:]+\s+\d{4})\s+(.+)$/.exec(line);
  if (!found) return null;
  const [, pid, ppid, uid, started = '', command = ''] = found;
  const startMs = Date.parse(`${started} UTC`);
  return {
    pid: Number(pid),
    ppid: Number(ppid),
    uid: Number(uid),
    startMs: Number.isNaN(startMs) ? null : startMs,
    argv: command.trim().split(/\s+/),
  };
}
