import { environmentOf } from '../engine/environment.ts';
import { textIfThere } from '../host/read-text.ts';
import type { Host } from '../host/types.ts';

/** An update of the engine by its own updater. */
export interface UpdateState {
  /** Its lock file, `<root home>/.hermes-update-in-progress` (0.20 and newer), or the command line that was seen. */
  path: string;
  pid: number | null;
  /** `live`: its process runs; `stale`: it is gone, so the tree may be half updated. */
  state: 'live' | 'stale';
}

const maxAgeMs = 20 * 60_000;

/**
 * Looks for an update of these trees. Releases up to 0.19 take no lock, so command lines count too: an updater is a program of one
 * of these trees with the word `update`.
 *
 * @param installs ids of installs, which are their roots
 */
export async function updateOf(
  host: Host,
  root: string,
  installs: readonly string[],
): Promise<UpdateState | null> {
  const [lock, running] = await Promise.all([readLock(host, root), runningUpdater(host, installs)]);
  return lock?.state === 'live' ? lock : (running ?? lock);
}

export async function runningUpdater(host: Host, installs: readonly string[]): Promise<UpdateState | null> {
  if (installs.length === 0) return null;
  const { stdout } = await host.script("ps -A -o pid= -o args= 2>/dev/null | grep ' update' ; exit 0");
  const places = installs.map((install) => `${environmentOf(install)}/`);
  for (const line of stdout.toString('utf8').split('\n')) {
    const [, pid, args = ''] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
    if (pid === undefined || !isUpdater(args)) continue;
    if (places.some((place) => args.includes(place)))
      return { path: args.slice(0, 200), pid: Number(pid), state: 'live' };
  }
  return null;
}

/**
 * `…/python …/bin/hermes update`, also as a module; ours is `hermes-compat update`. `--check` only asks, and a shell or sudo that
 * has an updater among its words is no updater: ours is one, and is there a second longer.
 */
const isUpdater = (args: string): boolean =>
  !/^(\S*\/)?(ba|da|z|a|k)?sh |^(\S*\/)?(busybox|sudo|env|setpriv|timeout|nohup|ssh) /.test(args) &&
  !/ update .*--check( |$)/.test(args) &&
  (/\/(hermes|hermesx|hermes-iot|hermes-agent)( -\S+( \S+)?)* update( |$)/.test(args) ||
    /hermes_cli[./]main(\.py)?( -\S+( \S+)?)* update( |$)/.test(args));

/** Body: pid, start time, and from format 2 on a line `ct:<creation time of the owner>` (hermes_cli/update_lock.py). */
export async function readLock(host: Host, root: string): Promise<UpdateState | null> {
  const path = `${root}/.hermes-update-in-progress`;
  const text = await textIfThere(host, path, 4096);
  if (text === null) return null;
  const [first, started, creation] = text.split('\n');
  const pid = /^\d+$/.test(first ?? '') ? Number(first) : null;
  if (pid === null) {
    // Made but not yet written: a claim in flight.
    const stat = await host.stat(path);
    const young = stat !== null && Date.now() - stat.mtimeMs < 5000;
    return { path, pid, state: young ? 'live' : 'stale' };
  }
  const runs = (await host.run(['ps', '-p', String(pid)])).code === 0;
  const aged = creation === undefined || !creation.startsWith('ct:');
  const old = aged && Date.now() - Number(started) * 1000 > maxAgeMs;
  return { path, pid, state: runs && !old ? 'live' : 'stale' };
}
