import type { RawInstall } from './raw-install.ts';
import { stringConstant } from './structure.ts';
import type { FoundLine, TreeFacts } from './tree-facts.ts';
import { compareVersions, parseVersion } from './version.ts';

export interface Distribution {
  folder: string;
  installer: string | null;
  editable: boolean;
  name: string | null;
  version: string | null;
}

/** A file that says which version the tree is. */
export interface VersionClaim {
  /** Relative to the install root where it lies in it. */
  file: string;
  version: string;
}

/** The distribution that the tree belongs to: in the tree before beside it, then the newer one. */
export function mainDist(raw: RawInstall, tree: TreeFacts): Distribution | null {
  const inTree = (folder: string): number => Number(folder.startsWith(`${raw.root}/`));
  const found = distributions(raw, tree).sort(
    (a, b) => inTree(b.folder) - inTree(a.folder) || newerFirst(a.version, b.version),
  );
  return found[0] ?? null;
}

const distributions = (raw: RawInstall, tree: TreeFacts): Distribution[] =>
  raw.dists.map((dist) => {
    const lines = tree.meta.filter(({ file }) => file === `${dist.folder}/METADATA`);
    return { ...dist, name: header(lines, 'Name'), version: header(lines, 'Version') };
  });

function newerFirst(a: string | null, b: string | null): number {
  const [left, right] = [parseVersion(a), parseVersion(b)];
  if (left && right) return compareVersions(right, left);
  return Number(right !== null) - Number(left !== null);
}

/**
 * What its files say, the one to believe first: the literal that the engine reports itself, then (0.22 computes its
 * version) the metadata of what is installed, which for a checkout is its pyproject.toml.
 */
export function versionClaims(raw: RawInstall, tree: TreeFacts, main: Distribution | null): VersionClaim[] {
  const literal = constantOf(raw.code, '__version__');
  const project = tree.meta.filter(({ file }) => file === `${raw.root}/pyproject.toml`);
  const projectVersion = project
    .map(({ text }) => stringConstant('version', text))
    .find((value) => value !== null);
  const dists = [main, ...distributions(raw, tree).filter(({ folder }) => folder !== main?.folder)];
  const claims = [
    { file: 'hermes_cli/__init__.py', version: literal },
    { file: 'pyproject.toml', version: projectVersion ?? null },
    ...dists.map((dist) => ({
      file: dist === null ? '' : relativeTo(raw.root, `${dist.folder}/METADATA`),
      version: dist?.version ?? null,
    })),
  ];
  return claims.filter((claim): claim is VersionClaim => claim.version !== null);
}

/** Value of a top-level `NAME = "text"` in `hermes_cli/__init__.py`. */
export function constantOf(code: FoundLine[], name: string): string | null {
  for (const { file, text } of code) {
    if (!file.endsWith('/hermes_cli/__init__.py')) continue;
    const value = stringConstant(name, text);
    if (value !== null) return value;
  }
  return null;
}

function header(lines: FoundLine[], name: string): string | null {
  const line = lines.find(({ text }) => text.startsWith(`${name}: `));
  return (
    line?.text
      .slice(name.length + 2)
      .trim()
      .slice(0, 100) ?? null
  );
}

const relativeTo = (root: string, path: string): string =>
  path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
