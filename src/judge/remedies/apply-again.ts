import type { Reading } from '../reading.ts';
import type { Remedy } from '../schema.ts';
import { compatPatch } from './commands.ts';
import { restartCommands } from './launch.ts';

/** A source edit that was lost comes back as a source edit: the overlay beside it would leave the claim of the marker untrue. */
export const applySourceAgain = (reading: Reading, patch: string): Remedy => ({
  id: `apply-again-${patch}`,
  carrier: 'source',
  where: 'here',
  patch,
  commands: [[...compatPatch(reading, 'apply', [patch]), '--carrier', 'source'], ...restartCommands(reading)],
  restart: 'dashboard',
  reversible: true,
});
