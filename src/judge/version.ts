import type { PyVersion } from '../engine/version.ts';

/**
 * Whether this is the named release or a later one. Only the release numbers count: a pre-release of 0.16.0 has the code of 0.16.0
 * already, and a fork's `.postN` adds nothing to them.
 */
export function atLeast(version: PyVersion, release: string): boolean {
  const wanted = release.split('.').map(Number);
  for (let i = 0; i < Math.max(version.release.length, wanted.length); i++) {
    const difference = (version.release[i] ?? 0) - (wanted[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

export const before = (version: PyVersion, release: string): boolean => !atLeast(version, release);
