import { documentHead } from '../tool.ts';
import { engineBarrier } from './barriers.ts';
import type { Catalogue, Patch } from './catalogue.ts';
import { type ConfigFacts, configFacts } from './config-facts.ts';
import { newDraft } from './draft.ts';
import { type EngineNeeds, engineNeeds, treeOf } from './engine-needs.ts';
import { type OverlayState, pluginName, readOverlay } from './overlay-files.ts';
import { overlayFile } from './plan-overlay.ts';
import { moduleProblem, treeFile } from './plan-source.ts';
import { readSource, type SourceReading } from './read-source.ts';
import type { StatusDocument } from './schema.ts';
import { findingsOf, markerFindings } from './status-findings.ts';
import { decode, sha256 } from './text.ts';
import type { FileState, World } from './world.ts';

type PatchStatus = StatusDocument['patches'][number];

/** What is there, decided by bytes. Markers are compared afterwards; where they disagree, that is a finding. */
export async function statusOf(world: World, catalogue: Catalogue): Promise<StatusDocument> {
  const tree = treeOf(world, null);
  const needs = await engineNeeds(catalogue, tree);
  const overlay = readOverlay(catalogue, bytesByName(world));
  const text = world.config.bytes === null ? null : decode(world.config.bytes);
  const config = await configFacts(text, world.config.bytes !== null);
  const view = { world, catalogue, needs, overlay, config };
  const patches: PatchStatus[] = [];
  const findings: StatusDocument['findings'] = [];
  for (const patch of catalogue.patches) {
    const reading = world.install === null ? null : await readSource(patch, tree);
    const status = patchStatus(view, patch, reading);
    patches.push(status);
    findings.push(...findingsOf(overlay, patch, status, reading));
  }
  findings.push(...markerFindings(world, patches));
  return {
    ...documentHead('status'),
    target: world.target,
    install: world.install?.id ?? null,
    home: world.home.path,
    patches,
    findings,
  };
}

interface View {
  world: World;
  catalogue: Catalogue;
  needs: EngineNeeds;
  overlay: OverlayState;
  config: ConfigFacts;
}

const bytesByName = (world: World): Map<string, Buffer> =>
  new Map(
    [...world.overlay].flatMap(([name, { bytes }]) => (bytes === null ? [] : [[name, bytes] as const])),
  );

function patchStatus(view: View, patch: Patch, reading: SourceReading | null): PatchStatus {
  const base = { id: patch.id, revision: patch.revision, files: [] as PatchStatus['files'] };
  const state = reading?.state ?? null;
  const carried =
    view.overlay.kind === 'ours' ? view.overlay.patches.find(({ id }) => id === patch.id) : undefined;
  if (state?.kind === 'ours') return sourceStatus(view, patch, reading as SourceReading, state);
  if (carried !== undefined)
    return overlayStatus(view, patch, carried.revision, state?.kind === 'retired' ? state.why : null);
  if (state === null) {
    const barrier = engineBarrier(view.world);
    return {
      ...base,
      state: 'unknown',
      reason: barrier?.reason ?? 'no install',
      carrier: null,
      effective: 'unknown',
    };
  }
  switch (state.kind) {
    case 'retired':
      return { ...base, state: 'not-needed', reason: state.why, carrier: null, effective: 'unknown' };
    case 'other': {
      const effective = state.effective ? 'yes' : 'no';
      return {
        ...base,
        state: 'applied-by-other',
        reason: `${state.by}: ${state.why}`,
        carrier: 'source',
        effective,
        files: filesOf([treeFile(view.world, patch.source.file)]),
      };
    }
    case 'unknown':
      return {
        ...base,
        state: 'unknown',
        reason: `looked for ${state.lookedFor}; found ${state.found}`,
        carrier: null,
        effective: 'unknown',
      };
    case 'absent':
      return absentStatus(view, patch, reading as SourceReading);
    default:
      return state satisfies never;
  }
}

/** Nothing of ours; another's edit may be there that has no effect, or something may stand in the way of ours. */
function absentStatus(view: View, patch: Patch, reading: SourceReading): PatchStatus {
  const base = { id: patch.id, revision: patch.revision, carrier: null, files: [] as PatchStatus['files'] };
  const [other] = reading.ineffective;
  if (other !== undefined) {
    const files = filesOf([treeFile(view.world, patch.source.file)]);
    return {
      ...base,
      state: 'applied-by-other',
      reason: `${other.by}: ${other.why}`,
      carrier: 'source',
      effective: 'no',
      files,
    };
  }
  const barrier = engineBarrier(view.world);
  if (barrier !== null) return { ...base, state: 'blocked', reason: barrier.reason, effective: 'no' };
  return { ...base, state: 'absent', reason: 'not applied', effective: 'no' };
}

function sourceStatus(
  view: View,
  patch: Patch,
  reading: SourceReading,
  state: Extract<SourceReading['state'], { kind: 'ours' }>,
): PatchStatus {
  const { world } = view;
  const problem = state.intact ? moduleProblem(world, newDraft(), patch, reading) : state.why;
  const states = [treeFile(world, patch.source.file)];
  if (patch.source.kind === 'include') states.push(treeFile(world, patch.source.installAs));
  const base = { id: patch.id, revision: state.revision, carrier: 'source' as const, files: filesOf(states) };
  if (problem !== null) return { ...base, state: 'modified', reason: problem, effective: 'unknown' };
  return { ...base, ...byRevision(state.revision, patch), effective: 'yes' };
}

function overlayStatus(view: View, patch: Patch, revision: number, retired: string | null): PatchStatus {
  const { world, overlay } = view;
  const names = [...world.overlay.keys()].sort();
  const base = {
    id: patch.id,
    revision,
    carrier: 'overlay' as const,
    files: filesOf(names.map((name) => overlayFile(world, name))),
  };
  if (overlay.kind === 'ours' && overlay.changed.length > 0)
    return {
      ...base,
      state: 'modified',
      reason: `changed by hand: ${overlay.changed.join(', ')}`,
      effective: 'unknown',
    };
  if (retired !== null)
    return {
      ...base,
      state: 'not-needed',
      reason: `${retired}; the overlay still carries it and does nothing`,
      effective: 'yes',
    };
  const unloaded = notLoaded(view);
  const current = byRevision(revision, patch);
  return {
    ...base,
    ...current,
    ...(unloaded === null ? {} : { reason: unloaded }),
    effective: unloaded === null ? 'yes' : 'no',
  };
}

/** Why the engine will not load the overlay that is there. */
function notLoaded({ world, needs, config }: View): string | null {
  if (needs.unknown !== null) return `this engine may not load plugins: found ${needs.unknown.found}`;
  if (needs.enabling && config.enabled?.includes(pluginName) !== true)
    return `${world.config.path} does not name ${pluginName} in plugins.enabled`;
  if (config.disabled.includes(pluginName)) return `plugins.disabled names ${pluginName}`;
  if (needs.isolation && config.isolation === 'host') return 'plugins.isolation is "host"';
  return null;
}

function byRevision(revision: number, patch: Patch): Pick<PatchStatus, 'state' | 'reason'> {
  if (revision === patch.revision) return { state: 'applied', reason: `revision ${revision}` };
  if (revision > patch.revision)
    return { state: 'applied', reason: `revision ${revision}, newer than ours (${patch.revision})` };
  return { state: 'applied-older', reason: `revision ${revision}; ours is ${patch.revision}` };
}

const filesOf = (states: FileState[]): PatchStatus['files'] =>
  states.map(({ path, bytes }) => ({ path, sha256: bytes === null ? null : sha256(bytes) }));
