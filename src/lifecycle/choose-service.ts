import type { EngineProcess, HostFacts, Install } from '../engine/schema.ts';
import type { Facts } from '../probe/schema.ts';

export type Service = NonNullable<Facts['service']>;

/** What `choose` looks at: the installs and processes of one host. */
export interface Seen {
  host: HostFacts;
  installs: readonly Install[];
  processes: readonly EngineProcess[];
}

const loopback = new Set(['127.0.0.1', 'localhost', '[::1]', '::1', '0.0.0.0', '::', '*']);

/** Base URL of a dashboard as its own host reaches it. */
export function urlOfProcess(process: EngineProcess): string | null {
  if (process.port === null) return null;
  const bind = process.bind ?? '127.0.0.1';
  const host =
    bind === '::1' || bind === '::'
      ? '[::1]'
      : loopback.has(bind)
        ? '127.0.0.1'
        : bind.includes(':')
          ? `[${bind}]`
          : bind;
  return `http://${host}:${process.port}`;
}

/** The engine process behind a named URL, when that URL leads to a port of this host. */
export function processBehind(url: string, seen: Seen): EngineProcess | null {
  const { hostname, port, protocol } = new URL(url);
  if (protocol !== 'http:') return null;
  const wanted = port === '' ? 80 : Number(port);
  return (
    dashboards(seen).find((process) => {
      if (process.port !== wanted) return false;
      const bind = process.bind ?? '127.0.0.1';
      return loopback.has(hostname) || bind === hostname || `[${bind}]` === hostname;
    }) ?? null
  );
}

/**
 * The dashboard that a target without a URL means: of the named install when a path named one, else the one of the target's
 * home; 9119 first, then the lowest port. The others stay in `processes`.
 */
export function chooseDashboard(seen: Seen, installNamed: string | null): EngineProcess | null {
  const { home } = seen.host;
  const candidates = dashboards(seen).filter((process) => {
    if (process.port === null) return false;
    if (installNamed !== null) return process.install === installNamed;
    if (home === null || process.hermesHome === null) return process.hermesHome === null;
    return process.hermesHome === home.path || process.hermesHome === home.root;
  });
  const rank = (process: EngineProcess): number => (process.port === 9119 ? 0 : (process.port ?? 0));
  return candidates.sort((a, b) => rank(a) - rank(b))[0] ?? null;
}

const dashboards = (seen: Seen): EngineProcess[] =>
  seen.processes.filter((process) => process.command === 'dashboard' || process.command === 'serve');
