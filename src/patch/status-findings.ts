import { markerFile, sharedMarkerFile } from '../engine/compat-places.ts';
import type { Patch } from './catalogue.ts';
import type { OverlayState } from './overlay-files.ts';
import type { SourceReading } from './read-source.ts';
import type { MarkerEntry, StatusDocument } from './schema.ts';
import type { World } from './world.ts';

type PatchStatus = StatusDocument['patches'][number];
type StatusFinding = StatusDocument['findings'][number];

/** What is worth saying about one patch, beside its state. */
export function findingsOf(
  overlay: OverlayState,
  patch: Patch,
  status: PatchStatus,
  reading: SourceReading | null,
): StatusFinding[] {
  const path = status.files[0]?.path ?? null;
  const found = (code: string, severity: StatusFinding['severity'], text: string): StatusFinding => ({
    code,
    severity,
    text: `${patch.id}: ${text}`,
    path,
  });
  const list: StatusFinding[] = [];
  for (const each of reading?.ineffective ?? [])
    list.push(found('PATCH_INEFFECTIVE', 'warn', `${each.by}: ${each.why}`));
  if (status.state === 'applied-by-other') {
    const code = status.effective === 'no' ? 'PATCH_INEFFECTIVE' : 'PATCH_BY_OTHER';
    if (!list.some((each) => each.code === code))
      list.push(found(code, status.effective === 'no' ? 'warn' : 'info', status.reason));
  }
  if (status.state === 'modified') list.push(found('PATCH_MODIFIED', 'warn', status.reason));
  if (status.state === 'applied-older') list.push(found('PATCH_OLDER', 'warn', status.reason));
  if (status.state === 'not-needed' && status.carrier !== null)
    list.push(found('PATCH_NOT_NEEDED', 'info', status.reason));
  if (status.carrier === 'overlay' && status.effective === 'no')
    list.push(found('OVERLAY_NOT_LOADED', 'warn', status.reason));
  if (status.state === 'unknown' && reading !== null) {
    const conflict = status.reason.includes('conflict markers');
    list.push(
      found(conflict ? 'CONFLICT_MARKERS' : 'STRUCTURE_UNKNOWN', conflict ? 'warn' : 'error', status.reason),
    );
  }
  if (isWidened(overlay, patch, reading))
    list.push(found('CHAT_OPEN_TO_NETWORK', 'warn', 'it was applied with --allow-non-loopback'));
  return list;
}

/** Was the wider form of the patch applied? */
function isWidened(overlay: OverlayState, patch: Patch, reading: SourceReading | null): boolean {
  const carried = overlay.kind === 'ours' ? overlay.patches.find(({ id }) => id === patch.id) : undefined;
  if (carried?.options?.allow_non_loopback === true) return true;
  const state = reading?.state;
  return (
    patch.source.kind === 'assignment' &&
    state?.kind === 'ours' &&
    state.expression === patch.source.appendWhenAllowed
  );
}

/** Where a marker says something else than the bytes. */
export function markerFindings(world: World, patches: readonly PatchStatus[]): StatusFinding[] {
  const { markers, home } = world;
  const list: StatusFinding[] = [];
  const add = (code: string, text: string, path: string, patch?: string): void =>
    void list.push({
      code,
      severity: code === 'PATCH_NOT_NEEDED' ? 'info' : 'warn',
      text,
      path,
      ...(patch === undefined ? {} : { patch }),
    });
  const marker = markerFile(home.root);
  const shared = sharedMarkerFile(home.root);
  if (markers.oursProblem !== null)
    add('MARKER_CORRUPT', `our marker cannot be read: ${markers.oursProblem}`, marker);
  if (markers.shared.kind === 'corrupt')
    add('MARKER_CORRUPT', `the marker of Hermes One cannot be read: ${markers.shared.why}`, shared);
  for (const entry of markers.ours?.entries ?? []) {
    const why = disagreement(world, entry, patches);
    if (why !== null) add(why.code, why.text, marker, entry.patch);
  }
  const theirs = markers.shared;
  if (theirs.kind === 'theirs' && theirs.compatible === true) {
    const chat = patches.find(({ id }) => id === 'embedded-chat');
    if (chat !== undefined && chat.effective === 'no' && chat.state !== 'not-needed')
      add(
        'MARKER_MISMATCH',
        `Hermes One's marker (${theirs.version}) calls this engine compatible, its chat is still off`,
        shared,
      );
  }
  return list;
}

function disagreement(
  world: World,
  entry: MarkerEntry,
  patches: readonly PatchStatus[],
): { code: string; text: string } | null {
  const here =
    entry.carrier === 'overlay'
      ? entry.home === world.overlayHome
      : entry.install === (world.install?.id ?? null);
  if (!here) return null;
  const status = patches.find(({ id }) => id === entry.patch);
  if (status === undefined)
    return {
      code: 'MARKER_MISMATCH',
      text: `the marker names ${entry.patch}, which this version does not know`,
    };
  if (status.carrier === entry.carrier && status.state !== 'applied-by-other') {
    if (status.revision === entry.revision) return null;
    return {
      code: 'MARKER_MISMATCH',
      text: `the marker says revision ${entry.revision} of ${entry.patch}; there is ${status.revision ?? 'none'}`,
    };
  }
  const gone = `${entry.patch} was applied on ${entry.at} (${entry.carrier}) and is gone`;
  return {
    code: status.state === 'not-needed' ? 'PATCH_NOT_NEEDED' : 'PATCH_LOST',
    text: `${gone}: now ${status.state}, ${status.reason}`,
  };
}
