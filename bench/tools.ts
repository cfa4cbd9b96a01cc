import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ansibleBin } from '../test/support/ansible.ts';

const run = promisify(execFile);

/** A Python with websocket-client, in the environment of our ansible-core; null, with the reason printed, where it cannot be. */
export async function benchPython(): Promise<string | null> {
  const bin = await ansibleBin();
  if (bin === null) return null;
  const python = join(bin, 'python');
  try {
    await access('/usr/bin/curl');
    const has = await run(python, ['-c', 'import websocket']).catch(() => null);
    if (has === null)
      await run(python, ['-m', 'pip', 'install', '--quiet', 'websocket-client'], { timeout: 120_000 });
    return python;
  } catch (error) {
    console.warn(`without the script of curl and websocket-client: ${String(error)}`);
    return null;
  }
}
