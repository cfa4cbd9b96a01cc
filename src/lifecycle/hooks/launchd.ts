import type { HookKind, HookPlace } from './types.ts';
import { homeId, watchedPaths } from './watched-paths.ts';

const label = ({ home }: HookPlace): string => `hermes-compat.${homeId(home.root)}`;
const file = (place: HookPlace): string => `${place.userHome}/Library/LaunchAgents/${label(place)}.plist`;

/** macOS: an agent with WatchPaths. */
export const launchd: HookKind = {
  id: 'launchd',
  does: 'an agent runs the re-check when files of the engine change or a dashboard has started',
  limits: 'it runs only while the account is logged in',
  async problem({ host }) {
    return (await host.identity()).os === 'darwin' ? null : 'launchd is a part of macOS';
  },
  files: async (place) => [{ path: file(place), text: plist(place), mode: 0o644 }],
  async enable(place) {
    const { uid } = await place.host.identity();
    const { code, stderr } = await place.host.run(['launchctl', 'bootstrap', `gui/${uid}`, file(place)]);
    if (code !== 0) throw new Error(`launchctl bootstrap: ${stderr.toString('utf8').trim()}`);
    return { lines: null };
  },
  async disable(place) {
    const { uid } = await place.host.identity();
    await place.host.run(['launchctl', 'bootout', `gui/${uid}/${label(place)}`]);
  },
  async linesState(place) {
    const { uid } = await place.host.identity();
    const { code } = await place.host.run(['launchctl', 'print', `gui/${uid}/${label(place)}`]);
    return code === 0 ? 'installed' : 'gone';
  },
};

const string = (text: string): string =>
  `<string>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</string>`;

export const plist = (place: HookPlace): string => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  ${string(label(place))}
  <key>ProgramArguments</key>
  <array>
    ${place.command.map(string).join('\n    ')}
  </array>
  <key>WatchPaths</key>
  <array>
    ${watchedPaths(place).map(string).join('\n    ')}
  </array>
  <key>ProcessType</key>
  <string>Background</string>
</dict>
</plist>
`;
