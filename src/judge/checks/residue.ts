import type { Install } from '../../engine/schema.ts';
import { conflictsIn } from '../conflicts.ts';
import type { Draft } from '../draft.ts';
import { draft } from '../draft.ts';
import type { Reading } from '../reading.ts';
import { removeFiles } from '../remedies/residue.ts';
import { checkOut, moveAway } from '../remedies/set-aside.ts';
import { dropStashes } from '../remedies/stashes.ts';
import { overlay } from '../remedies/overlay.ts';
import type { CheckDefinition } from './check.ts';
import { done, skip } from './check.ts';

export const residue: CheckDefinition = {
  id: 'residue',
  summary: 'updates left nothing behind: conflict markers, stale bytecode, backups, stashes',
  run({ reading }) {
    const { install } = reading;
    if (install === null) return skip('no install was found');
    return done([...files(reading, install), ...stashes(reading, install)]);
  },
};

const shown = (install: Install, names: readonly string[], said: string): string[] =>
  names.slice(0, 6).map((name) => `${install.root}/${name} ${said}`);

function conflicts(reading: Reading, install: Install): Draft[] {
  const files = conflictsIn(install);
  if (files.length === 0) return [];
  const marked = install.residue?.conflictMarkers ?? [];
  const others = files.filter((file) => !marked.includes(file));
  return [
    draft('CONFLICT_MARKERS', {
      args: { files, install: install.root, marked: marked.length, unmerged: install.git?.unmerged ?? [] },
      evidence: [
        ...shown(install, marked, 'has merge conflict markers'),
        ...shown(install, others, 'is not merged, as git says'),
      ],
      remedies: [checkOut(reading, install, files)],
    }),
  ];
}

function files(reading: Reading, install: Install): Draft[] {
  const { staleBytecode = [], backups = [] } = install.residue ?? {};
  const found = (code: string, names: string[], remedies: Draft['remedies'], said: string): Draft[] =>
    names.length === 0
      ? []
      : [
          draft(code, {
            args: { files: names, install: install.root },
            evidence: shown(install, names, said),
            remedies,
          }),
        ];
  return [
    ...conflicts(reading, install),
    ...found(
      'STALE_BYTECODE',
      staleBytecode,
      [removeFiles(install, staleBytecode)],
      'would run instead of its source',
    ),
    ...found('BACKUP_LEFTOVER', backups, [moveAway(reading, install, backups)], 'is a backup copy'),
  ];
}

/** `stash@{1}: On main: hermes-update-autostash-…`, newest first. */
function stashes(reading: Reading, install: Install): Draft[] {
  const parked = install.residue?.parked ?? [];
  const parkedEntries = new Set(parked.map(entryOf));
  const left = (install.git?.stashes ?? []).filter(
    (text, index) =>
      /hermes-update-autostash/.test(text) && !parkedEntries.has(entryOf(text) ?? `stash@{${index}}`),
  );
  const entries = [...parked, ...left].map(
    (text) => entryOf(text) ?? `stash@{${(install.git?.stashes ?? []).indexOf(text)}}`,
  );
  // One remedy for all of them: dropping one renumbers the rest.
  const drop = entries.length === 0 ? [] : [dropStashes(reading, install, entries)];
  return [
    ...parked.map((text) =>
      draft('PATCH_PARKED_IN_STASH', {
        args: { stash: text, install: install.root },
        evidence: [`git stash list has ${text}`],
        remedies: [overlay(reading, 'model-library'), ...drop],
      }),
    ),
    ...(left.length === 0
      ? []
      : [
          draft('STASH_LEFTOVER', {
            args: { count: left.length, stashes: left, install: install.root },
            evidence: left.slice(0, 4).map((text) => `git stash list has ${text}`),
            remedies: drop,
          }),
        ]),
  ];
}

const entryOf = (text: string): string | undefined => /stash@\{\d+\}/.exec(text)?.[0];
