import type { CommandEntry } from './command.ts';

/** Every command, in the order of `--help`. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'completion',
    summary: 'completion script for bash, zsh, fish or powershell',
    load: async () => (await import('./completion.ts')).completion,
  },
];
