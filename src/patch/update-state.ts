import { FileError, type Host } from '../host/types.ts';

/** The engine's own update marker, `<root home>/.hermes-update-in-progress` (0.20 and newer). */
export interface UpdateState {
  path: string;
  pid: number | null;
  /** `live`: its process runs; `stale`: it is gone, so the tree may be half updated. */
  state: 'live' | 'stale';
}

const maxAgeMs = 20 * 60_000;

/** Body: pid, start time, and from format 2 on a line `ct:<creation time of the owner>` (hermes_cli/update_lock.py). */
export async function readUpdate(host: Host, root: string): Promise<UpdateState | null> {
  const path = `${root}/.hermes-update-in-progress`;
  let text: string;
  try {
    text = (await host.readFile(path, 4096)).toString('utf8');
  } catch (error) {
    if (error instanceof FileError && (error.code === 'not-found' || error.code === 'not-a-directory'))
      return null;
    throw error;
  }
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
