import { setTimeout as sleep } from 'node:timers/promises';
import type { Host } from '../host/types.ts';
import type { Report } from '../judge/schema.ts';
import type { Facts } from '../probe/schema.ts';
import { differences, fingerprint, isSame } from './fingerprint.ts';

/** One look of a watch: what was judged, and what had changed before it. */
export interface Look {
  report: Report;
  changed: string[];
}

/**
 * Looks again whenever files of the engine, its homes or its processes have changed, until the signal. The comparison costs one
 * script on the host and writes nothing.
 */
export async function watch(
  host: Host,
  look: () => Promise<{ facts: Facts; report: Report }>,
  tell: (look: Look) => Promise<void>,
  { everyMs, signal }: { everyMs: number; signal: AbortSignal },
): Promise<void> {
  const again = async (changed: string[]): Promise<Facts> => {
    const { facts, report } = await look();
    await tell({ report, changed });
    return facts;
  };
  let facts = await again([]);
  let before = await fingerprint(host, watchedIn(facts));
  while (!signal.aborted) {
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const now = await fingerprint(host, watchedIn(facts));
    if (isSame(before, now)) continue;
    facts = await again(differences(before, now));
    // What changed while we looked is seen by the next round.
    before = now;
  }
}

function watchedIn({ host, installs }: Facts): Parameters<typeof fingerprint>[1] {
  const home = host?.home ?? null;
  return {
    root: home?.root ?? '',
    homes: home === null ? [] : [...new Set([home.path, home.root])],
    // The first is the one in question; the others of this host are not.
    installs: installs.slice(0, 1).map(({ id }) => id),
  };
}
