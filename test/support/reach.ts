import { statSync } from 'node:fs';
import { mkdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { engineDir } from './engine-install.ts';

/** The shared engines and the Python that runs them. */
export async function enginePaths(version: string): Promise<string[]> {
  const venv = engineDir(version);
  return [dirname(venv), dirname(dirname(await realpath(join(venv, 'bin/python'))))];
}

const mounts = `set -e
stage=$1 shut=$2 count=$3; shift 3
n=0
for path; do
  if [ "$n" -ge "$count" ]; then break; fi
  mkdir -p "$stage/$n"; mount --bind "$path" "$stage/$n"; mount -o remount,bind,ro "$stage/$n"
  n=$((n + 1))
done
if [ -n "$shut" ]; then mount -t tmpfs -o mode=755 none "$shut"; fi
n=0
while [ "$n" -lt "$count" ]; do
  mkdir -p "$1"; mount --move "$stage/$n" "$1"; shift; n=$((n + 1))
done
exec "$@"`;

/**
 * Words before a command: it sees these folders read-only, and every account of it can, also where what is above them is shut to
 * others (the home of root, as a rule). Only for that command: it gets a mount namespace of its own.
 */
export async function reaching(paths: readonly string[], stage: string): Promise<string[]> {
  await mkdir(stage, { recursive: true });
  const shut = new Set(paths.map((path) => shutAbove(path)).filter((folder) => folder !== null));
  if (shut.size > 1) throw new Error(`more than one folder is shut to others: ${[...shut].join(', ')}`);
  const [folder = ''] = [...shut];
  const unshare = ['/usr/bin/unshare', '--mount', '--propagation', 'private'];
  return [...unshare, '/bin/sh', '-c', mounts, 'sh', stage, folder, String(paths.length), ...paths];
}

/** The highest folder above `path` that other accounts may not pass. */
function shutAbove(path: string): string | null {
  const parent = dirname(path);
  const above = parent === path ? null : shutAbove(parent);
  return above ?? ((statSync(path).mode & 0o001) === 0 ? path : null);
}
