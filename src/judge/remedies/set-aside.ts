import type { Install } from '../../engine/schema.ts';
import type { Reading } from '../reading.ts';
import type { Remedy } from '../schema.ts';

/**
 * Commands that take files out of an engine's tree and keep them whole. Each may be typed twice, and after a new edit: none
 * writes over what is there.
 */

/** Outside every checkout, so that no updater sweeps it up. */
const keep = ({ home, facts }: Reading): string =>
  `${home?.root ?? facts.host?.home?.root ?? '~/.hermes'}/desktop-compat/set-aside`;

/** `20261201-050505-123` of the facts' own time: what a later check saves meets no name of this one. */
export function momentOf({ facts }: Reading): string {
  const digits = facts.takenAt.replaceAll(/\D/g, '').slice(0, 17);
  return [digits.slice(0, 8), digits.slice(8, 14), digits.slice(14)].filter(Boolean).join('-') || 'undated';
}

/** Where one piece of advice of this check keeps what it takes away. */
const folderOf = (reading: Reading, id: string): string => `${keep(reading)}/${momentOf(reading)}/${id}`;

/** On a terminal `git diff` would open a pager, with nothing in it, even where its output goes to a file. */
export const plainGit = (install: Install): string[] => ['git', '--no-pager', '-C', install.root];

const parentOf = (file: string): string => file.slice(0, Math.max(file.lastIndexOf('/'), 0));

/** Moves files of the tree, by their paths below it, so that two of one name stay apart. */
function moveTo(folder: string, install: Install, files: readonly string[]): string[][] {
  const byParent = new Map<string, string[]>();
  for (const file of files.map((name) => name.replace(/\/$/, '')))
    byParent.set(parentOf(file), [...(byParent.get(parentOf(file)) ?? []), file]);
  const moves = [...byParent].map(([parent, names]) => ({
    into: parent === '' ? folder : `${folder}/${parent}`,
    from: names.map((name) => `${install.root}/${name}`),
  }));
  return [
    ['mkdir', '-p', ...(moves.length === 0 ? [folder] : moves.map(({ into }) => into))],
    ...moves.map(({ into, from }) => ['mv', '-n', '--', ...from, into]),
  ];
}

/** The difference is made from what was moved, and only a missing file is checked out: so both can be done again. */
function backToEngine(
  folder: string,
  install: Install,
  tracked: readonly string[],
  added: ReadonlySet<string>,
): string[][] {
  if (tracked.length === 0) return [];
  const git = plainGit(install);
  const known = tracked.filter((file) => !added.has(file));
  return [
    [...git, 'reset', '-q', 'HEAD', '--', ...tracked],
    ...(known.length === 0
      ? []
      : [
          [
            ...git,
            `--work-tree=${folder}`,
            'diff',
            '--binary',
            `--output=${folder}.diff`,
            'HEAD',
            '--',
            ...known,
          ],
          [...git, 'checkout-index', '-q', '-u', '--', ...known],
        ]),
  ];
}

const reversible = (id: string, commands: string[][], restart: Remedy['restart']): Remedy => ({
  id,
  carrier: 'config',
  where: 'here',
  commands,
  restart,
  reversible: true,
});

export const moveAway = (reading: Reading, install: Install, files: readonly string[]): Remedy =>
  reversible('move-backups', moveTo(folderOf(reading, 'move-backups'), install, files), 'none');

/** Every file is moved away; the engine's version of those that it has comes back. */
function away(reading: Reading, install: Install, files: readonly string[], id: string): Remedy {
  const folder = folderOf(reading, id);
  const { added = [], removed = [], unmerged = [] } = install.git ?? {};
  const gone = new Set(removed);
  const known = new Set([...install.editedFiles, ...unmerged, ...(id === 'check-out' ? files : [])]);
  return reversible(
    id,
    [
      ...moveTo(
        folder,
        install,
        files.filter((file) => !gone.has(file)),
      ),
      ...backToEngine(
        folder,
        install,
        files.filter((file) => known.has(file)),
        new Set(added),
      ),
    ],
    'dashboard',
  );
}

/** Files that somebody changed or added. */
export const setAside = (reading: Reading, install: Install, files: readonly string[]): Remedy =>
  away(reading, install, files, 'set-aside');

/** Files that a merge left half done. */
export function checkOut(reading: Reading, install: Install, files: readonly string[]): Remedy {
  if (install.git === null)
    return { ...reversible('reinstall', [['hermes-compat', 'update']], 'dashboard'), reversible: false };
  return away(reading, install, files, 'check-out');
}
