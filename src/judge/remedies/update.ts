import type { Install } from '../../engine/schema.ts';
import type { Reading } from '../reading.ts';
import type { Remedy } from '../schema.ts';
import { compat, onHost } from './commands.ts';

function commandsFor(install: Install, reading: Reading, atLeast: string): string[][] {
  const distribution = install.distribution ?? 'hermes-agent';
  const python = install.interpreter?.path ?? 'python3';
  switch (install.method) {
    case 'pip':
      return [[python, '-m', 'pip', 'install', '--upgrade', `${distribution}>=${atLeast}`]];
    case 'uv':
      return [['uv', 'pip', 'install', '--python', python, '--upgrade', `${distribution}>=${atLeast}`]];
    case 'uv-tool':
      return [['uv', 'tool', 'upgrade', distribution]];
    case 'pipx':
      return [['pipx', 'upgrade', distribution]];
    case 'git':
    case 'editable':
    case 'fhs':
    case 'unknown':
      return [compat(reading, 'update')];
    case 'docker':
    case 'nix':
      return [];
    default: {
      const never: never = install.method;
      return never;
    }
  }
}

/** Updating the engine to a release that has what is missing, by how it was installed. Images and Nix are changed by who builds them. */
export function update(reading: Reading, atLeast: string): Remedy {
  const { install } = reading;
  return {
    id: 'update-engine',
    carrier: 'update',
    where: reading.hasDisk ? 'here' : 'on-host',
    commands: install === null ? [onHost('update')] : commandsFor(install, reading, atLeast),
    ...(install?.method === 'docker' || install?.method === 'nix'
      ? { lines: [`use an image or package of Hermes Agent ${atLeast} or newer`] }
      : {}),
    restart: 'dashboard',
    reversible: false,
  };
}
