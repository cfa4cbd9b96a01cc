import { type Gathered, linesOf, recordsOf } from './gather.ts';
import { numstatPaths, stashCommits, stashMessages, summaryPaths, unmergedStages } from './install-state.ts';
import { type RawInstall, unique } from './raw-install.ts';
import type { Install } from './schema.ts';

/** A git checkout: `edited` are its changed tracked files, null where git was not asked (another owner, no git). */
export interface Checkout {
  git: NonNullable<Install['git']>;
  edited: string[] | null;
}

export function checkoutOf(raw: RawInstall, gathered: Gathered): Checkout | null {
  const [fields] = recordsOf(gathered, 'git', raw.index);
  if (!fields) return null;
  const [head = '', branch = '', edits] = fields;
  const changes = linesOf(gathered, `dirty.${raw.index}`);
  const edited = edits === 'known' ? numstatPaths(changes) : null;
  const stages = [...unmergedStages(linesOf(gathered, `unmerged.${raw.index}`))];
  const only = (wanted: RegExp): string[] =>
    stages.flatMap(([path, found]) => (wanted.test(found) ? [path] : []));
  const stash = linesOf(gathered, `stash.${raw.index}`);
  const untracked = linesOf(gathered, `untracked.${raw.index}`);
  return {
    edited,
    git: {
      head: /^[0-9a-f]{40,64}$/.test(head) ? head : null,
      branch: branch === '' ? null : branch,
      dirty: [...(edited ?? []), ...untracked],
      stashes: stashMessages(stash),
      stashCommits: stashCommits(stash),
      added: unique([...summaryPaths(changes, 'create'), ...only(/^[^2]+$/)]),
      // Deleted on both sides: in the list of open merges and nowhere else.
      removed: unique([...summaryPaths(changes, 'delete'), ...only(/^1$/)]),
      unmerged: stages.map(([path]) => path),
    },
  };
}
