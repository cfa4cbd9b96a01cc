import { readdir, readFile } from 'node:fs/promises';
import { packaged } from '../tool.ts';
import type { OverlayFile, PatchFile } from './catalogue-schema.ts';

/** A patch with its payload texts. */
export interface Patch extends PatchFile {
  /** Text of `module`. */
  moduleText: string;
  /** Text of `source.include`; empty for an edit that has none. */
  includeText: string;
}

/** The dashboard plugin that carries patches. */
export interface OverlayShell extends Omit<OverlayFile, 'files'> {
  /** File name to text. */
  files: ReadonlyMap<string, string>;
}

export interface Catalogue {
  patches: Patch[];
  overlay: OverlayShell;
}

/** Reads `patches/` (or another folder of the same form). Throws on a folder that does not keep to the schema. */
export async function loadCatalogue(folder: URL = packaged('patches/')): Promise<Catalogue> {
  const { overlayFileSchema, patchFileSchema } = await import('./catalogue-schema.ts');
  const names = (await readdir(folder, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory() && entry.name !== 'overlay')
    .map((entry) => entry.name)
    .sort();
  const text = (path: string): Promise<string> => readFile(new URL(path, folder), 'utf8');
  const patches = await Promise.all(
    names.map(async (name): Promise<Patch> => {
      const patch = patchFileSchema.parse(JSON.parse(await text(`${name}/patch.json`)));
      if (patch.id !== name) throw new Error(`patches/${name}/patch.json has the id ${patch.id}`);
      return {
        ...patch,
        moduleText: await text(`${name}/${patch.module}`),
        includeText: patch.source.kind === 'include' ? await text(`${name}/${patch.source.include}`) : '',
      };
    }),
  );
  const shell = overlayFileSchema.parse(JSON.parse(await text('overlay/overlay.json')));
  const files = new Map<string, string>();
  for (const name of shell.files) files.set(name, await text(`overlay/${name}`));
  return { patches, overlay: { ...shell, files } };
}
