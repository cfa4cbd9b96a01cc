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
export function urlOfProcess(running: EngineProcess): string | null {
  if (running.port === null) return null;
  const bind = running.bind ?? '127.0.0.1';
  const host =
    bind === '::1' || bind === '::'
      ? '[::1]'
      : loopback.has(bind)
        ? '127.0.0.1'
        : bind.includes(':')
          ? `[${bind}]`
          : bind;
  return `http://${host}:${running.port}`;
}

/** The engine process behind a named URL, when that URL leads to a port of this host. */
export function processBehind(url: string, seen: Seen): EngineProcess | null {
  const { hostname, port, protocol } = new URL(url);
  if (protocol !== 'http:') return null;
  const wanted = port === '' ? 80 : Number(port);
  return (
    dashboards(seen).find((running) => {
      if (running.port !== wanted) return false;
      const bind = running.bind ?? '127.0.0.1';
      return loopback.has(hostname) || bind === hostname || `[${bind}]` === hostname;
    }) ?? null
  );
}

/**
 * The dashboard that a target without a URL means: the one of the target's home; when the target names an install instead, of
 * that install, its home first. 9119 comes first, then the lowest port. The others stay in `processes`.
 */
export function chooseDashboard(
  seen: Seen,
  installNamed: string | null,
  homeNamed: boolean,
): EngineProcess | null {
  const listening = dashboards(seen).filter((running) => running.port !== null);
  const mine =
    installNamed === null ? listening : listening.filter((running) => running.install === installNamed);
  const atHome = mine.filter((running) => isOfHome(running, seen));
  const candidates = atHome.length > 0 || installNamed === null || homeNamed ? atHome : mine;
  const rank = (running: EngineProcess): number => (running.port === 9119 ? 0 : (running.port ?? 0));
  return candidates.sort((a, b) => rank(a) - rank(b))[0] ?? null;
}

/** A process whose home this account may not see is taken only where the target has none either. */
function isOfHome(running: EngineProcess, { host: { home } }: Seen): boolean {
  if (home === null || running.hermesHome === null) return home === null && running.hermesHome === null;
  return running.hermesHome === home.path || running.hermesHome === home.root;
}

const dashboards = (seen: Seen): EngineProcess[] =>
  seen.processes.filter((running) => running.command === 'dashboard' || running.command === 'serve');
