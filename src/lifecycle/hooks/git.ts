import { quote, quoteAll } from '../../host/quote.ts';
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
    const own = (await gitLine(place, ['--absolute-git-dir'])) ?? '';
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

async function hooksFolder(place: HookPlace): Promise<string | null> {
  const path = await gitLine(place, ['--git-path', 'hooks']);
  if (path === null || place.install === null) return null;
  return path.startsWith('/') ? path : `${place.install.root}/${path}`;
}

async function gitLine({ host, install }: HookPlace, words: readonly string[]): Promise<string | null> {
  const { code, stdout } = await host.run(['git', '-C', install?.root ?? '/', 'rev-parse', ...words]);
  return code === 0 ? stdout.toString('utf8').trim() : null;
}
