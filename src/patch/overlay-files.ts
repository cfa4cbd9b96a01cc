import type { Catalogue, Patch } from './catalogue.ts';
import { decode, encode, sha256 } from './text.ts';

/** Name of our dashboard plugin: its folder, its entry in `plugins.enabled`, its prefix under /api/plugins/. */
export const pluginName = 'hermes-compat';

/** One patch as `manifest.json` names it. */
export interface CarriedPatch {
  id: string;
  revision: number;
  /** Python file beside the manifest, without `.py`. */
  module: string;
  options?: { allow_non_loopback?: boolean };
}

interface ManifestPart {
  revision: number;
  patches: CarriedPatch[];
  /** Hashes of the other files as they were written. */
  files: Record<string, string>;
}

/** What the overlay folder holds. `foreign`: a plugin of that name that is not ours. */
export type OverlayState =
  | { kind: 'absent' }
  | { kind: 'foreign'; why: string }
  | { kind: 'ours'; revision: number; patches: CarriedPatch[]; changed: string[]; shellCurrent: boolean };

/** File name to bytes, in the order in which they are written: what makes the engine load it comes last. */
export type OverlayFiles = Map<string, Buffer>;

const moduleOf = (patch: Patch): string => patch.module.replace(/\.py$/, '');

/** All files for these patches. A patch that is kept at an older revision brings its text along. */
export function overlayFiles(
  catalogue: Catalogue,
  carried: readonly { entry: CarriedPatch; text: string }[],
): OverlayFiles {
  const files: OverlayFiles = new Map();
  for (const { entry, text } of carried) files.set(`${entry.module}.py`, encode(text));
  for (const [name, text] of catalogue.overlay.files) files.set(name, encode(text));
  const part: ManifestPart = {
    revision: catalogue.overlay.revision,
    patches: carried.map(({ entry }) => entry),
    files: Object.fromEntries([...files].map(([name, bytes]) => [name, sha256(bytes)])),
  };
  const manifest = {
    name: pluginName,
    label: 'hermes-compat',
    description: `Carries ${carried.map(({ entry }) => entry.id).join(', ')}. Undo: hermes-compat patch revert`,
    version: `${catalogue.overlay.revision}`,
    tab: { hidden: true },
    entry: 'index.js',
    api: 'api.py',
    'hermes-compat': part,
  };
  files.set('manifest.json', encode(`${JSON.stringify(manifest, null, 2)}\n`));
  return files;
}

export const carriedEntry = (patch: Patch, allowNonLoopback: boolean): CarriedPatch => ({
  id: patch.id,
  revision: patch.revision,
  module: moduleOf(patch),
  ...(patch.options.includes('allow_non_loopback')
    ? { options: { allow_non_loopback: allowNonLoopback } }
    : {}),
});

/** Reads the folder as it is. `files`: every file in it that is no bytecode. */
export function readOverlay(catalogue: Catalogue, files: ReadonlyMap<string, Buffer>): OverlayState {
  if (files.size === 0) return { kind: 'absent' };
  const manifest = files.get('manifest.json');
  const part = manifest === undefined ? null : manifestPart(manifest);
  if (part === null) {
    const why = manifest === undefined ? 'it has no manifest.json' : 'its manifest.json is not one of ours';
    return { kind: 'foreign', why };
  }
  const changed = Object.entries(part.files)
    .filter(([name, hash]) => {
      const bytes = files.get(name);
      return bytes === undefined || sha256(bytes) !== hash;
    })
    .map(([name]) => name);
  for (const name of files.keys())
    if (name !== 'manifest.json' && part.files[name] === undefined) changed.push(name);
  const shellCurrent = [...catalogue.overlay.files].every(
    ([name, text]) => part.files[name] === sha256(text),
  );
  return { kind: 'ours', revision: part.revision, patches: part.patches, changed, shellCurrent };
}

function manifestPart(bytes: Buffer): ManifestPart | null {
  let data: unknown;
  try {
    data = JSON.parse(decode(bytes) ?? '');
  } catch {
    return null;
  }
  const part = (data as { [pluginName]?: unknown } | null)?.[pluginName] as Partial<ManifestPart> | undefined;
  const patches = part?.patches;
  const wellFormed =
    typeof part?.revision === 'number' &&
    Array.isArray(patches) &&
    patches.every(
      (each) =>
        typeof each.id === 'string' && /^[a-z_]+$/.test(each.module) && typeof each.revision === 'number',
    ) &&
    typeof part.files === 'object' &&
    part.files !== null;
  return wellFormed ? (part as ManifestPart) : null;
}
