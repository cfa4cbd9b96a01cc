import { updateFolder } from '../engine/compat-places.ts';
import { CompatError } from '../errors.ts';
import type { Session } from './change.ts';
import { claimsIn } from './lock.ts';

/**
 * Another `hermes-compat update` takes out and puts back what a change would touch.
 *
 * @throws CompatError refused (UPDATE_IN_PROGRESS)
 */
export async function refuseOtherUpdate({ host, scene, who }: Session): Promise<void> {
  const claims = await claimsIn(host, `${updateFolder(scene.home.root)}/lock`, who);
  const other = claims.find(
    ({ alive, pid, hostname }) => alive !== false && !(pid === who.me.pid && hostname === who.me.hostname),
  );
  if (other === undefined) return;
  const by = other.pid === null ? 'by an unknown process' : `by process ${other.pid} on ${other.hostname}`;
  throw new CompatError(
    'refused',
    `an update by hermes-compat is going on, ${by} (${other.path}); run this again when it is done`,
    {
      finding: 'UPDATE_IN_PROGRESS',
      args: { pid: other.pid, path: other.path, by: 'ours' },
    },
  );
}
