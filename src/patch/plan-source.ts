import { treeBarrier } from './barriers.ts';
import type { Patch } from './catalogue.ts';
import { bytesOf, type Draft, put, refuse, textOf } from './draft.ts';
import type { SourceReading } from './read-source.ts';
import { includeText, insertAssignment, insertInclude, namedModule, takeOut } from './source-edit.ts';
import { encode, sha256 } from './text.ts';
import { type FileState, join, type World } from './world.ts';

/** The tree's file of this name, there or not. */
export function treeFile(world: World, name: string): FileState {
  const path = join(world.install?.packageDir ?? '', name);
  return world.tree.get(name) ?? { path, real: path, bytes: null, stat: null };
}

/** Why the module beside an include is not the one that the include names; null when it is, or none is needed. */
export function moduleProblem(
  world: World,
  draft: Draft,
  patch: Patch,
  reading: SourceReading,
): string | null {
  const { state } = reading;
  if (patch.source.kind !== 'include' || state.kind !== 'ours') return null;
  const named = namedModule(textOf(draft, treeFile(world, patch.source.file)) ?? '', state.span);
  const bytes = bytesOf(draft, treeFile(world, patch.source.installAs));
  if (bytes === null) return `hermes_cli/${patch.source.installAs} is gone`;
  return named === sha256(bytes) ? null : `hermes_cli/${patch.source.installAs} was changed by hand`;
}

/** Drafts our edit at the place that was read. False: it was refused. */
export function draftSource(
  world: World,
  draft: Draft,
  patch: Patch,
  reading: SourceReading,
  allowNonLoopback: boolean,
): boolean {
  const file = treeFile(world, patch.source.file);
  const against = treeBarrier(world, file);
  if (against !== null) {
    refuse(draft, patch.id, 'source', against.code, against.reason, against);
    return false;
  }
  const cleared = clearPlace(textOf(draft, file) ?? '', reading);
  if (cleared === null) {
    const found = reading.state.kind === 'ours' ? reading.state.why : 'another edit';
    refuse(draft, patch.id, 'source', 'PATCH_MODIFIED', 'the place of the edit cannot be cleared', { found });
    return false;
  }
  const { source } = patch;
  if (source.kind === 'assignment') {
    const text = insertAssignment(cleared.text, cleared.at, patch, source, allowNonLoopback);
    put(draft, patch.id, 'source', file, encode(text));
    return true;
  }
  const module = encode(patch.moduleText);
  const block = includeText(patch, patch.includeText, sha256(module));
  put(draft, patch.id, 'source', treeFile(world, source.installAs), module);
  put(draft, patch.id, 'source', file, encode(insertInclude(cleared.text, cleared.at, block)));
  return true;
}

/** The text without what stands in the way, and where ours goes. */
function clearPlace(text: string, { state }: SourceReading): { text: string; at: number } | null {
  switch (state.kind) {
    case 'absent':
      return { text, at: state.at };
    case 'ours':
    case 'other': {
      if (state.kind === 'other' && state.at !== null) {
        if (state.span === null) return { text, at: state.at };
        const shorter =
          state.span.to <= state.at ? state.span.to - state.span.from - state.restore.length : 0;
        return { text: takeOut(text, state.span, state.restore), at: state.at - shorter };
      }
      if (state.span === null || state.span.from === state.span.to) return null;
      const at = state.span.from + state.restore.length;
      return { text: takeOut(text, state.span, state.restore), at };
    }
    case 'retired':
    case 'unknown':
      return null;
    default:
      return state satisfies never;
  }
}
