import { type Gathered, record } from './gather.ts';
import type { EngineProcess, HostFacts, Install } from './schema.ts';

type Chosen = NonNullable<HostFacts['chosen']>;

/**
 * The install that a target means: of the process that serves the asked port; the named one; the one that runs the
 * dashboard of the home; the home's own checkout; the first on PATH; any. A port that something else serves has none,
 * nor has a named path where no install is.
 */
export function chooseInstall(
  seen: {
    gathered: Gathered;
    installs: readonly Install[];
    processes: readonly EngineProcess[];
    listener: HostFacts['listener'];
  },
  homes: readonly string[],
): Chosen {
  const { installs, processes, listener } = seen;
  if (listener) {
    const process = processes.find(({ pid }) => pid === listener.pid);
    return process ? { install: process.install, why: 'port' } : { install: null, why: 'port-not-ours' };
  }
  const [named = 'none', index = ''] = record(seen.gathered, 'named');
  if (named !== 'none' && named !== 'home') {
    const install = idAt(seen, index);
    return { install, why: install === null ? 'none' : 'named' };
  }
  const running = processes
    .filter(
      ({ hermesHome, install }) => install !== null && hermesHome !== null && homes.includes(hermesHome),
    )
    .sort((a, b) => rank(a) - rank(b))[0];
  if (running) return { install: running.install, why: 'dashboard-of-home' };
  const own = installs.find(({ root }) => homes.some((home) => root === `${home}/hermes-agent`));
  if (own) return { install: own.id, why: 'home' };
  const onPath = installs.find((install) => install.onPath);
  if (onPath) return { install: onPath.id, why: 'path' };
  return installs[0] ? { install: installs[0].id, why: 'first' } : { install: null, why: 'none' };
}

/** Dashboards before gateways, 9119 before other ports. */
const rank = ({ command, port }: EngineProcess): number =>
  (command === 'gateway' ? 100_000 : 0) + (port === 9119 ? 0 : (port ?? 70_000));

function idAt(seen: { gathered: Gathered; installs: readonly Install[] }, index: string): string | null {
  const root = (seen.gathered.records.get('install') ?? []).find(([number]) => number === index)?.[1];
  return seen.installs.find((install) => install.root === root)?.id ?? null;
}
