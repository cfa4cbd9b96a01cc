import type { Install } from '../../engine/schema.ts';
import type { Reading } from '../reading.ts';
import type { Remedy } from '../schema.ts';
import { parseVersion } from '../../engine/version.ts';
import { atLeast } from '../version.ts';
import { compatUpdate, onHost } from './commands.ts';
import { restartCommands } from './launch.ts';

/** The last release that was put on PyPI as `hermes-agent`; forks go on under their own names. */
const lastOnPyPI = '0.19.0';

const isOnPyPI = (install: Install, least: string): boolean => {
  const wanted = parseVersion(least);
  return install.distribution !== 'hermes-agent' || wanted === null || !atLeast(wanted, '0.19.1');
};

function commandsFor(install: Install, reading: Reading, least: string): string[][] {
  const distribution = install.distribution ?? 'hermes-agent';
  const python = install.interpreter?.path ?? 'python3';
  switch (install.method) {
    case 'pip':
      return [[python, '-m', 'pip', 'install', '--upgrade', `${distribution}>=${least}`]];
    case 'uv':
      return [['uv', 'pip', 'install', '--python', python, '--upgrade', `${distribution}>=${least}`]];
    case 'uv-tool':
      return [['uv', 'tool', 'upgrade', distribution]];
    case 'pipx':
      return [['pipx', 'upgrade', distribution]];
    case 'git':
    case 'editable':
    case 'fhs':
    case 'unknown':
      return [compatUpdate(reading)];
    case 'docker':
    case 'nix':
      return [];
    default: {
      const never: never = install.method;
      return never;
    }
  }
}

/** What stands in for a command where no package manager can bring that release. */
function linesFor(install: Install, least: string): string[] {
  if (install.method === 'docker' || install.method === 'nix')
    return [`use an image or package of Hermes Agent ${least} or newer`];
  return [
    `releases after ${lastOnPyPI} are not on PyPI: install Hermes Agent ${least} or newer from its git repository`,
  ];
}

/** Updating the engine to a release that has what is missing, by how it was installed. Images and Nix are changed by who builds them. */
export function update(reading: Reading, least: string): Remedy {
  const { install } = reading;
  const packaged = install !== null && ['pip', 'uv', 'uv-tool', 'pipx'].includes(install.method);
  const possible = install === null || !packaged || isOnPyPI(install, least);
  const commands = !possible
    ? []
    : install === null
      ? [onHost('update')]
      : commandsFor(install, reading, least);
  return {
    id: `update-${least}`,
    carrier: 'update',
    where: reading.hasDisk ? 'here' : 'on-host',
    commands: commands.length === 0 ? [] : [...commands, ...restartCommands(reading)],
    ...(install !== null && commands.length === 0 ? { lines: linesFor(install, least) } : {}),
    restart: 'dashboard',
    reversible: false,
  };
}
