import type { Release } from './types.ts';

const number = (version: string): number => {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return major * 1e6 + minor * 1e3 + patch;
};

/** Whether the release is this version or a later one; `.postN` does not count. */
export const since = (release: Release, version: string): boolean =>
  number(release.version) >= number(version);
