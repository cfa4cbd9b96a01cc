import { markerFile, sharedMarkerFile } from '../engine/compat-places.ts';
import { textIfThere } from '../host/read-text.ts';
import { FileError, type Host } from '../host/types.ts';
import { documentHead, tool } from '../tool.ts';
import type { Marker } from './schema.ts';

/** What the two marker files say. They are claims. */
export interface MarkerReading {
  ours: Marker | null;
  /** Why ours could not be read. */
  oursProblem: string | null;
  shared: SharedMarker;
}

/** The file that Hermes One writes after each look at an engine. */
export type SharedMarker =
  | { kind: 'absent' }
  | { kind: 'corrupt'; why: string }
  | { kind: 'ours' }
  | {
      kind: 'theirs';
      version: string;
      target: string;
      compatible: boolean | null;
      applied: boolean | null;
      path: string | null;
      checkedAt: string | null;
    };

export const emptyMarker = (): Marker => ({
  ...documentHead('marker'),
  at: '',
  entries: [],
  config: [],
  folders: [],
});

export async function readMarkers(host: Host, root: string): Promise<MarkerReading> {
  const { markerSchema } = await import('./schema.ts');
  const text = await readIfThere(host, markerFile(root));
  const shared = readShared(await readIfThere(host, sharedMarkerFile(root)));
  if (text === null) return { ours: null, oursProblem: null, shared };
  try {
    return { ours: markerSchema.parse(JSON.parse(text)), oursProblem: null, shared };
  } catch (error) {
    const why = error instanceof SyntaxError ? 'it is not JSON' : 'it does not have the form of our marker';
    return { ours: null, oursProblem: why, shared };
  }
}

async function readIfThere(host: Host, path: string): Promise<string | null> {
  try {
    return await textIfThere(host, path);
  } catch (error) {
    if (error instanceof FileError) return '';
    throw error;
  }
}

function readShared(text: string | null): SharedMarker {
  if (text === null) return { kind: 'absent' };
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return { kind: 'corrupt', why: 'it is not JSON' };
  }
  const fields = data as Record<string, unknown> | null;
  const version = fields?.['version'];
  if (typeof version !== 'string') return { kind: 'corrupt', why: 'it names no version' };
  if (version.startsWith(tool.name)) return { kind: 'ours' };
  const string = (key: string): string | null => (typeof fields?.[key] === 'string' ? fields[key] : null);
  const flag = (key: string): boolean | null => (typeof fields?.[key] === 'boolean' ? fields[key] : null);
  return {
    kind: 'theirs',
    version,
    target: string('target') ?? '',
    compatible: flag('compatible'),
    applied: flag('applied'),
    path: string('path'),
    checkedAt: string('checkedAt'),
  };
}

/** In the fields that Hermes One reads; `version` says that it is ours. */
export const sharedMarkerText = (target: 'local' | 'ssh', path: string | null, at: string): string =>
  `${JSON.stringify({ version: `${tool.name} ${tool.version}`, target, compatible: true, applied: true, path, checkedAt: at }, null, 2)}\n`;
