import { randomBytes } from 'node:crypto';
import type { Host } from './types.ts';

/** A process as a lock names it: the machine, the pid and when it started, so that a pid that was used again is another. */
export interface Holder {
  hostname: string;
  pid: number;
  start: string;
}

/** This process, and whether another one still runs. */
export interface Whoami {
  me: Holder;
  /** A fresh name for one claim. */
  claim(): string;
  /** null: of another machine, nobody can tell. */
  alive(holder: Holder): Promise<boolean | null>;
}

/**
 * Start of a process: boot id and clock ticks on Linux, else what ps prints. Ended but not yet collected (Z) counts as gone.
 */
const startScript = `
if [ -r "/proc/$1/stat" ]; then
  line=$(cat "/proc/$1/stat") || exit 0
  set -- \${line##*) }
  case $1 in Z|X) exit 0 ;; esac
  printf '%.8s-%s' "$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)" "\${20}"
elif [ ! -d /proc/self ]; then
  ps -o lstart= -p "$1" 2>/dev/null | tr -dc 'A-Za-z0-9'
fi
`;

/** @param local the machine that we run on, not the target */
export async function whoami(local: Host, pid: number): Promise<Whoami> {
  const startOf = async (of: number): Promise<string> =>
    (await local.script(startScript, [String(of)])).stdout.toString('utf8').trim();
  const { hostname } = await local.identity();
  const me = { hostname: hostname.replace(/[^A-Za-z0-9.-]/g, '_'), pid, start: await startOf(pid) };
  return {
    me,
    claim: () => claimName(me),
    alive: async (holder) => {
      if (holder.hostname !== me.hostname || me.start === '') return null;
      const start = await startOf(holder.pid);
      return start !== '' && start === holder.start;
    },
  };
}

const claimName = ({ hostname, pid, start }: Holder): string =>
  `${hostname}~${pid}~${start}~${randomBytes(6).toString('hex')}`;

/** The holder that a claim names; null for a name that is not one. */
export function holderOf(claim: string): Holder | null {
  const match = /^([A-Za-z0-9._-]+)~(\d+)~([A-Za-z0-9-]*)~[0-9a-f]{12}$/.exec(claim);
  return match === null ? null : { hostname: match[1] ?? '', pid: Number(match[2]), start: match[3] ?? '' };
}
