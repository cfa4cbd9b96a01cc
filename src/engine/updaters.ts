import { parseEngineArgv, redactArgv } from './argv.ts';
import type { Gathered } from './gather.ts';
import { clockOf } from './processes.ts';
import { rawProcesses } from './raw-processes.ts';
import type { Home, Install } from './schema.ts';

/**
 * Updaters of this install that run and hold no lock file (releases up to 0.19 take none), in the form of a lock: `path` is the
 * command line. One whose process already stands in `locks` is not told twice.
 */
export function updatersOf(gathered: Gathered, install: Install | null, locks: Home['locks']): Home['locks'] {
  if (install === null) return [];
  const clock = clockOf(gathered);
  const index = (gathered.records.get('install') ?? []).find(([, root]) => root === install.root)?.[0];
  return rawProcesses(gathered, clock)
    .filter((raw) => raw.install === index && parseEngineArgv(raw.argv).command === 'update')
    .filter(({ pid }) => !locks.some((lock) => lock.kind === 'engine-update' && lock.pid === pid))
    .map(({ pid, argv, startMs }) => ({
      path: redactArgv(argv).join(' ').slice(0, 300),
      kind: 'engine-update' as const,
      pid,
      alive: true,
      ageMs: startMs === null ? null : Math.max(0, Math.round(clock.nowMs - startMs)),
    }));
}
