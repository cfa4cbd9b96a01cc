import type { HookKind, HookPlace } from './types.ts';
import { homeId, watchedPaths } from './watched-paths.ts';

/** A path unit that starts a oneshot service when files of the engine change. */
const systemd = (scope: 'user' | 'system'): HookKind => {
  const folder = ({ userHome }: HookPlace): string =>
    scope === 'user' ? `${userHome}/.config/systemd/user` : '/etc/systemd/system';
  const name = ({ home }: HookPlace): string => `hermes-compat-${homeId(home.root)}`;
  const control = async (place: HookPlace, words: readonly string[]): Promise<string | null> => {
    const { uid } = await place.host.identity();
    try {
      const { code, stderr } = await place.host.run(
        ['systemctl', ...(scope === 'user' ? ['--user'] : []), ...words],
        { env: { XDG_RUNTIME_DIR: `/run/user/${uid}` } },
      );
      return code === 0 ? null : stderr.toString('utf8').trim().split('\n')[0] || `exit ${code}`;
    } catch {
      return 'there is no systemctl';
    }
  };
  return {
    id: `systemd-${scope}`,
    does: 'a path unit runs the re-check when files of the engine change or a dashboard has started',
    limits:
      scope === 'user'
        ? 'a user manager ends with the last session unless lingering is on (loginctl enable-linger)'
        : 'needs root; it runs as the account that it was installed for',
    async problem(place) {
      const { uid } = await place.host.identity();
      if (scope === 'system' && uid !== 0) return 'system units need root';
      const answer = await control(place, ['show-environment']);
      return answer === null ? null : `systemd does not answer here (${answer})`;
    },
    files: async (place) => [
      { path: `${folder(place)}/${name(place)}.service`, text: serviceUnit(place), mode: 0o644 },
      { path: `${folder(place)}/${name(place)}.path`, text: pathUnit(place, scope), mode: 0o644 },
    ],
    async enable(place) {
      for (const words of [['daemon-reload'], ['enable', '--now', `${name(place)}.path`]]) {
        const said = await control(place, words);
        if (said !== null) throw new Error(`systemctl ${words.join(' ')}: ${said}`);
      }
      return { lines: null };
    },
    async disable(place) {
      await control(place, ['disable', '--now', `${name(place)}.path`]);
    },
    async linesState(place) {
      return (await control(place, ['is-enabled', `${name(place)}.path`])) === null ? 'installed' : 'gone';
    },
  };
};

export const systemdUser = systemd('user');
export const systemdSystem = systemd('system');

/** A word of ExecStart: quoted, and without the meaning of `%` and `$` (systemd.unit(5), systemd.service(5)). */
const word = (text: string): string =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%').replaceAll('$', '$$$$')}"`;

/** systemd takes no program whose name holds a quote or a backslash; a shell does. */
const runnable = (command: readonly string[]): readonly string[] =>
  /['"\\]/.test(command[0] ?? '') ? ['/bin/sh', '-c', 'exec "$0" "$@"', ...command] : command;

/** Of a path only specifiers mean something; the first character is no quote. */
const path = (text: string): string => text.replaceAll('%', '%%');

export const serviceUnit = ({ home, command }: HookPlace): string => `[Unit]
Description=Re-check of hermes-compat for ${path(home.root)}

[Service]
Type=oneshot
ExecStart=${runnable(command).map(word).join(' ')}
Nice=10
TimeoutStartSec=3600
`;

export const pathUnit = (place: HookPlace, scope: 'user' | 'system'): string => `[Unit]
Description=Files of Hermes Agent that hermes-compat watches for ${path(place.home.root)}

[Path]
${watchedPaths(place)
  .map((each) => `PathChanged=${path(each)}`)
  .join('\n')}

[Install]
WantedBy=${scope === 'user' ? 'default.target' : 'multi-user.target'}
`;
