import type { Install } from '../../engine/schema.ts';
import type { Reading } from '../reading.ts';
import type { Remedy } from '../schema.ts';

/** Commands that take away what updates leave behind. What a person may still want is saved first, never deleted. */

const remedy = (
  id: string,
  commands: string[][],
  reversible: boolean,
  restart: Remedy['restart'] = 'none',
): Remedy => ({
  id,
  carrier: 'config',
  where: 'here',
  commands,
  restart,
  reversible,
});

/** On a terminal `git diff` would open a pager, with nothing in it, even where its output goes to a file. */
const plainGit = (install: Install): string[] => ['git', '--no-pager', '-C', install.root];

const absolute = (install: Install, files: readonly string[]): string[] =>
  files.map((file) => (file.startsWith('/') ? file : `${install.root}/${file}`));

/** Outside every checkout, so that no updater sweeps it up. */
const keep = (reading: Reading): string => `${reading.home?.root ?? '~/.hermes'}/desktop-compat/set-aside`;

export const inOrder = (id: string, commands: string[][]): Remedy => remedy(id, commands, true);

export const oneCommand = (id: string, argv: string[]): Remedy => remedy(id, [argv], true);

export const removePaths = (id: string, paths: string[]): Remedy =>
  remedy(id, [['rm', '--', ...paths]], false);

export const removeFiles = (_reading: Reading, install: Install, files: readonly string[]): Remedy =>
  remedy('remove-bytecode', [['rm', '--', ...absolute(install, files)]], true, 'dashboard');

export const moveAway = (reading: Reading, install: Install, files: readonly string[]): Remedy =>
  remedy(
    'move-backups',
    [
      ['mkdir', '-p', keep(reading)],
      ['mv', '-n', '--', ...absolute(install, files), keep(reading)],
    ],
    true,
  );

/** The engine's own version of files that a merge left half done; the half-done text is in the set-aside diff. */
export function checkOut(reading: Reading, install: Install, files: readonly string[]): Remedy {
  if (install.git === null) return remedy('reinstall', [['hermes-compat', 'update']], false, 'dashboard');
  return setAside(reading, install, files, 'check-out');
}

/** Tracked files go back to the engine's version after their difference was saved; untracked ones are moved. */
export function setAside(
  reading: Reading,
  install: Install,
  files: readonly string[],
  id = 'set-aside',
): Remedy {
  const folder = keep(reading);
  const tracked = files.filter((file) => install.editedFiles.includes(file) || id === 'check-out');
  const untracked = files.filter((file) => !tracked.includes(file));
  const git = plainGit(install);
  return remedy(
    id,
    [
      ['mkdir', '-p', folder],
      ...(tracked.length === 0
        ? []
        : [
            [...git, 'diff', '--binary', `--output=${folder}/${id}.diff`, 'HEAD', '--', ...tracked],
            [...git, 'checkout', 'HEAD', '--', ...tracked],
          ]),
      ...(untracked.length === 0 ? [] : [['mv', '-n', '--', ...absolute(install, untracked), folder]]),
    ],
    true,
    'dashboard',
  );
}

/** Highest entry first, because dropping one renumbers those after it. */
export function dropStashes(reading: Reading, install: Install, entries: readonly string[]): Remedy {
  const number = (entry: string): number => Number(/\d+/.exec(entry)?.[0] ?? 0);
  const sorted = [...new Set(entries)].sort((a, b) => number(b) - number(a));
  return remedy(
    'save-and-drop-stash',
    [
      ['mkdir', '-p', keep(reading)],
      ...sorted.flatMap((entry) => [
        [
          ...plainGit(install),
          'diff',
          '--binary',
          `--output=${keep(reading)}/stash-${number(entry)}.diff`,
          `${entry}^1`,
          entry,
        ],
        [...plainGit(install), 'stash', 'drop', entry],
      ]),
    ],
    true,
  );
}
