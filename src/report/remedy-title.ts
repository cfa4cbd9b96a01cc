import type { Remedy } from '../judge/schema.ts';

const byCarrier: Record<Remedy['carrier'], string> = {
  config: 'Set',
  launch: 'Start it the right way',
  overlay: 'Fix it (reversible)',
  source: 'Fix it (reversible)',
  update: 'Update the engine',
};

const titleById: Record<string, string> = {
  'restart-dashboard': 'Restart it',
  'install-websockets': 'Install the library',
  'set-aside': 'Take them out (they are saved first)',
  'check-out': 'Take the engine’s own version (yours is saved first)',
  'save-and-drop-stash': 'Save and drop it',
  'move-backups': 'Move them away',
  'remove-bytecode': 'Delete them',
  'remove-marker': 'Delete it',
  'write-marker': 'Write it anew',
  'launch-path-install': 'Start the one on PATH instead',
  'build-web': 'Build it again',
  'finish-update': 'Finish it',
  'finish-prepared': 'Finish it',
  'finish-journal': 'Finish it',
  'reach-host': 'What helps',
  'header-file': 'Give what it wants',
  reinstall: 'Install it again',
  unlock: 'Remove the lock',
};

/** Its last command starts the dashboard again already. */
const startsIt = (remedy: Remedy): boolean =>
  remedy.carrier === 'launch' ||
  remedy.commands.some(
    (argv) =>
      (argv[0] === 'hermes-compat' && argv[1] === 'launch') ||
      argv.includes('restart') ||
      argv.includes('kickstart'),
  );

/** What a remedy does, in a few words before its lines and commands. */
export function remedyTitle(remedy: Remedy): string {
  const proxy = /^(nginx|caddy|haproxy)-/.exec(remedy.id)?.[1];
  const title = proxy === undefined ? (titleById[remedy.id] ?? byCarrier[remedy.carrier]) : `In ${proxy}`;
  const where = remedy.where === 'on-host' ? ' on its own machine' : '';
  const then = remedy.restart === 'dashboard' && !startsIt(remedy) ? ', then restart the dashboard' : '';
  return `${title}${where}${then}`;
}
