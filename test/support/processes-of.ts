import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Processes of this throw-away folder, by their command line or by where they work: nobody else's can be. */
export function pidsOf(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        const words = readFileSync(`/proc/${name}/cmdline`, 'utf8');
        return (
          words.includes(`${folder}/`) || `${readlinkSync(`/proc/${name}/cwd`)}/`.startsWith(`${folder}/`)
        );
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** What runs behind a command that has ended, as a git hook does, is still writing: waits until all of it has ended. */
export async function untilLeft(folder: string): Promise<void> {
  for (const end = Date.now() + 90_000; Date.now() < end; await sleep(50)) {
    if (pidsOf(folder).length === 0) return;
  }
  const left = pidsOf(folder).map((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    } catch {
      return `${pid}`;
    }
  });
  throw new Error(`still at work in ${folder}: ${left.join('; ')}`);
}
