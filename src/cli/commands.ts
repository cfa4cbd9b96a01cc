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
    name: 'explain',
    summary: 'what a finding code means and what to do',
    load: async () => (await import('./explain.ts')).explain,
  },
  {
    name: 'contract',
    summary: 'what a client expects of a dashboard',
    load: async () => (await import('./contract.ts')).contract,
  },
  {
    name: 'preflight',
    summary: 'check many targets at once, for CI',
    load: async () => (await import('./preflight.ts')).preflight,
  },
  {
    name: 'report',
    summary: 'merge saved reports',
    load: async () => (await import('./report.ts')).report,
  },
  {
    name: 'patch',
    summary: 'make an engine compatible, and give it back to the byte',
    load: async () => (await import('./patch.ts')).patch,
  },
  {
    name: 'launch',
    summary: 'start the dashboard the right way for its version',
    takesRest: true,
    load: async () => (await import('./launch.ts')).launch,
  },
  {
    name: 'stop',
    summary: 'end what launch started, and nothing else',
    load: async () => (await import('./stop.ts')).stop,
  },
  {
    name: 'turn',
    summary: 'real turns, judged: live against stored, restored, cut',
    load: async () => (await import('./turn.ts')).turn,
  },
  {
    name: 'record',
    summary: 'a redacted frame log of a real turn',
    load: async () => (await import('./record.ts')).record,
  },
  {
    name: 'replay',
    summary: 'turns of a recorded frame log, compared with stored rows',
    load: async () => (await import('./replay.ts')).replay,
  },
  {
    name: 'demo',
    summary: 'the main job on an embedded stand-in',
    load: async () => (await import('./demo.ts')).demo,
  },
  {
    name: 'simulate',
    summary: 'a stand-in dashboard of any release, whole or broken',
    load: async () => (await import('./simulate.ts')).simulate,
  },
  {
    name: 'bundle',
    summary: 'a redacted file for a bug report',
    load: async () => (await import('./bundle.ts')).bundle,
  },
  {
    name: 'update',
    summary: 'update the engine and keep it compatible',
    takesRest: true,
    load: async () => (await import('./update.ts')).update,
  },
  {
    name: 'pre-update',
    summary: 'for your own update script: take our source edits out',
    load: async () => (await import('./update.ts')).preUpdate,
  },
  {
    name: 'post-update',
    summary: 'for your own update script: bring back what is missing, and check',
    load: async () => (await import('./update.ts')).postUpdate,
  },
  {
    name: 'hook',
    summary: 're-check after updates that happened without us',
    load: async () => (await import('./hook.ts')).hook,
  },
  {
    name: 'completion',
    summary: 'completion script for bash, zsh, fish or powershell',
    load: async () => (await import('./completion.ts')).completion,
  },
];
