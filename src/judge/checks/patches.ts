import type { Home, Install } from '../../engine/schema.ts';
import { codes } from '../codes.ts';
import { conflictsIn } from '../conflicts.ts';
import type { Draft } from '../draft.ts';
import { draft } from '../draft.ts';
import type { Reading } from '../reading.ts';
import { chatGate } from '../chat.ts';
import { applySourceAgain } from '../remedies/apply-again.ts';
import { compatPatch } from '../remedies/commands.ts';
import { recorded, type Recorded } from '../recorded.ts';
import { overlay } from '../remedies/overlay.ts';
import { oneCommand } from '../remedies/residue.ts';
import type { CheckDefinition } from './check.ts';
import { done, skip } from './check.ts';

/** What the markers claim against what the facts show; `patch status` knows more and is taken over where it was asked. */
export const patches: CheckDefinition = {
  id: 'patches',
  summary: 'patches that were applied are still there, and still needed',
  run({ reading, reach }, { capabilities }) {
    const { home, install } = reading;
    if (home === null || install === null) return skip('no install and home were read');
    // A dashboard that was asked for the library and lacks it: the check of the overlay says why, and what helps.
    const library = capabilities.find((each) => each.id === 'model-library');
    const overlayWasAsked = reach.state === 'reached' && library?.state === 'no';
    const own = [...lost(reading, home, install), ...byOther(home, install), ...notNeeded(home, install)];
    const asked = (reading.facts.patchFindings ?? []).filter(
      (each) =>
        codes.has(each.code) &&
        !own.some((found) => found.code === each.code) &&
        !isToldElsewhere(each.code, home, install) &&
        !(each.code === 'MARKER_MISMATCH' && each.patch === undefined && chatGate(reading).state === 'off') &&
        !(each.code === 'OVERLAY_NOT_LOADED' && overlayWasAsked),
    );
    return done([
      ...own,
      ...asked.map((each) =>
        draft(each.code, {
          severity: each.severity === 'error' ? 'warn' : each.severity,
          args: { path: each.path, text: each.text },
          evidence: [each.text],
          remedies: remediesFor(reading, each),
        }),
      ),
    ]);
  },
};

/** Other checks see these in the files themselves, and know what to do about them. */
const isToldElsewhere = (code: string, home: Home, install: Install): boolean =>
  (code === 'CONFLICT_MARKERS' && conflictsIn(install).length > 0) ||
  (code === 'MARKER_CORRUPT' && home.markers.some(({ state }) => state === 'corrupt'));

/** `patch apply` of what is in place writes no byte of it, and the marker anew. */
const remediesFor = (
  reading: Reading,
  { code, patch }: NonNullable<Reading['facts']['patchFindings']>[number],
): Draft['remedies'] =>
  code === 'MARKER_MISMATCH' && patch !== undefined
    ? [oneCommand('write-marker', compatPatch(reading, 'apply', [patch]))]
    : [];

/** Shown by the facts: the overlay carries it, or the source has it. */
function isThere({ patch, carrier }: Recorded, home: Home, install: Install): boolean {
  if (carrier === 'overlay') return home.overlay.present && home.overlay.carries.includes(patch);
  if (patch === 'model-library') return install.modelLibrary !== 'absent';
  return (
    patch !== 'embedded-chat' || install.chatAssignment !== 'from-parameter' || install.state !== 'pristine'
  );
}

function lost(reading: Reading, home: Home, install: Install): Draft[] {
  return recorded(home)
    .filter((entry) =>
      entry.carrier === 'overlay'
        ? [home.path, home.root].includes(entry.home)
        : entry.install === install.id,
    )
    .filter((entry) => !isThere(entry, home, install))
    .map((entry) =>
      draft('PATCH_LOST', {
        args: { patch: entry.patch, carrier: entry.carrier, install: install.root },
        evidence: [
          `the marker in ${home.root}/desktop-compat names ${entry.patch} (${entry.carrier}), and it is not there`,
        ],
        remedies: [
          entry.carrier === 'source' ? applySourceAgain(reading, entry.patch) : overlay(reading, entry.patch),
        ],
      }),
    );
}

function byOther(home: Home, install: Install): Draft[] {
  const isOurs = recorded(home).some(
    (entry) => entry.carrier === 'source' && entry.patch === 'model-library',
  );
  if (install.modelLibrary !== 'present' || isOurs) return [];
  return [
    draft('PATCH_BY_OTHER', {
      severity: 'info',
      args: { patch: 'model-library', by: 'another tool, such as Hermes One' },
      evidence: [
        `the source in ${install.packageDir} has /api/model/library, and our marker does not name it`,
      ],
    }),
  ];
}

function notNeeded(home: Home, install: Install): Draft[] {
  const carries = home.overlay.present && home.overlay.carries.includes('embedded-chat');
  if (!carries || (install.generation !== 'G1' && install.generation !== 'G2')) return [];
  return [
    draft('PATCH_NOT_NEEDED', {
      args: { patch: 'embedded-chat' },
      evidence: [`${install.version ?? install.root} (${install.generation}) has the chat always on`],
    }),
  ];
}
