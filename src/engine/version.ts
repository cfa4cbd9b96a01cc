/** A version as Python packages write it (PEP 440), parsed whole. */
export interface PyVersion {
  /** As it was given, without surrounding blanks. */
  text: string;
  epoch: number;
  /** `0.22.2` is [0, 22, 2]. */
  release: number[];
  pre: { kind: 'a' | 'b' | 'rc'; number: number } | null;
  post: number | null;
  dev: number | null;
  /** After the plus sign, in lower case, its parts separated by dots. */
  local: string | null;
}

const n = String.raw`\d{1,9}`;
const pattern = new RegExp(
  String.raw`^v?(?:(?<epoch>${n})!)?(?<release>${n}(?:\.${n}){0,15})` +
    String.raw`(?:[-_.]?(?<pre>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?<preNumber>${n})?)?` +
    String.raw`(?:-(?<dash>${n})|[-_.]?(?<post>post|rev|r)[-_.]?(?<postNumber>${n})?)?` +
    String.raw`(?:[-_.]?(?<dev>dev)[-_.]?(?<devNumber>${n})?)?` +
    String.raw`(?:\+(?<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?$`,
);

/** null for what is not a version from its first to its last character. */
export function parseVersion(given: unknown): PyVersion | null {
  if (typeof given !== 'string' || given.length > 200) return null;
  const text = given.trim();
  const found = pattern.exec(text.toLowerCase())?.groups;
  if (!found) return null;
  const part = (name: string): string | undefined => found[name];
  const counted = (word: string | undefined, number: string | undefined): number | null =>
    word === undefined ? null : Number(number ?? 0);
  return {
    text,
    epoch: Number(part('epoch') ?? 0),
    release: (part('release') ?? '').split('.').map(Number),
    pre: preRelease(part('pre'), part('preNumber')),
    post: counted(part('dash') ?? part('post'), part('dash') ?? part('postNumber')),
    dev: counted(part('dev'), part('devNumber')),
    local: part('local')?.replaceAll(/[-_]/g, '.') ?? null,
  };
}

function preRelease(word: string | undefined, number: string | undefined): PyVersion['pre'] {
  if (word === undefined) return null;
  const kind = word.startsWith('a') ? 'a' : word.startsWith('b') ? 'b' : 'rc';
  return { kind, number: Number(number ?? 0) };
}

/** Order of PEP 440: below zero when a is older. A local part makes a version newer than the same without one. */
export function compareVersions(a: PyVersion, b: PyVersion): number {
  const left = sortKey(a);
  const right = sortKey(b);
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return compareLocal(a.local, b.local);
}

function sortKey(v: PyVersion): number[] {
  const release = [...v.release, ...Array<number>(16).fill(0)].slice(0, 16);
  const kinds = { a: 1, b: 2, rc: 3 };
  // A bare development release comes before its own pre-releases, a final one after them.
  const pre = v.pre ? kinds[v.pre.kind] : v.post === null && v.dev !== null ? 0 : 4;
  return [v.epoch, ...release, pre, v.pre?.number ?? 0, v.post ?? -1, v.dev ?? Number.MAX_SAFE_INTEGER];
}

function compareLocal(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  const left = a.split('.');
  const right = b.split('.');
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const [x = '', y = ''] = [left[i], right[i]];
    const numbers = [x, y].map((part) => (/^\d+$/.test(part) ? Number(part) : null));
    const [p = null, q = null] = numbers;
    if (p !== null && q !== null && p !== q) return p - q;
    if ((p === null) !== (q === null)) return p === null ? -1 : 1;
    if (p === null && x !== y) return x < y ? -1 : 1;
  }
  return left.length - right.length;
}

/** Do two claims about one tree disagree? `0.20.1` and `0.20.1.2` do not: forks count on after upstream's number. */
export function disagree(a: string, b: string): boolean {
  const [left, right] = [parseVersion(a), parseVersion(b)];
  if (!left || !right) return false;
  const shared = Math.min(left.release.length, right.release.length);
  return left.release.slice(0, shared).some((part, i) => part !== right.release[i]);
}
