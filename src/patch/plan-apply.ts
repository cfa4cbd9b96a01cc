import { engineBarrier, treeBarrier } from './barriers.ts';
import type { Catalogue, Patch } from './catalogue.ts';
import { type Draft, newDraft, put, refuse, textOf } from './draft.ts';
import { engineNeeds, treeOf } from './engine-needs.ts';
import { draftedOverlay, draftOverlay } from './plan-overlay.ts';
import { draftSource, moduleProblem, treeFile } from './plan-source.ts';
import { readSource, type SourceReading } from './read-source.ts';
import type { Carrier, PlanOptions } from './schema.ts';
import { takeOut } from './source-edit.ts';
import { encode } from './text.ts';
import type { World } from './world.ts';

/** Thinks out what `apply` would write. Reads nothing but `world`. */
export async function planApply(world: World, catalogue: Catalogue, options: PlanOptions): Promise<Draft> {
  const draft = newDraft();
  for (const id of options.patches) {
    const patch = catalogue.patches.find((each) => each.id === id);
    if (patch !== undefined) await planOne(world, draft, catalogue, patch, options);
  }
  return draft;
}

async function planOne(
  world: World,
  draft: Draft,
  catalogue: Catalogue,
  patch: Patch,
  options: PlanOptions,
): Promise<void> {
  const wanted: Carrier = options.carrier ?? 'overlay';
  const against = engineBarrier(world);
  if (against !== null) return refuse(draft, patch.id, wanted, against.code, against.reason, against);
  let reading = await readSource(patch, treeOf(world, draft));
  if (options.replace && reading.state.kind !== 'retired') {
    if (!clearOthers(world, draft, patch, reading)) return;
    reading = await readSource(patch, treeOf(world, draft));
  }
  for (const each of reading.ineffective)
    draft.notes.push({ patch: patch.id, text: `${each.by}: ${each.why}` });
  const decision = decide(world, draft, catalogue, patch, reading, options);
  switch (decision.kind) {
    case 'none':
      draft.notes.push({ patch: patch.id, text: decision.why });
      return;
    case 'refuse':
      return refuse(draft, patch.id, decision.carrier, decision.code, decision.reason, decision.more);
    case 'overlay': {
      const needs = await engineNeeds(catalogue, treeOf(world, draft));
      await draftOverlay(world, draft, catalogue, patch, needs, options);
      return;
    }
    case 'source':
      draftSource(world, draft, patch, reading, options.allowNonLoopback || decision.allowed);
      return;
    default:
      decision satisfies never;
  }
}

type Decision =
  | { kind: 'none'; why: string }
  | {
      kind: 'refuse';
      carrier: Carrier;
      code: string;
      reason: string;
      more: { lookedFor?: string; found?: string; alternative?: string };
    }
  | { kind: 'overlay' }
  | { kind: 'source'; allowed: boolean };

/** Which carrier gets the patch. What is there already stays where it is; nothing is ever there twice. */
function decide(
  world: World,
  draft: Draft,
  catalogue: Catalogue,
  patch: Patch,
  reading: SourceReading,
  options: PlanOptions,
): Decision {
  const { state } = reading;
  const wanted = options.carrier ?? 'overlay';
  if (state.kind === 'retired') return { kind: 'none', why: `not needed: ${state.why}` };
  if (state.kind === 'unknown') {
    const code = state.found.startsWith('conflict markers') ? 'CONFLICT_MARKERS' : 'STRUCTURE_UNKNOWN';
    const reason =
      code === 'CONFLICT_MARKERS'
        ? `hermes_cli/${patch.source.file} holds ${state.found}: a merge was left half done`
        : 'this engine is built in a way that is not known';
    return { kind: 'refuse', carrier: wanted, code, reason, more: state };
  }
  if (state.kind === 'ours') return decideOurs(world, draft, patch, reading, options);
  const overlay = draftedOverlay(world, draft, catalogue);
  const carried = overlay.kind === 'ours' ? overlay.patches.find(({ id }) => id === patch.id) : undefined;
  if (carried !== undefined) {
    if (carried.revision > patch.revision)
      return {
        kind: 'none',
        why: `applied by the overlay, revision ${carried.revision}, which is newer than ours`,
      };
    if (wanted === 'source')
      return { kind: 'none', why: 'applied by the overlay already; to change the carrier, revert it first' };
    return { kind: 'overlay' };
  }
  if (state.kind === 'other' && state.effective)
    return {
      kind: 'none',
      why: `applied by ${state.by} (${state.why}), left as it is; --replace puts ours in its place`,
    };
  if (state.kind === 'other')
    draft.notes.push({
      patch: patch.id,
      text: `${state.by} has no effect here (${state.why}), left as it is`,
    });
  return wanted === 'overlay' ? { kind: 'overlay' } : { kind: 'source', allowed: false };
}

function decideOurs(
  world: World,
  draft: Draft,
  patch: Patch,
  reading: SourceReading,
  options: PlanOptions,
): Decision {
  const { state } = reading;
  if (state.kind !== 'ours') throw new Error('not ours');
  const { source } = patch;
  const allowed = source.kind === 'assignment' && state.expression === source.appendWhenAllowed;
  const problem = state.intact ? moduleProblem(world, draft, patch, reading) : state.why;
  if (problem !== null) {
    if (options.replace) return { kind: 'source', allowed };
    const alternative = `hermes-compat patch apply ${patch.id} --replace writes it anew`;
    return {
      kind: 'refuse',
      carrier: 'source',
      code: 'PATCH_MODIFIED',
      reason: problem,
      more: { alternative },
    };
  }
  if (state.revision > patch.revision)
    return {
      kind: 'none',
      why: `applied in the source, revision ${state.revision}, which is newer than ours`,
    };
  const widen = options.allowNonLoopback && source.kind === 'assignment' && !allowed;
  if (state.revision < patch.revision || widen) return { kind: 'source', allowed };
  return { kind: 'none', why: `applied in the source, revision ${state.revision}` };
}

/** Takes out what others wrote for this patch. False: it was refused. */
function clearOthers(world: World, draft: Draft, patch: Patch, reading: SourceReading): boolean {
  const { state } = reading;
  const spans = reading.ineffective.map(({ span, restore }) => ({ span, restore }));
  if (state.kind === 'other') {
    if (state.span === null) {
      const reason = `${state.why}: that cannot be taken out by a rule`;
      refuse(draft, patch.id, 'source', 'FOREIGN_EDITS', reason, { alternative: 'take it out by hand' });
      return false;
    }
    spans.push({ span: state.span, restore: state.restore });
  }
  if (spans.length === 0) return true;
  const file = treeFile(world, patch.source.file);
  const against = treeBarrier(world, file);
  if (against !== null) {
    refuse(draft, patch.id, 'source', against.code, against.reason, against);
    return false;
  }
  // From the end, so that the offsets of the others hold.
  spans.sort((a, b) => b.span.from - a.span.from);
  const text = spans.reduce(
    (now, { span, restore }) => takeOut(now, span, restore),
    textOf(draft, file) ?? '',
  );
  put(draft, patch.id, 'source', file, encode(text));
  return true;
}
