/**
 * A version as Python packages and git tags write it (PEP 440): `v0.20.0`, `0.21.4.post1`, `0.19.0rc1`, `0.20.1.2+local`, `0.22.0.dev3`.
 * Parsed whole or not at all: garbage is null, never a guess.
 */
export interface Version {
  text: string;
  release: number[];
  /** Ordering among equal releases: dev < alpha < beta < rc < final < post. */
  rank: number;
  serial: number;
}

const shape =
  /^v?(\d{1,6}(?:\.\d{1,6}){0,5})(?:[-_.]?(a|b|c|rc|alpha|beta|pre|preview)[-_.]?(\d{0,6}))?(?:(?:[-_.]?(?:post|rev|r)[-_.]?(\d{0,6}))|-(\d{1,6}))?(?:[-_.]?dev[-_.]?(\d{0,6}))?(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?$/i;

const preRank: Record<string, number> = {
  a: -3,
  alpha: -3,
  b: -2,
  beta: -2,
  c: -1,
  rc: -1,
  pre: -1,
  preview: -1,
};

export function parseVersion(text: string | null): Version | null {
  if (text === null || text.length > 80) return null;
  const match = shape.exec(text.trim());
  if (match === null) return null;
  const [, release = '', pre, preSerial, post, barePost, dev] = match;
  const postSerial = post ?? barePost;
  const base = { text: text.trim(), release: release.split('.').map(Number) };
  if (pre !== undefined)
    return { ...base, rank: preRank[pre.toLowerCase()] ?? -1, serial: Number(preSerial || 0) };
  if (postSerial !== undefined) return { ...base, rank: 1, serial: Number(postSerial || 0) };
  if (dev !== undefined) return { ...base, rank: -4, serial: Number(dev || 0) };
  return { ...base, rank: 0, serial: 0 };
}

const compareReleases = (a: number[], b: number[]): number => {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
};

/** Whether this is the named release or a later one. A development or pre-release counts as its release: it has the code already. */
export const atLeast = (version: Version, release: string): boolean =>
  compareReleases(version.release, release.split('.').map(Number)) >= 0;

export const before = (version: Version, release: string): boolean => !atLeast(version, release);

export const compareVersions = (a: Version, b: Version): number =>
  compareReleases(a.release, b.release) || a.rank - b.rank || a.serial - b.serial;
