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
  /** null: of another machine, or the system does not say: nobody can tell. */
  alive(holder: Holder): Promise<boolean | null>;
}

/**
 * Start of a process: boot id and clock ticks on Linux, else what ps prints. Ended but not yet collected (Z) counts as gone.
 * Prints `gone` or the start; anything else, also nothing, means that it could not be told.
 */
const startScript = `
if [ -r /proc/self/stat ]; then
  if line=$(cat "/proc/$1/stat" 2>/dev/null) && [ -n "$line" ]; then
    set -- \${line##*) }
    case $1 in
      Z|X) echo gone ;;
      *) boot=$(cat /proc/sys/kernel/random/boot_id) && printf '%.8s-%s' "$boot" "\${20}" ;;
    esac
  elif [ ! -d "/proc/$1" ]; then
    # A /proc that hides the processes of others shows them only here.
    case $(kill -0 "$1" 2>&1 || :) in *[Pp]ermitted*) ;; *) echo gone ;; esac
  fi
else
  start=$(LC_ALL=C ps -o lstart= -p "$1") || [ -z "$start" ] || exit 1
  if [ -n "$start" ]; then printf '%s' "$start" | tr -dc 'A-Za-z0-9'; else echo gone; fi
fi
`;

/** @param local the machine that we run on, not the target */
export async function whoami(local: Host, pid: number): Promise<Whoami> {
  const startOf = async (of: number): Promise<string | null> => {
    const { code, stdout } = await local.script(startScript, [String(of)]);
    const start = stdout.toString('utf8').trim();
    return code === 0 && start !== '' ? start : null;
  };
  const { hostname } = await local.identity();
  const me = { hostname: hostname.replace(/[^A-Za-z0-9.-]/g, '_'), pid, start: (await startOf(pid)) ?? '' };
  return {
    me,
    claim: () => claimName(me),
    alive: async (holder) => {
      if (holder.hostname !== me.hostname || me.start === '') return null;
      const start = await startOf(holder.pid);
      return start === null ? null : start === holder.start;
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
