import type { Install } from '../../engine/schema.ts';
import type { Remedy } from '../schema.ts';

/** Commands that take away what nobody wants back; what somebody may want is in `set-aside.ts` and `stashes.ts`. */

const remedy = (
  id: string,
  commands: string[][],
  reversible: boolean,
  restart: Remedy['restart'] = 'none',
): Remedy => ({
  id,
  carrier: 'config',
  where: 'here',
  commands,
  restart,
  reversible,
});

export const inOrder = (id: string, commands: string[][]): Remedy => remedy(id, commands, true);

export const oneCommand = (id: string, argv: string[]): Remedy => remedy(id, [argv], true);

export const removePaths = (id: string, paths: string[]): Remedy =>
  remedy(id, [['rm', '--', ...paths]], false);

export const removeFiles = (install: Install, files: readonly string[]): Remedy =>
  remedy(
    'remove-bytecode',
    [['rm', '--', ...files.map((file) => (file.startsWith('/') ? file : `${install.root}/${file}`))]],
    true,
    'dashboard',
  );
