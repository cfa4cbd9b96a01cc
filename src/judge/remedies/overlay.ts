import type { Reading } from '../reading.ts';
import type { Remedy } from '../schema.ts';
import { compat, onHost } from './commands.ts';
import { restartCommands } from './launch.ts';

/** Our plugin in HERMES_HOME: lasts over updates, reversible, applied by `doctor --fix`. */
export function overlay(reading: Reading, patch: string): Remedy {
  const extra = ['--fix', '--client', reading.client];
  return {
    id: `overlay-${patch}`,
    carrier: 'overlay',
    where: reading.hasDisk ? 'here' : 'on-host',
    patch,
    commands: [
      reading.hasDisk ? compat(reading, 'doctor', extra) : onHost('doctor', extra),
      ...restartCommands(reading),
    ],
    restart: 'dashboard',
    reversible: true,
  };
}
