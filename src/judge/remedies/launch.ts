import type { Install } from '../../engine/schema.ts';
import type { Reading } from '../reading.ts';
import type { Remedy } from '../schema.ts';
import { onHost, targetWord } from './commands.ts';

/** The virtual environment of an install where it has one of its own, else its root. */
function placeOf(install: Install): string {
  const venv = /^(.+)\/bin\/python[\d.]*$/.exec(install.interpreter?.path ?? '')?.[1];
  return venv !== undefined && install.root.startsWith(`${venv}/`) ? venv : install.root;
}

/** argv that starts the dashboard of this install and home again, where it was. */
function launchArgv({ facts, install, process, home }: Reading): string[] {
  const { target, asked } = facts;
  const elsewhere = target.kind === 'local' && install !== null && !install.onPath;
  const word = elsewhere ? `local:${placeOf(install)}` : targetWord(facts);
  const named =
    facts.service?.how === 'named' ? (/:(\d+)(?:\/|$)/.exec(facts.service.url)?.[1] ?? null) : null;
  const port = process?.port == null ? named : String(process.port);
  const served = process?.hermesHome ?? null;
  const homeWord = asked.home ?? (served !== null && home?.from === 'process' ? served : null);
  return [
    'hermes-compat',
    'launch',
    ...(word === null ? [] : [word]),
    ...(homeWord === null ? [] : ['--home', homeWord]),
    ...(asked.profile === null ? [] : ['--profile', asked.profile]),
    ...(port === null ? [] : ['--port', port]),
  ];
}

const launchHere = (reading: Reading): string[] => (reading.hasDisk ? launchArgv(reading) : onHost('launch'));

/** Starting the dashboard the right way for its version, after the running one ended by pid, so that nothing else does. */
export function launch(reading: Reading): Remedy {
  const { process } = reading;
  const stop =
    process === null
      ? []
      : process.owner.kind === 'launch'
        ? [['hermes-compat', 'stop']]
        : [['kill', String(process.pid)]];
  return {
    id: 'launch',
    carrier: 'launch',
    where: reading.hasDisk ? 'here' : 'on-host',
    commands: [...stop, launchHere(reading)],
    restart: 'dashboard',
    reversible: true,
  };
}

/** A line for the engine's own `.env`. We show it and never write it: the file holds provider keys. */
export const envLine = (reading: Reading, line: string): Remedy => ({
  id: `env-${line.split('=')[0]?.toLowerCase().replaceAll('_', '-') ?? 'line'}`,
  carrier: 'config',
  where: reading.hasDisk ? 'here' : 'on-host',
  commands: restartCommands(reading),
  lines: [`# ${reading.home === null ? '$HERMES_HOME' : reading.home.path}/.env`, line],
  restart: 'dashboard',
  reversible: true,
});

/** Lines of the engine's config.yaml. */
export const configLines = (reading: Reading, id: string, lines: string[]): Remedy => ({
  id,
  carrier: 'config',
  where: reading.hasDisk ? 'here' : 'on-host',
  commands: restartCommands(reading),
  lines: [`# ${reading.home === null ? '$HERMES_HOME' : reading.home.path}/config.yaml`, ...lines],
  restart: 'dashboard',
  reversible: true,
});

/** Restarting the process that is there, by who owns it: a unit, a container or a pid, never a name pattern. */
export function restartCommands(reading: Reading): string[][] {
  const { process } = reading;
  if (!reading.hasDisk) return [];
  const start = launchHere(reading);
  if (process === null) return reading.facts.service === null ? [start] : [];
  const { kind, name } = process.owner;
  if (kind === 'systemd' && name !== null)
    return [process.uid === 0 ? ['systemctl', 'restart', name] : ['systemctl', '--user', 'restart', name]];
  if (kind === 'launchd' && name !== null)
    return [['launchctl', 'kickstart', '-k', `gui/${process.uid ?? 501}/${name}`]];
  if (kind === 'container' && name !== null) return [['docker', 'restart', name]];
  if (kind === 'launch') return [['hermes-compat', 'stop'], start];
  return [['kill', String(process.pid)], start];
}

export const restart = (reading: Reading): Remedy => ({
  id: 'restart-dashboard',
  carrier: 'launch',
  where: reading.hasDisk ? 'here' : 'on-host',
  commands: restartCommands(reading),
  restart: 'dashboard',
  reversible: true,
});
