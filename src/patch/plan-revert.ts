import { fileBarrier, treeBarrier } from './barriers.ts';
import type { Catalogue, Patch } from './catalogue.ts';
import { bytesOf, type Draft, newDraft, put, refuse, textOf } from './draft.ts';
import { treeOf } from './engine-needs.ts';
import { pluginName } from './overlay-files.ts';
import { draftedOverlay, draftWithout } from './plan-overlay.ts';
import { moduleProblem, treeFile } from './plan-source.ts';
import { disablePlugin } from './plugins-enabled.ts';
import { readSource } from './read-source.ts';
import type { PlanOptions } from './schema.ts';
import { takeOut } from './source-edit.ts';
import { encode } from './text.ts';
import type { World } from './world.ts';

/** Thinks out what `revert` would write. What others wrote stays. */
export async function planRevert(world: World, catalogue: Catalogue, options: PlanOptions): Promise<Draft> {
  const draft = newDraft();
  for (const id of options.patches) {
    const patch = catalogue.patches.find((each) => each.id === id);
    if (patch === undefined) continue;
    const before = draft.steps.length + draft.refusals.length;
    if (options.carrier !== 'source') await revertOverlay(world, draft, catalogue, patch, options);
    if (options.carrier !== 'overlay') await revertSource(world, draft, patch, options);
    if (draft.steps.length + draft.refusals.length === before)
      draft.notes.push({ patch: id, text: nothingText(world, draft, id) });
  }
  return draft;
}

function nothingText({ markers }: World, draft: Draft, id: string): string {
  const recorded = markers.ours?.entries.some(
    ({ patch, carrier }) => patch === id && draft.dropped.has(`${patch} ${carrier}`),
  );
  return recorded === true ? 'nothing of ours is there; our records forget it' : 'nothing of ours is there';
}

async function revertSource(world: World, draft: Draft, patch: Patch, options: PlanOptions): Promise<void> {
  if (world.install === null) return;
  const reading = await readSource(patch, treeOf(world, draft));
  const { state } = reading;
  const file = treeFile(world, patch.source.file);
  if (state.kind !== 'ours') {
    // What cannot be read may still hold our edit.
    if (state.kind !== 'unknown') draft.dropped.add(`${patch.id} source`);
    return removeModule(world, draft, patch);
  }
  const problem = state.intact ? moduleProblem(world, draft, patch, reading) : state.why;
  const hopeless = state.span.from === state.span.to;
  if (problem !== null && (!options.replace || hopeless)) {
    const alternative = hopeless
      ? 'take our lines out by hand'
      : `hermes-compat patch revert ${patch.id} --replace takes it out with the changes`;
    return refuse(draft, patch.id, 'source', 'PATCH_MODIFIED', problem, { alternative });
  }
  const against = world.update?.state === 'live' ? liveUpdate(world) : treeBarrier(world, file);
  if (against !== null) return refuse(draft, patch.id, 'source', against.code, against.reason, against);
  put(draft, patch.id, 'source', file, encode(takeOut(textOf(draft, file) ?? '', state.span, state.restore)));
  draft.dropped.add(`${patch.id} source`);
  removeModule(world, draft, patch);
}

/** The module of an include is ours by its name; one that nothing includes any more has no use. */
function removeModule(world: World, draft: Draft, patch: Patch): void {
  if (patch.source.kind !== 'include') return;
  const module = treeFile(world, patch.source.installAs);
  if (bytesOf(draft, module) === null) return;
  const against = treeBarrier(world, module);
  if (against !== null) return refuse(draft, patch.id, 'source', against.code, against.reason, against);
  put(draft, patch.id, 'source', module, null);
}

async function revertOverlay(
  world: World,
  draft: Draft,
  catalogue: Catalogue,
  patch: Patch,
  options: PlanOptions,
): Promise<void> {
  const state = draftedOverlay(world, draft, catalogue);
  if (state.kind !== 'ours' || !state.patches.some(({ id }) => id === patch.id)) {
    draft.dropped.add(`${patch.id} overlay`);
    return;
  }
  if (state.changed.length > 0 && !options.replace) {
    const reason = `files of the overlay were changed by hand: ${state.changed.join(', ')}`;
    const alternative = `hermes-compat patch revert ${patch.id} --replace removes them`;
    return refuse(draft, patch.id, 'overlay', 'PATCH_MODIFIED', reason, { alternative });
  }
  for (const file of world.overlay.values()) {
    const against = fileBarrier(world, file);
    if (against !== null) return refuse(draft, patch.id, 'overlay', against.code, against.reason, against);
  }
  const last = state.patches.length === 1;
  // First the list, so that the engine never looks for a plugin that is half gone.
  if (last && !(await revertConfig(world, draft, patch))) return;
  draftWithout(world, draft, catalogue, patch.id);
  draft.dropped.add(`${patch.id} overlay`);
}

/** Our entry of plugins.enabled, unless the list named us before. False: it was refused. */
async function revertConfig(world: World, draft: Draft, patch: Patch): Promise<boolean> {
  const { config, markers } = world;
  const text = textOf(draft, config);
  if (text === null) return true;
  const record = markers.ours?.config.find(({ path }) => path === config.path);
  const known = markers.ours?.entries.some(
    ({ carrier, home }) => carrier === 'overlay' && home === world.overlayHome,
  );
  const listedBefore = known === true && record === undefined;
  if (listedBefore) return true;
  const edit = await disablePlugin(text, pluginName, record?.undo ?? null);
  if (edit.kind === 'present') return true;
  if (edit.kind === 'refused') {
    refuse(draft, patch.id, 'overlay', 'FOREIGN_EDITS', `config.yaml: ${edit.why}`, {
      alternative: `take "${pluginName}" out of plugins.enabled by hand`,
    });
    return false;
  }
  const against = fileBarrier(world, config);
  if (against !== null) {
    refuse(draft, patch.id, 'overlay', against.code, against.reason, against);
    return false;
  }
  const made = record?.undo.kind === 'created-file' && edit.text.trim() === '';
  put(draft, patch.id, 'overlay', config, made ? null : encode(edit.text));
  draft.config = 'undone';
  return true;
}

const liveUpdate = (world: World) => ({
  code: 'UPDATE_IN_PROGRESS',
  reason: `an engine update is running (pid ${world.update?.pid ?? 'not written yet'})`,
  alternative: 'run this again when it is done',
});
