import type { Install } from '../../engine/schema.ts';
import type { Reading } from '../reading.ts';
import type { Remedy } from '../schema.ts';
import { momentOf, plainGit } from './set-aside.ts';

/** An entry is known by its commit: numbers move with every entry that comes or goes. */
const dropIfSaved =
  'cd "$0" && [ "$(git rev-parse "$1")" = "$(git rev-parse "$2")" ] && git stash drop "$1" || ' +
  '{ echo "$1 is not what was saved: run hermes-compat doctor again"; exit 1; }';

/**
 * Keeps each entry under a ref of ours, which holds its index and its untracked files too and is safe from `git gc`, and drops it.
 * Highest number first, because dropping one renumbers those after it.
 */
export function dropStashes(reading: Reading, install: Install, entries: readonly string[]): Remedy {
  const number = (entry: string): number => Number(/\d+/.exec(entry)?.[0] ?? 0);
  const sorted = [...new Set(entries)].sort((a, b) => number(b) - number(a));
  const commands = sorted.flatMap((entry) => {
    const commit = install.git?.stashCommits?.[number(entry)] ?? '';
    const name = commit === '' ? `${momentOf(reading)}-${number(entry)}` : commit.slice(0, 12);
    const ref = `refs/hermes-compat/set-aside/${name}`;
    return [
      // Facts of before commits were noted: an empty old value keeps a ref that is there.
      [...plainGit(install), 'update-ref', ref, ...(commit === '' ? [entry, ''] : [commit])],
      ['sh', '-c', dropIfSaved, install.root, entry, ref],
    ];
  });
  return {
    id: 'save-and-drop-stash',
    carrier: 'config',
    where: 'here',
    commands,
    restart: 'none',
    reversible: true,
  };
}
