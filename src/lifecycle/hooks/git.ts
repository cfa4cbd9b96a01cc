import { CompatError } from '../../errors.ts';
import { quote, quoteAll } from '../../host/quote.ts';
import type { Host } from '../../host/types.ts';
import { dirname, join } from '../../patch/world.ts';
import { filesOnly, type HookKind, type HookPlace } from './types.ts';

/** Of a checkout: runs after `git pull` and `git merge`. */
export const git: HookKind = {
  id: 'git',
  does: 'runs the re-check after git pull and git merge in the checkout',
  limits:
    'git reset --hard calls no hook, and neither does the updater of 0.22 and newer; up to 0.21 it fires before the updater has put local edits back, so the re-check waits for the updater',
  async problem(place) {
    if (place.install === null || place.install.git === null) return 'the install is no git checkout';
    const folder = await hooksFolder(place);
    if (folder === null) return 'git does not say where its hooks are';
    const own = (await gitLine(place.host, place.install.root, ['--absolute-git-dir'])) ?? '';
    if (!folder.startsWith(`${own}/`))
      return `core.hooksPath is ${folder}, which others share: add this there yourself: ${quoteAll(place.command)}`;
    return null;
  },
  async files(place) {
    const folder = await hooksFolder(place);
    if (folder === null) return [];
    const path = `${folder}/post-merge`;
    return [{ path, text: postMerge(place.command, movedName(path)), mode: 0o755 }];
  },
  ...filesOnly,
  async linesState({ host }, { files }) {
    const folder = dirname(files[0]?.path ?? '/');
    const now = await hooksOf(host, dirname(folder));
    return now === null || now === folder || (await isSameFolder(host, now, folder)) ? 'installed' : 'gone';
  },
};

/** A hook of somebody else keeps its bytes and its mode under this name, and is called first. */
export const movedName = (path: string): string => `${path}.before-hermes-compat`;

export const postMerge = (command: readonly string[], before: string): string => `#!/bin/sh
# Made by hermes-compat hook install git; hermes-compat hook remove git puts back what was here.
hc_before=${quote(before)}
hc_code=0
if [ -x "$hc_before" ]; then "$hc_before" "$@"; hc_code=$?; fi
# git is not done yet: the re-check begins when it is.
(
  hc_left=1200
  while kill -0 "$PPID" 2>/dev/null && [ "$hc_left" -gt 0 ]; do sleep 1; hc_left=$((hc_left - 1)); done
  exec ${quoteAll(command)}
) </dev/null >/dev/null 2>&1 &
exit "$hc_code"
`;

const hooksFolder = async ({ host, install }: HookPlace): Promise<string | null> =>
  install === null ? null : hooksOf(host, install.root);

/** Where git looks for hooks, asked in a folder of the repository; null where it does not say. */
async function hooksOf(host: Host, folder: string): Promise<string | null> {
  const path = await gitLine(host, folder, ['--git-path', 'hooks']);
  return path === null || path.startsWith('/') ? path : join(folder, path);
}

async function isSameFolder(host: Host, one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => host.realpath(path).catch(() => path)));
  return a === b;
}

async function gitLine(host: Host, folder: string, words: readonly string[]): Promise<string | null> {
  try {
    const { code, stdout } = await host.run(['git', '-C', folder, 'rev-parse', ...words]);
    return code === 0 ? stdout.toString('utf8').trim() : null;
  } catch (error) {
    if (error instanceof CompatError) throw error;
    return null;
  }
}
