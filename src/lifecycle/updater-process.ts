import type { Host } from '../host/types.ts';
import { readUpdate } from '../patch/update-state.ts';
import { environmentOf } from './fingerprint.ts';

/** An engine update that runs right now. */
export interface LiveUpdate {
  pid: number | null;
  /** The engine's lock file, or the command line that was seen. */
  seen: string;
}

/**
 * Looks for a running update of these trees. Releases up to 0.19 take no lock, so command lines count too: an updater is a
 * program of one of these trees with the word `update`.
 */
export async function liveUpdate(
  host: Host,
  root: string,
  installs: readonly string[],
): Promise<LiveUpdate | null> {
  const lock = await readUpdate(host, root);
  if (lock?.state === 'live') return { pid: lock.pid, seen: lock.path };
  const { stdout } = await host.script("ps -A -o pid= -o args= 2>/dev/null | grep ' update' ; exit 0");
  const places = installs.map(environmentOf);
  for (const line of stdout.toString('utf8').split('\n')) {
    const [, pid, args = ''] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
    if (pid === undefined || !isUpdater(args)) continue;
    if (places.some((place) => args.includes(`${place}/`)))
      return { pid: Number(pid), seen: args.slice(0, 200) };
  }
  return null;
}

/** `…/python …/bin/hermes update`, also as a module; ours is `hermes-compat update`. */
const isUpdater = (args: string): boolean =>
  /\/(hermes|hermesx|hermes-iot|hermes-agent)( -\S+( \S+)?)* update( |$)/.test(args) ||
  /hermes_cli[./]main(\.py)?( -\S+( \S+)?)* update( |$)/.test(args);
