import { execFile } from 'node:child_process';
import { access, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const wanted = 'ansible-core>=2.16,<2.20';

/** Folder of the programs of a real ansible-core, installed once into the cache; null, with the reason printed, where it cannot be. */
export async function ansibleBin(): Promise<string | null> {
  const cache =
    process.env['HERMES_COMPAT_CACHE'] ??
    join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'hermes-compat');
  const dir = join(cache, 'tools', 'ansible-core');
  const bin = join(dir, 'bin');
  const works = (): Promise<unknown> => run(join(bin, 'ansible-playbook'), ['--version']);
  try {
    await access(join(bin, 'ansible-playbook'));
    await works();
    return bin;
  } catch {
    // Not there yet, or half an installation.
  }
  try {
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    await run('python3', ['-m', 'venv', dir], { timeout: 120_000 });
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', wanted];
    await run(join(bin, 'python'), pip, { timeout: 300_000 });
    await works();
    return bin;
  } catch (cause) {
    if (process.env['HERMES_COMPAT_REQUIRE_ENGINES'] === '1')
      throw new Error('ansible-core is required here', { cause });
    console.warn(`ansible-core skipped: ${cause instanceof Error ? cause.message : String(cause)}`);
    return null;
  }
}
