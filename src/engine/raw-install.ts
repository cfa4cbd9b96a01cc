import { type Gathered, recordsOf } from './gather.ts';
import type { FoundLine, TreeFacts } from './tree-facts.ts';

/** One install as the script's records have it. */
export interface RawInstall {
  /** Its number in the records. */
  index: string;
  root: string;
  /** Path of its interpreter; empty when none was found. */
  python: string;
  /** Its virtual environment or installation prefix; empty when unknown. */
  prefix: string;
  flag: (name: string) => string | null;
  flags: (name: string) => string[];
  dists: { folder: string; installer: string | null; editable: boolean }[];
  /** Lines of its code files that the script picked. */
  code: FoundLine[];
}

export function rawInstall(gathered: Gathered, tree: TreeFacts, fields: string[]): RawInstall {
  const [index = '', root = '', python = '', prefix = ''] = fields;
  const known = recordsOf(gathered, 'flag', index);
  const flags = (name: string): string[] =>
    known.flatMap(([key, value]) => (key === name && value ? [value] : []));
  return {
    index,
    root,
    python,
    prefix,
    flags,
    flag: (name) => flags(name)[0] ?? null,
    dists: recordsOf(gathered, 'dist', index).map(([folder = '', installer = '', editable]) => ({
      folder,
      installer: installer.trim().toLowerCase() || null,
      editable: editable === 'yes',
    })),
    code: tree.code.filter(({ file }) => file.startsWith(`${root}/`)),
  };
}

export const unique = (values: string[]): string[] => [...new Set(values)];
