import type { TreeFacts } from './tree-facts.ts';

export interface TreeState {
  state: 'pristine' | 'edited' | 'unknown';
  /** Relative to the install root, sorted. */
  editedFiles: string[];
}

const unknown: TreeState = { state: 'unknown', editedFiles: [] };

/** A wheel's files against the sha256 that its RECORD promises. */
export function againstRecord(root: string, tree: TreeFacts): TreeState {
  const expected = [...tree.recorded].filter(([path]) => path.startsWith(`${root}/`));
  if (!tree.sha256.has(`${root}/hermes_cli/web_server.py`) || expected.length === 0) return unknown;
  const edited = expected
    .filter(([path, digest]) => {
      const found = tree.sha256.get(path);
      return found !== undefined && found !== digest;
    })
    .map(([path]) => path.slice(root.length + 1));
  return { state: edited.length > 0 ? 'edited' : 'pristine', editedFiles: edited.sort() };
}

/** A checkout's changed tracked files; null where git could not be asked. What an editable install rewrites itself is no edit. */
export function againstGit(changed: string[] | null): TreeState {
  if (changed === null) return unknown;
  const editedFiles = changed.filter((path) => !/(^|\/)[^/]+\.egg-info\//.test(path));
  return { state: editedFiles.length > 0 ? 'edited' : 'pristine', editedFiles };
}

/** Paths of `git diff --numstat`: added, removed, path; a rename as `{old => new}`. */
export const numstatPaths = (lines: string[]): string[] =>
  lines
    .flatMap((line) => {
      const path = /^(?:\d+|-)\t(?:\d+|-)\t(.+)$/.exec(line)?.[1];
      return path === undefined ? [] : [path.replace(/\{?[^{]* => ([^}]*)\}?/, '$1')];
    })
    .sort();

/** Message of each stash entry, newest first, from the lines of `logs/refs/stash`. */
export const stashMessages = (lines: string[]): string[] =>
  lines.map((line) => line.slice(line.indexOf('\t') + 1)).toReversed();

/** Commit of each stash entry, newest first, from the same lines: `OLD NEW name <mail> time zone\tmessage`. */
export const stashCommits = (lines: string[]): string[] =>
  lines.map((line) => /^[0-9a-f]{40,64} ([0-9a-f]{40,64}) /.exec(line)?.[1] ?? '').toReversed();

/** Paths that the lines of `git diff --summary` say were created, or deleted, since HEAD. */
export function summaryPaths(lines: string[], what: 'create' | 'delete'): string[] {
  const form = new RegExp(`^ ${what} mode \\d+ (.+)$`);
  return lines.flatMap((line) => form.exec(line)?.[1] ?? []);
}

/** What `git ls-files --unmerged` lists: path to its stages. 1 the common version, 2 that of HEAD, 3 the other. */
export function unmergedStages(lines: string[]): Map<string, string> {
  const stages = new Map<string, string>();
  for (const line of lines) {
    const [, stage, path = ''] = /^\d+ [0-9a-f]+ ([123])\t(.+)$/.exec(line) ?? [];
    if (stage !== undefined) stages.set(path, `${stages.get(path) ?? ''}${stage}`);
  }
  return stages;
}
