import type { Reading } from '../reading.ts';
import type { Remedy } from '../schema.ts';
import { compat, onHost } from './commands.ts';

/** Starting the dashboard the right way for its version. `stop` is a pid, so that nothing else ends. */
export function launch(reading: Reading): Remedy {
  const { process } = reading;
  const stop = process === null || process.owner.kind !== 'manual' ? [] : [['kill', String(process.pid)]];
  const { target, asked } = reading.facts;
  const start = reading.hasDisk
    ? [
        'hermes-compat',
        'launch',
        ...(target.name === 'local' || target.name === '' ? [] : [target.name]),
        ...(asked.home === null ? [] : ['--home', asked.home]),
        ...(asked.profile === null ? [] : ['--profile', asked.profile]),
      ]
    : onHost('launch');
  return {
    id: 'launch',
    carrier: 'launch',
    where: reading.hasDisk ? 'here' : 'on-host',
    commands: [...stop, start],
    restart: 'dashboard',
    reversible: true,
  };
}

/** A line for the engine's own `.env`. We show it and never write it: the file holds provider keys. */
export const envLine = (reading: Reading, line: string): Remedy => ({
  id: `env-${line.split('=')[0]?.toLowerCase().replaceAll('_', '-') ?? 'line'}`,
  carrier: 'config',
  where: reading.hasDisk ? 'here' : 'on-host',
  commands: [],
  lines: [`# ${reading.home === null ? '$HERMES_HOME' : reading.home.path}/.env`, line],
  restart: 'dashboard',
  reversible: true,
});

/** Lines of the engine's config.yaml. */
export const configLines = (reading: Reading, id: string, lines: string[]): Remedy => ({
  id,
  carrier: 'config',
  where: reading.hasDisk ? 'here' : 'on-host',
  commands: [],
  lines: [`# ${reading.home === null ? '$HERMES_HOME' : reading.home.path}/config.yaml`, ...lines],
  restart: 'dashboard',
  reversible: true,
});

/** Restarting the process that is there, by who owns it: a unit, a container or a pid, never a name pattern. */
export function restart(reading: Reading): Remedy {
  const { process } = reading;
  const owner = process?.owner;
  const commands = ((): string[][] => {
    if (process === null || owner === undefined) return [compat(reading, 'launch')];
    if (owner.kind === 'systemd' && owner.name !== null)
      return [
        process.uid === 0
          ? ['systemctl', 'restart', owner.name]
          : ['systemctl', '--user', 'restart', owner.name],
      ];
    if (owner.kind === 'launchd' && owner.name !== null)
      return [['launchctl', 'kickstart', '-k', `gui/${process.uid ?? 501}/${owner.name}`]];
    if (owner.kind === 'container' && owner.name !== null) return [['docker', 'restart', owner.name]];
    if (owner.kind === 'launch') return [['hermes-compat', 'stop'], ...launch(reading).commands];
    return [['kill', String(process.pid)], launch(reading).commands.at(-1) ?? ['hermes-compat', 'launch']];
  })();
  return {
    id: 'restart-dashboard',
    carrier: 'launch',
    where: reading.hasDisk ? 'here' : 'on-host',
    commands,
    restart: 'dashboard',
    reversible: true,
  };
}
