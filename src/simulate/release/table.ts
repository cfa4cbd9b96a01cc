import { usageError } from '../../errors.ts';
import { v20, v21, v214, v222 } from './forks.ts';
import { v13, v14, v15, v16, v17, v18, v19 } from './packages.ts';
import type { Release } from './types.ts';

/** Every release that the stand-in can be, oldest first. */
export const releases: readonly Release[] = [v13, v14, v15, v16, v17, v18, v19, v20, v21, v214, v222];

/** Takes `0.21.4` for `0.21.4.post1`. @throws CompatError usage when there is no such release */
export const findRelease = (version: string): Release => {
  const found = releases.find((r) => r.version === version || r.version.startsWith(`${version}.post`));
  if (found === undefined) {
    const known = releases.map((release) => release.version).join(', ');
    throw usageError(`there is no release "${version.slice(0, 40)}" to simulate; there are ${known}`);
  }
  return found;
};
