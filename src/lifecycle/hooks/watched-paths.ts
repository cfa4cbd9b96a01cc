import { createHash } from 'node:crypto';
import { hookFolder } from '../../engine/compat-places.ts';
import type { HookPlace } from './types.ts';

/** Files whose change means an update, an edit or a start. */
export function watchedPaths({ home, install }: HookPlace): string[] {
  const tree =
    install === null
      ? []
      : [
          `${install.packageDir}/web_server.py`,
          `${install.packageDir}/__init__.py`,
          ...(install.git === null ? [] : [`${install.root}/.git/logs/HEAD`]),
        ];
  return [...tree, `${hookFolder(home.root)}/due`];
}

/** Tells the hooks of several homes apart in places that they share. */
export const homeId = (root: string): string => createHash('sha256').update(root).digest('hex').slice(0, 8);
