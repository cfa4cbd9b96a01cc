import type { Catalogue } from './catalogue.ts';
import { bytesOf, type Draft } from './draft.ts';
import { moduleOf, type Tree } from './read-source.ts';
import { readAnchor } from './source-edit.ts';
import { decode } from './text.ts';
import type { World } from './world.ts';

/** What the engine's own code says about plugins. */
export interface EngineNeeds {
  /** Why the overlay cannot be mounted; null when it can. */
  unknown: { lookedFor: string; found: string } | null;
  /** A plugin is loaded only when plugins.enabled names it (0.18 and newer). */
  enabling: boolean;
  /** It knows plugins.isolation. */
  isolation: boolean;
}

/** The tree as it will be after what was drafted so far. */
export function treeOf(world: World, draft: Draft | null): Tree {
  const files = new Map<string, string | null>();
  for (const [name, state] of world.tree) {
    const bytes = draft === null ? state.bytes : bytesOf(draft, state);
    if (bytes !== null) files.set(name, decode(bytes));
  }
  const { install } = world;
  const edited = (path: string): boolean | null => {
    if (install === null || install.state === 'unknown') return null;
    return install.editedFiles.some((file) => file === path || file.endsWith(`/${path}`));
  };
  return { files, present: new Set(files.keys()), edited, modules: new Map() };
}

export async function engineNeeds(catalogue: Catalogue, tree: Tree): Promise<EngineNeeds> {
  const { overlay } = catalogue;
  const module = await moduleOf(tree, overlay.file);
  const lookedFor = `hermes_cli/${overlay.file}`;
  const isolation = tree.present.has(overlay.isolation);
  if (module === null) return { unknown: { lookedFor, found: 'no such file' }, enabling: true, isolation };
  const anchor = readAnchor(overlay, module);
  let enabling = false;
  for (const path of overlay.enabling.files) {
    const code = await moduleOf(tree, path);
    for (const name of overlay.enabling.functions) {
      for (const each of code?.functions(name) ?? []) {
        enabling ||= code?.text.slice(each.from, each.to).includes(overlay.enabling.reads) ?? false;
      }
    }
  }
  return { unknown: typeof anchor === 'number' ? null : anchor, enabling, isolation };
}
