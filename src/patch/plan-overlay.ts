import { overlayFolder } from '../engine/compat-places.ts';
import { type Barrier, fileBarrier, folderBarrier } from './barriers.ts';
import type { Catalogue, Patch } from './catalogue.ts';
import { type ConfigFacts, configFacts } from './config-facts.ts';
import { bytesOf, type Draft, put, refuse, textOf } from './draft.ts';
import type { EngineNeeds } from './engine-needs.ts';
import {
  carriedEntry,
  type CarriedPatch,
  type OverlayState,
  overlayFiles,
  pluginName,
  readOverlay,
} from './overlay-files.ts';
import { planConfig } from './plan-config.ts';
import { decode, encode } from './text.ts';
import { type FileState, join, type World } from './world.ts';

export interface OverlayRequest {
  allowNonLoopback: boolean;
  replace: boolean;
}

const sourceInstead =
  'an edit of the installed tree, which updates can lose: hermes-compat patch apply --carrier source';

/** The overlay folder as it will be after what was drafted so far. */
export const draftedOverlay = (world: World, draft: Draft, catalogue: Catalogue): OverlayState =>
  readOverlay(catalogue, draftedFiles(world, draft));

export function draftedFiles(world: World, draft: Draft): Map<string, Buffer> {
  const folder = `${overlayFolder(world.overlayHome)}/`;
  const files = new Map<string, Buffer>();
  for (const [name, state] of world.overlay) {
    const bytes = bytesOf(draft, state);
    if (bytes !== null) files.set(name, bytes);
  }
  for (const { state, after } of draft.files.values()) {
    if (after !== null && state.path.startsWith(folder)) files.set(state.path.slice(folder.length), after);
  }
  return files;
}

export function overlayFile(world: World, name: string): FileState {
  const path = join(overlayFolder(world.overlayHome), name);
  return world.overlay.get(name) ?? { path, real: path, bytes: null, stat: null };
}

/** Drafts the overlay with this patch in it, and our name in plugins.enabled. False: it was refused. */
export async function draftOverlay(
  world: World,
  draft: Draft,
  catalogue: Catalogue,
  patch: Patch,
  needs: EngineNeeds,
  request: OverlayRequest,
): Promise<boolean> {
  const state = draftedOverlay(world, draft, catalogue);
  const facts = await configFacts(textOf(draft, world.config), bytesOf(draft, world.config) !== null);
  const against = overlayBarrier(world, state, needs, facts, request.replace);
  if (against !== null) {
    refuse(draft, patch.id, 'overlay', against.code, against.reason, against);
    return false;
  }
  const config = await planConfig(world, draft, needs, facts);
  if (config.kind === 'refused') {
    refuse(draft, patch.id, 'overlay', config.code, config.why, config);
    return false;
  }
  draftFiles(world, draft, catalogue, patch.id, [
    ...carriedBy(state, draftedFiles(world, draft), catalogue).filter(({ entry }) => entry.id !== patch.id),
    {
      entry: carriedEntry(patch, request.allowNonLoopback || allowedBefore(state, patch)),
      text: patch.moduleText,
    },
  ]);
  if (config.kind === 'edit' && put(draft, patch.id, 'overlay', world.config, encode(config.text)))
    draft.config = { undo: config.undo };
  if (config.kind === 'left') draft.notes.push({ patch: patch.id, text: config.why });
  return true;
}

/** Drafts the overlay without this patch; the last one takes the folder and our entry of plugins.enabled with it. */
export function draftWithout(
  world: World,
  draft: Draft,
  catalogue: Catalogue,
  patch: string,
): { empty: boolean } {
  const state = draftedOverlay(world, draft, catalogue);
  const rest = carriedBy(state, draftedFiles(world, draft), catalogue).filter(
    ({ entry }) => entry.id !== patch,
  );
  draftFiles(world, draft, catalogue, patch, rest);
  return { empty: rest.length === 0 };
}

interface Carried {
  entry: CarriedPatch;
  text: string;
}

/** What the folder carries, each with the text that it has; a changed text is replaced by the one of the catalogue. */
function carriedBy(state: OverlayState, files: Map<string, Buffer>, catalogue: Catalogue): Carried[] {
  if (state.kind !== 'ours') return [];
  return state.patches.flatMap((entry) => {
    const name = `${entry.module}.py`;
    const text = state.changed.includes(name) ? null : decode(files.get(name) ?? Buffer.alloc(0));
    if (text !== null && text !== '') return [{ entry, text }];
    const known = catalogue.patches.find(({ id }) => id === entry.id);
    return known === undefined
      ? []
      : [{ entry: { ...entry, revision: known.revision }, text: known.moduleText }];
  });
}

const allowedBefore = (state: OverlayState, patch: Patch): boolean =>
  state.kind === 'ours' &&
  state.patches.some(({ id, options }) => id === patch.id && options?.allow_non_loopback === true);

/** Writes what the carried patches need, removes what they do not. */
function draftFiles(
  world: World,
  draft: Draft,
  catalogue: Catalogue,
  patch: string,
  carried: Carried[],
): void {
  const wanted = carried.length === 0 ? new Map<string, Buffer>() : overlayFiles(catalogue, inOrder(carried));
  const unwanted = [...draftedFiles(world, draft).keys()].filter((name) => !wanted.has(name));
  // What makes the engine load the rest goes first and comes last.
  unwanted.sort((a, b) => Number(b === 'manifest.json') - Number(a === 'manifest.json'));
  for (const name of unwanted) put(draft, patch, 'overlay', overlayFile(world, name), null);
  for (const [name, bytes] of wanted) put(draft, patch, 'overlay', overlayFile(world, name), bytes);
}

const inOrder = (carried: Carried[]): Carried[] =>
  carried.toSorted((a, b) => a.entry.id.localeCompare(b.entry.id));

function overlayBarrier(
  world: World,
  state: OverlayState,
  needs: EngineNeeds,
  facts: ConfigFacts,
  replace: boolean,
): (Barrier & { lookedFor?: string; found?: string }) | null {
  const folder = overlayFolder(world.overlayHome);
  if (needs.unknown !== null) {
    return {
      code: 'STRUCTURE_UNKNOWN',
      reason: 'this engine does not load plugins in a way that is known',
      ...needs.unknown,
    };
  }
  if (needs.isolation && facts.isolation === 'host') {
    return {
      code: 'OVERLAY_NOT_LOADED',
      reason: 'plugins.isolation is "host": plugins run outside the dashboard and cannot add to it',
      alternative: sourceInstead,
    };
  }
  if (facts.disabled.includes(pluginName)) {
    return {
      code: 'OVERLAY_NOT_LOADED',
      reason: `plugins.disabled names ${pluginName}: somebody turned it off`,
      alternative: 'take it from that list',
    };
  }
  if (state.kind === 'foreign') {
    return {
      code: 'FOREIGN_EDITS',
      reason: `${folder} is not ours: ${state.why}`,
      alternative: 'move that folder away',
    };
  }
  if (state.kind === 'ours' && state.changed.length > 0 && !replace) {
    return {
      code: 'PATCH_MODIFIED',
      reason: `files in ${folder} were changed by hand: ${state.changed.join(', ')}`,
      alternative: 'hermes-compat patch apply --replace writes them anew',
    };
  }
  for (const file of world.overlay.values()) {
    const barrier = fileBarrier(world, file);
    if (barrier !== null) return barrier;
  }
  return folderBarrier(world, folder);
}
