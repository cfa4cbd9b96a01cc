import { launchFolder } from '../engine/compat-places.ts';
import type { LaunchHome, LaunchInstall, LaunchOptions } from './plan.ts';
import { planLaunch } from './plan.ts';

/** Quotes one word for a POSIX shell. */
type Quote = (argv: readonly string[]) => string;

/**
 * The same start as lines for a POSIX shell, for people who run their own service. The token stays in its file: the first line
 * makes one where there is none, the command reads it.
 *
 * @throws CompatError usage, refused
 */
export function printLaunch(
  install: LaunchInstall,
  home: LaunchHome,
  options: LaunchOptions,
  quote: Quote,
): { lines: string[]; tokenFile: string | null } {
  // What the user's shell has, it has when the lines are run.
  const plan = planLaunch(install, home, { ...options, env: {} });
  const port = plan.ports[0] === 0 ? 9119 : plan.ports[0];
  const folder = launchFolder(home.root);
  const tokenFile = plan.takesToken ? `${folder}/printed.token` : null;
  const settings = Object.entries(plan.env).map(([name, value]) => `${name}=${quote([value])}`);
  if (tokenFile === null) return { lines: [command(settings)], tokenFile };
  settings.push(`HERMES_DASHBOARD_SESSION_TOKEN="$(cat ${quote([tokenFile])})"`);
  const make = quote([
    install.interpreter?.path ?? 'python3',
    '-c',
    'import secrets; print(secrets.token_urlsafe(32))',
  ]);
  const file = quote([tokenFile]);
  return {
    lines: [
      `test -s ${file} || (umask 077 && mkdir -p ${quote([folder])} && ${make} > ${file})`,
      command(settings),
    ],
    tokenFile,
  };

  function command(env: readonly string[]): string {
    return [...env, quote([...plan.argv, '--port', String(port)])].join(' ');
  }
}
