import type { EngineProcess } from '../../engine/schema.ts';

/**
 * Restarting one process by who keeps it: a unit, a job, a container or a pid, never a name pattern.
 *
 * @param ours argv of our command that ends or starts it, where nothing else does
 */
export function restartCommandsOf(
  { pid, uid, owner }: Pick<EngineProcess, 'pid' | 'uid' | 'owner'>,
  ours: (command: 'launch' | 'stop') => string[],
): string[][] {
  const { kind, name, manager } = owner;
  // Facts of an older version do not say whose unit it is.
  const isUser = manager === undefined ? uid !== 0 : manager === 'user';
  if (kind === 'systemd' && name !== null)
    return [isUser ? ['systemctl', '--user', 'restart', name] : ['systemctl', 'restart', name]];
  if (kind === 'launchd' && name !== null) {
    const domain = manager === 'system' ? 'system' : `gui/${uid ?? 501}`;
    return [['launchctl', 'kickstart', '-k', `${domain}/${name}`]];
  }
  if (kind === 'container' && name !== null) return [['docker', 'restart', name]];
  if (kind === 'launch') return [ours('stop'), ours('launch')];
  return [['kill', String(pid)], ours('launch')];
}
