import type { EngineCommand } from './argv.ts';
import type { Home, Install } from './schema.ts';

/** Root of a home (`get_default_hermes_root`, `hermes_constants.py`): the default one if below it, the grandparent of a profile, else itself. */
export function rootOf(home: string, defaultHome: string): string {
  if (home === defaultHome || home.startsWith(`${defaultHome}/`)) return defaultHome;
  return /^(.+)\/profiles\/[^/]+$/.exec(home)?.[1] ?? home;
}

/** Name of the profile whose folder a home is, or null. */
const profileOf = (home: string, root: string): string | null =>
  home.startsWith(`${root}/profiles/`) && !home.slice(root.length + 10).includes('/')
    ? home.slice(root.length + 10)
    : null;

const profileHome = (root: string, name: string): string =>
  name === 'default' ? root : `${root}/profiles/${name}`;

/**
 * The home that a dashboard started now would use. An asked profile wins, then a HERMES_HOME that is a profile's folder,
 * then `active_profile` of the root, even where HERMES_HOME names the root (`_apply_profile_override`, `hermes_cli/main.py`).
 * From 0.17 on a named profile only preselects: the dashboard serves from the root home.
 */
export function effectiveHome(asked: {
  home: string;
  defaultHome: string;
  from: Home['from'];
  /** `--profile`. */
  profile: string | null;
  /** Content of `active_profile` in the root home. */
  sticky: string | null;
  serves: Install['profileServesFrom'];
}): Pick<Home, 'path' | 'root' | 'profile' | 'from'> {
  const root = rootOf(asked.home, asked.defaultHome);
  const own = profileOf(asked.home, root);
  const sticky = asked.sticky === null || asked.sticky === 'default' ? null : asked.sticky;
  const name = asked.profile ?? own ?? sticky;
  const from =
    asked.profile !== null ? 'flag' : own === null && sticky !== null ? 'active-profile' : asked.from;
  const named = name === null || name === 'default' ? null : name;
  const path = name === null ? asked.home : asked.serves === 'root' ? root : profileHome(root, name);
  return { path, root, profile: named, from };
}

/**
 * The home of a running process from the HERMES_HOME of its environment (or its user's default) and its command line.
 * A process of 0.17 or later that serves a profile was started anew with the root in its environment, so that the
 * environment tells the truth; only older and isolated ones follow `active_profile`.
 */
export function processHome(signs: {
  home: string;
  defaultHome: string;
  command: EngineCommand;
  serves: Install['profileServesFrom'];
  sticky: (root: string) => string | null;
}): string {
  const { home, command } = signs;
  const root = rootOf(home, signs.defaultHome);
  if (command.profile !== null) return profileHome(root, command.profile);
  if (profileOf(home, root) !== null) return home;
  const sticky = signs.serves === 'root' && !command.isolated ? null : signs.sticky(root);
  return sticky === null ? home : profileHome(root, sticky);
}
