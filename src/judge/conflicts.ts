import type { Install } from '../engine/schema.ts';

/** Files that hold both ends of a conflict, and those that git has not merged whatever they hold. Sorted. */
export const conflictsIn = (install: Install): string[] =>
  [...new Set([...(install.residue?.conflictMarkers ?? []), ...(install.git?.unmerged ?? [])])].sort();
