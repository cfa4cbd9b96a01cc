import type { Located } from '../../engine/locate.ts';
import type { EngineProcess, Install } from '../../engine/schema.ts';
import type { Host } from '../../host/types.ts';
import { restartCommandsOf } from '../../judge/remedies/restart-commands.ts';
import { engineCommand } from '../../patch/engine-command.ts';
import { ourCommand } from '../restart.ts';
import { argumentsOf } from '../start-again.ts';
import { recordOf } from '../../launch/recorded.ts';
import { engineArguments, parseEngineArgv, redactArgv } from '../../engine/argv.ts';
import type { NotedLaunch, NotedProcess } from './state.ts';

/** As the updater looks for them: a substring of the command line, whatever install, home or program it is (hermes_cli/main.py). */
const asUpdater =
  /hermes dashboard|hermes_cli\.main dashboard|hermes_cli\/main\.py dashboard|hermes serve|hermes_cli\.main serve|hermes_cli\/main\.py serve/;

interface Endangering {
  /** What is updated, with the homes that it serves. */
  install: Install;
  homes: readonly string[];
  located: Pick<Located, 'processes' | 'installs'>;
  target: { kind: string; name: string };
}

/**
 * Every process on the host that the end of the engine's updater ends. G2 engines end those of their own home only; which release
 * comes next is not known before, so the wider answer is given unless the tree itself is G2.
 */
export async function endangered(
  host: Host,
  { install, homes, located: { processes, installs }, target }: Endangering,
  launches: readonly NotedLaunch[],
): Promise<NotedProcess[]> {
  const { stdout } = await host.script('ps -A -o pid= -o user= -o args= 2>/dev/null; exit 0');
  const found: NotedProcess[] = [];
  for (const line of stdout.toString('utf8').split('\n')) {
    const [, pid, user = '', args = ''] = /^\s*(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    if (pid === undefined || !asUpdater.test(args)) continue;
    const known = processes.find((each) => each.pid === Number(pid));
    const isForeignHome = known?.hermesHome != null && !homes.includes(known.hermesHome);
    if (install.generation === 'G2' && isForeignHome) continue;
    found.push({
      pid: Number(pid),
      user,
      command: redactArgv(args.split(' ')).join(' ').slice(0, 300),
      install: known?.install ?? null,
      owner: ownerWord(known),
      launched: launches.some((launch) => launch.pid === Number(pid)),
      restart: known === undefined || !isKept(known) ? [] : restartCommandsOf(known, () => []),
      startAgain:
        known === undefined ? null : startAgainOf(known, await programOf(host, known, installs), target),
    });
  }
  return found;
}

/**
 * argv that starts it again as it was, to be typed in any shell: with its home, which is not the one of that shell. Of its environment
 * nothing else than that and the two settings that are no secret. Where not all of its words are known: our `launch`. null: neither.
 */
export function startAgainOf(
  running: EngineProcess,
  program: readonly string[],
  target: { kind: string; name: string },
): string[] | null {
  const { argv, command, hermesHome, env } = running;
  const words = engineArguments(argv);
  const isWhole = [...program, ...words].every(
    (word) => !/\[(redacted|code)\]/.test(word) && word.length < 1000,
  );
  // Read from procfs, as the environment is: `ps` gives one text, in which a space says nothing.
  if (env.readable && hermesHome !== null && words.length > 0 && program[0]?.startsWith('/') && isWhole) {
    const settings: [string, string | null][] = [
      ['HERMES_HOME', homeGiven(hermesHome, argv)],
      ['HERMES_DASHBOARD_TUI', env.tui],
      ['HERMES_WEB_DIST', env.webDist],
    ];
    const given = settings.flatMap(([name, value]) => (value === null ? [] : [`${name}=${value}`]));
    return ['env', ...given, ...program, ...words];
  }
  return command === 'dashboard' ? ourCommand('launch', running, target) : null;
}

/** The entry point of its install; where that is not known, its own first words. */
async function programOf(
  host: Host,
  { argv, install: id }: EngineProcess,
  installs: readonly Install[],
): Promise<string[]> {
  const install = installs.find((each) => each.id === id);
  if (install !== undefined) return engineCommand(host, install);
  return argv.slice(0, argv.length - engineArguments(argv).length);
}

/** Its words name the profile: the home of that profile is found from the root home. */
const homeGiven = (home: string, argv: readonly string[]): string =>
  parseEngineArgv(argv).profile === null ? home : home.replace(/\/profiles\/[^/]+$/, '');

const isKept = ({ owner: { kind, name } }: EngineProcess): boolean =>
  name !== null && (kind === 'systemd' || kind === 'launchd' || kind === 'container');

const ownerWord = (running: EngineProcess | undefined): string =>
  running === undefined
    ? 'unknown'
    : `${running.owner.kind}${running.owner.name === null ? '' : ` ${running.owner.name}`}`;

/** Dashboards of these homes that `launch` started, with what it takes to start them again. */
export async function launchesOf(
  host: Host,
  root: string,
  processes: readonly EngineProcess[],
): Promise<NotedLaunch[]> {
  const found: NotedLaunch[] = [];
  for (const running of processes) {
    const record = await recordOf(host, root, running);
    if (record === null) continue;
    const { id, pid, startTicks, port, host: bind, home, install } = record;
    const { webDist } = running.env;
    const engineArgs = argumentsOf(running.argv);
    found.push({ id, pid, startTicks, port, host: bind, home, install, webDist, engineArgs });
  }
  return found;
}
