import type { Install } from '../../engine/schema.ts';
import type { Reading } from '../reading.ts';
import type { Remedy } from '../schema.ts';
import { ofPlace, onHost, targetWord } from './commands.ts';
import { restartCommandsOf } from './restart-commands.ts';

/** The virtual environment of an install where it has one of its own, else its root. */
function placeOf(install: Install): string {
  const venv = /^(.+)\/bin\/python[\d.]*$/.exec(install.interpreter?.path ?? '')?.[1];
  return venv !== undefined && install.root.startsWith(`${venv}/`) ? venv : install.root;
}

/** argv that ends the dashboard of this install and home, or starts it again where it was. */
function launchArgv(
  { facts, process, home }: Reading,
  command: 'launch' | 'stop',
  install: Install | null,
): string[] {
  const { target, asked } = facts;
  const elsewhere = target.kind === 'local' && install !== null && !install.onPath;
  const word = elsewhere ? `local:${placeOf(install)}` : targetWord(facts);
  const named =
    facts.service?.how === 'named' ? (/:(\d+)(?:\/|$)/.exec(facts.service.url)?.[1] ?? null) : null;
  const port = process?.port == null ? named : String(process.port);
  const served = process?.hermesHome ?? null;
  const homeWord = asked.home ?? (served !== null && home?.from === 'process' ? served : null);
  return [...ofPlace(command, word, homeWord, asked.profile), ...(port === null ? [] : ['--port', port])];
}

const launchHere = (reading: Reading, command: 'launch' | 'stop' = 'launch'): string[] =>
  reading.hasDisk ? launchArgv(reading, command, reading.install) : onHost(command);

/** Starting the dashboard the right way for its version, after the running one ended by pid, so that nothing else does. */
export function launch(reading: Reading): Remedy {
  const { process } = reading;
  const stop =
    process === null
      ? []
      : process.owner.kind === 'launch'
        ? [launchHere(reading, 'stop')]
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

/** The dashboard of the install that `hermes` on PATH is, in place of the one that runs. */
export function launchOnPath(reading: Reading, onPath: Install): Remedy {
  const { process } = reading;
  const owner = process?.owner ?? { kind: 'unknown' as const, name: null };
  const kept = owner.name !== null && owner.kind !== 'launch';
  const start = launchArgv(reading, 'launch', { ...onPath, onPath: false });
  const stop = owner.kind === 'launch' ? launchHere(reading, 'stop') : ['kill', String(process?.pid)];
  return {
    id: 'launch-path-install',
    carrier: 'launch',
    where: reading.hasDisk ? 'here' : 'on-host',
    commands: kept ? [] : [...(process === null ? [] : [stop]), start],
    ...(kept
      ? { lines: [`# in ${owner.kind} ${owner.name}: start this one`, onPath.commands[0] ?? onPath.root] }
      : {}),
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

/** Restarting the process that is there, by who owns it. */
export function restartCommands(reading: Reading): string[][] {
  const { process } = reading;
  if (!reading.hasDisk) return [];
  if (process === null) return reading.facts.service === null ? [launchHere(reading)] : [];
  return restartCommandsOf(process, (command) => launchHere(reading, command));
}

export const restart = (reading: Reading): Remedy => ({
  id: 'restart-dashboard',
  carrier: 'launch',
  where: reading.hasDisk ? 'here' : 'on-host',
  commands: restartCommands(reading),
  restart: 'dashboard',
  reversible: true,
});
