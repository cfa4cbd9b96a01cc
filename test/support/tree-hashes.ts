import { createHash } from 'node:crypto';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** What a running engine changes by itself: caches, logs, its database's side files, optional packages that it installs. */
const itsOwn =
  /(^|\/)(__pycache__|logs|cache|state\.db.*|.*\.pyc|.*\.log|\.update_check|spawn-ledger\.json|provider_models_cache\.json|.*\.lock|dashboard_clients\.heartbeat|.*-wal|.*-shm)(\/|$)/;

const enginePackages = ['hermes_cli', 'tui_gateway', 'agent', 'gateway', 'tools', 'hermes_constants.py'];

/** sha256 by path of the engine's own files under site-packages, and of everything in a home that the engine does not churn. */
export async function treeHashes(sitePackages: string, home: string): Promise<Map<string, string>> {
  const hashes = new Map<string, string>();
  for (const name of enginePackages) await collect(join(sitePackages, name), `engine:${name}`, hashes);
  await collect(home, 'home:', hashes);
  return hashes;
}

async function collect(path: string, label: string, into: Map<string, string>): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOTDIR' ? null : [],
  );
  if (entries === null) {
    into.set(
      label,
      createHash('sha256')
        .update(await readFile(path))
        .digest('hex'),
    );
    return;
  }
  for (const entry of entries) {
    const name = `${label}/${entry.name}`;
    if (itsOwn.test(name)) continue;
    if (entry.isDirectory()) await collect(join(path, entry.name), name, into);
    else if (entry.isSymbolicLink()) into.set(name, `-> ${await readlink(join(path, entry.name))}`);
    else if (entry.isFile())
      into.set(
        name,
        createHash('sha256')
          .update(await readFile(join(path, entry.name)))
          .digest('hex'),
      );
  }
}
