import type { Home, Install } from '../engine/schema.ts';
import { CompatError, usageError } from '../errors.ts';

/** What a start needs to know of an install. */
export type LaunchInstall = Pick<
  Install,
  'id' | 'root' | 'packageDir' | 'version' | 'generation' | 'interpreter' | 'commands' | 'method'
>;
/** What a start needs to know of a home. */
export type LaunchHome = Pick<Home, 'path' | 'root' | 'profile' | 'envFile'>;

export interface LaunchOptions {
  /** null: 9119 when it is free, else any free one. 0: any free one. */
  port: number | null;
  /** Address that the dashboard binds. */
  host: string;
  /** Sets HERMES_WEB_DIST. */
  webDist: string | null;
  /** Further arguments of the engine, as typed behind `--`. */
  engineArgs: readonly string[];
  /** Environment that the engine gets besides ours: the user's own on this machine, nothing over ssh. */
  env: Record<string, string>;
  /** Until it must answer. A first start compiles all modules: 6–21 s, more on a busy machine. */
  seconds: number;
}

/** A dashboard start as data. The port is chosen on the host, at the last moment, and appended to `argv`. */
export interface LaunchPlan {
  argv: string[];
  /** Without the session token: it is added when the engine is started. */
  env: Record<string, string>;
  /** Inherited variables with these prefixes do not reach the engine. */
  unset: string[];
  host: string;
  /** Address to reach it at from its own machine. */
  connectTo: string;
  /** To be tried in this order; 0 is any free one. */
  ports: number[];
  /** This version takes its session token from the environment (0.16 and newer). */
  takesToken: boolean;
}

/** Addresses that the engine counts as loopback; 127.0.0.2 is public to it. */
export const isLoopback = (host: string): boolean => ['127.0.0.1', 'localhost', '::1'].includes(host);

/** Set by us, or made for a process that Hermes Desktop owns and ends. */
const notInherited = [
  'HERMES_HOME',
  'HERMES_DASHBOARD_TUI',
  'HERMES_DASHBOARD_SESSION_TOKEN',
  'HERMES_PARENT_',
  'HERMES_DESKTOP',
  'HERMES_SERVE_HEADLESS',
  'HERMES_COMPAT_',
];

/**
 * The right start for this version: settings go by the environment, because flags come and go between releases.
 *
 * @throws CompatError usage (an argument that is ours to give), refused (chat of 0.12–0.15 open to the network)
 */
export function planLaunch(install: LaunchInstall, home: LaunchHome, options: LaunchOptions): LaunchPlan {
  refuseArguments(options.engineArgs);
  const old = install.generation === 'G0';
  const loopback = isLoopback(options.host);
  if (old && !loopback) refuseOpenChat(home, options);
  const inherited = Object.entries(options.env).filter(
    ([name]) => !notInherited.some((prefix) => name.startsWith(prefix)),
  );
  return {
    argv: [
      ...engineCommand(install),
      'dashboard',
      '--no-open',
      '--host',
      options.host,
      ...options.engineArgs,
    ],
    env: {
      ...Object.fromEntries(inherited),
      HERMES_HOME: home.path,
      // Newer ones do not read it; where the generation is unknown it can only help.
      ...(loopback && (old || install.generation === null) ? { HERMES_DASHBOARD_TUI: '1' } : {}),
      ...(options.webDist === null ? {} : { HERMES_WEB_DIST: options.webDist }),
    },
    unset: notInherited,
    host: options.host,
    connectTo: reachableAddress(options.host),
    ports: options.port === null ? [9119, 0] : [options.port],
    takesToken: !old,
  };
}

const reachableAddress = (host: string): string =>
  host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;

/**
 * The script beside the interpreter is what people run, so other tools recognise the process. A wrapper elsewhere may add a
 * profile, so only Nix's, which sets up the environment, is used. `-P`: modules never come from the working directory.
 */
function engineCommand(install: LaunchInstall): string[] {
  const { interpreter, commands } = install;
  const folder =
    interpreter === null ? null : interpreter.path.slice(0, interpreter.path.lastIndexOf('/') + 1);
  const own = commands.find(
    (path) => folder !== null && path.startsWith(folder) && !path.slice(folder.length).includes('/'),
  );
  const script = own ?? (install.method === 'nix' || interpreter === null ? commands[0] : undefined);
  if (script !== undefined) return [script];
  if (interpreter !== null) return [interpreter.path, '-P', '-m', 'hermes_cli.main'];
  throw new CompatError('unchecked', `${install.root} has no Python and no command to start it with`, {
    finding: 'ENGINE_DIED',
    args: { install: install.id },
  });
}

const ours: Record<string, string> = {
  '--port': 'give --port to launch itself',
  '--host': 'give --host to launch itself',
  '--stop': "the engine's --stop ends every dashboard of this machine; use `hermes-compat stop`",
  '--status': 'use `hermes-compat detect`',
};

function refuseArguments(args: readonly string[]): void {
  for (const word of args) {
    // The engine's parser also takes unique beginnings.
    const name = Object.keys(ours).find(
      (flag) => word.startsWith('--') && word.length > 3 && flag.startsWith(word.split('=')[0] ?? ''),
    );
    if (name !== undefined) throw usageError(`${word} behind "--": ${ours[name]}`);
  }
}

/** With chat on, 0.12–0.15 give every peer that reaches them a terminal without login (facts: measured on 0.14.0). */
function refuseOpenChat(home: LaunchHome, options: LaunchOptions): void {
  const flag = options.engineArgs.some((word) => word.length > 2 && '--tui'.startsWith(word));
  if (!flag && home.envFile.tui !== '1') return;
  throw new CompatError(
    'refused',
    `this release would give everyone who reaches ${options.host} a terminal without login: ` +
      `${flag ? '--tui' : `HERMES_DASHBOARD_TUI=1 in ${home.path}/.env`} turns chat on. Bind 127.0.0.1 and use a tunnel, or update to 0.16 or newer`,
    { finding: 'CHAT_OPEN_TO_NETWORK', args: { host: options.host } },
  );
}
