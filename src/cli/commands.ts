import type { CommandEntry } from './command.ts';

/** Every command, in the order of `--help`. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'doctor',
    summary: 'does this dashboard work for my client, and if not, why',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  {
    name: 'detect',
    summary: 'facts and capabilities, no verdict',
    load: async () => (await import('./detect.ts')).detect,
  },
  {
    name: 'completion',
    summary: 'completion script for bash, zsh, fish or powershell',
    load: async () => (await import('./completion.ts')).completion,
  },
];
