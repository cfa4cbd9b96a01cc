import { type Gathered, linesOf, recordsOf } from './gather.ts';
import { numstatPaths, stashMessages } from './install-state.ts';
import type { RawInstall } from './raw-install.ts';
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
  const edited = edits === 'known' ? numstatPaths(linesOf(gathered, `dirty.${raw.index}`)) : null;
  const untracked = linesOf(gathered, `untracked.${raw.index}`);
  return {
    edited,
    git: {
      head: /^[0-9a-f]{40,64}$/.test(head) ? head : null,
      branch: branch === '' ? null : branch,
      dirty: [...(edited ?? []), ...untracked],
      stashes: stashMessages(linesOf(gathered, `stash.${raw.index}`)),
    },
  };
}
