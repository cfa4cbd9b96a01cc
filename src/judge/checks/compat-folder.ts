import type { Home } from '../../engine/schema.ts';
import { chatGate } from '../chat.ts';
import { field } from '../../probe/json.ts';
import type { Draft } from '../draft.ts';
import { draft } from '../draft.ts';
import type { Reading } from '../reading.ts';
import { compat, compatPatch, compatUpdate } from '../remedies/commands.ts';
import { overlay } from '../remedies/overlay.ts';
import { oneCommand, removePaths } from '../remedies/residue.ts';
import type { CheckDefinition } from './check.ts';
import { done, skip } from './check.ts';

/** Nobody updates longer than this; the engine takes its lock for dead then too. */
const updateMs = 20 * 60_000;

export const compatFolder: CheckDefinition = {
  id: 'compat-folder',
  summary: 'markers, locks and journal of earlier changes are in order, and no update is under way',
  run({ reading }) {
    const { home, install } = reading;
    if (home === null) return skip('no home was read');
    return done([
      ...home.markers.flatMap((marker) => markerDrafts(reading, marker)),
      ...(home.journalUnfinished
        ? [
            draft('JOURNAL_UNFINISHED', {
              args: { home: home.root },
              evidence: [`a journal lies open in ${home.root}/desktop-compat`],
              remedies: [oneCommand('finish-journal', compat(reading, 'doctor', ['--fix']))],
            }),
          ]
        : []),
      ...home.locks.map((lock) => lockDraft(reading, lock)),
      ...ourUpdate(reading, home),
      ...mixedVersions(reading, install?.residue?.mixedVersions ?? []),
    ]);
  },
};

type Marker = Home['markers'][number];

const corruptMarkers = ({ home }: Reading): string[] =>
  (home?.markers ?? []).filter((each) => each.state === 'corrupt').map((each) => each.path);

function markerDrafts(reading: Reading, marker: Marker): Draft[] {
  if (marker.state === 'corrupt')
    return [
      draft('MARKER_CORRUPT', {
        args: { path: marker.path },
        evidence: [`${marker.path} is no JSON object`],
        remedies: [removePaths('remove-marker', corruptMarkers(reading))],
      }),
    ];
  if (!claimsChat(marker) || chatGate(reading).state !== 'off') return [];
  return [
    draft('MARKER_MISMATCH', {
      args: { path: marker.path, claim: 'compatible: true' },
      evidence: [`${marker.path} says compatible: true`, ...chatGate(reading).evidence],
      remedies: [overlay(reading, 'embedded-chat')],
    }),
  ];
}

/** The marker that Hermes One reads: `{version, target, compatible, applied, path, checkedAt}`. */
function claimsChat(marker: Marker): boolean {
  try {
    const content: unknown = JSON.parse((marker.text ?? '').replace(/^\uFEFF/, ''));
    return field(content, 'compatible') === true;
  } catch {
    return false;
  }
}

function lockDraft(reading: Reading, lock: Home['locks'][number]): Draft {
  const age = lock.ageMs === null ? 'of unknown age' : `${Math.round(lock.ageMs / 1000)} s old`;
  const evidence = [`${lock.path}, ${age}, pid ${lock.pid ?? 'unknown'} ${aliveWords(lock.alive)}`];
  const args = { path: lock.path, pid: lock.pid, alive: lock.alive };
  if (lock.kind === 'ours')
    return draft('LOCK_HELD', {
      args,
      evidence,
      remedies: lock.alive === false ? [oneCommand('unlock', compatPatch(reading, 'unlock'))] : [],
    });
  const isLive = lock.alive ?? (lock.ageMs !== null && lock.ageMs < updateMs);
  if (isLive)
    return draft('UPDATE_IN_PROGRESS', {
      confidence: lock.alive === null ? 'likely' : 'certain',
      args,
      evidence,
    });
  return draft('UPDATE_INTERRUPTED', {
    confidence: lock.alive === null ? 'likely' : 'certain',
    args,
    evidence,
    remedies: [oneCommand('finish-update', compatUpdate(reading))],
  });
}

/** What our own update left in desktop-compat/update. */
function ourUpdate(reading: Reading, { root, update }: Home): Draft[] {
  if (update == null) return [];
  const { step, at, prepared, pid, alive, held } = update;
  const args = { path: `${root}/desktop-compat/update/state.json`, pid, alive, step, prepared, by: 'ours' };
  const began = `an update by hermes-compat of ${at ?? 'an unknown time'}`;
  if (held)
    return [
      draft('UPDATE_IN_PROGRESS', {
        confidence: alive === true ? 'certain' : 'likely',
        args,
        evidence: [`${began}, pid ${pid ?? 'unknown'} ${aliveWords(alive)}`],
      }),
    ];
  return [
    draft('UPDATE_INTERRUPTED', {
      args,
      evidence: [`${began} ${prepared ? 'waits for post-update' : 'was cut'} after the step "${step}"`],
      remedies: [
        prepared
          ? oneCommand('finish-prepared', compatUpdate(reading, 'post-update'))
          : oneCommand('finish-update', compatUpdate(reading)),
      ],
    }),
  ];
}

const aliveWords = (alive: boolean | null): string =>
  alive === null ? 'may be alive' : alive ? 'is alive' : 'is gone';

function mixedVersions(reading: Reading, claims: string[]): Draft[] {
  if (claims.length === 0) return [];
  return [
    draft('UPDATE_INTERRUPTED', {
      confidence: 'likely',
      args: { claims },
      evidence: claims.slice(0, 6).map((claim) => `version of ${claim}`),
      remedies: [oneCommand('finish-update', compatUpdate(reading))],
    }),
  ];
}
