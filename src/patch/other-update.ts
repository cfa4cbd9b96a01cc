import { updateLockFolder } from '../engine/compat-places.ts';
import { CompatError } from '../errors.ts';
import type { Session } from './change.ts';
import { claimsIn } from './lock.ts';
import { runningUpdater } from './update-state.ts';

/**
 * Nothing is changed beside an update that no plan can see: of the engine without a lock file, or of ours in another process, which
 * takes out and puts back what a change would touch. Asked once for each change: the process table costs more than all files do.
 *
 * @throws CompatError refused (UPDATE_IN_PROGRESS)
 */
export async function refuseOtherUpdate({ host, scene, who }: Session): Promise<void> {
  const { home, install } = scene;
  const [claims, running] = await Promise.all([
    claimsIn(host, updateLockFolder(home.root), who),
    runningUpdater(host, install === null ? [] : [install.id]),
  ]);
  const ours = claims.find(
    ({ alive, pid, hostname }) => alive !== false && !(pid === who.me.pid && hostname === who.me.hostname),
  );
  if (ours !== undefined) {
    const by = ours.pid === null ? 'an unknown process' : `process ${ours.pid} on ${ours.hostname}`;
    throw refusal(`an update by hermes-compat is going on, by ${by} (${ours.path})`, ours, 'ours');
  }
  if (running !== null)
    throw refusal(`an engine update is running (pid ${running.pid}, ${running.path})`, running, 'engine');
}

const refusal = (
  text: string,
  { pid, path }: { pid: number | null; path: string },
  by: 'ours' | 'engine',
): CompatError =>
  new CompatError('refused', `${text}; run this again when it is done`, {
    finding: 'UPDATE_IN_PROGRESS',
    args: { pid, path, by },
  });
