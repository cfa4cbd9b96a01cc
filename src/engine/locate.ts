import type { Host } from '../host/types.ts';
import { chooseInstall } from './choose-install.ts';
import { type Gathered, gather, type LocateAsk, record } from './gather.ts';
import { activeProfile, homeOf } from './homes.ts';
import { installsOf } from './installs.ts';
import { listenerOf } from './listener.ts';
import { clockOf, processesOf } from './processes.ts';
import { effectiveHome, rootOf } from './resolve-home.ts';
import type { EngineProcess, Home, HostFacts, Install } from './schema.ts';
import { updatersOf } from './updaters.ts';

export type { LocateAsk } from './gather.ts';

/** What a host shows. `installs` begins with the chosen one. */
export interface Located {
  host: HostFacts;
  installs: Install[];
  processes: EngineProcess[];
}

/**
 * Finds installs, running engines and the home of a host, in one round and without running or writing anything of the engine.
 * What cannot be seen is said in `notes`, `looked` and `partial`; rejects only when the host cannot be reached.
 */
export async function locate(host: Host, ask: LocateAsk): Promise<Located> {
  const gathered = await gather(host, ask);
  // A named profile alias stands for its profile.
  const profile = ask.profile ?? (record(gathered, 'alias')[0] || null);
  const installs = installsOf(gathered);
  const processes = processesOf(gathered, installs, ask.ownedPids ?? []);
  const listener = listenerOf(gathered, processes, ask.port);
  const [base = '', root = '', from = 'default', defaultHome = ''] = record(gathered, 'home');
  const chosen = chooseInstall(
    { gathered, installs, processes, listener },
    homesOf(gathered, profile, base, root),
  );
  const install = installs.find(({ id }) => id === chosen.install) ?? null;
  const served = chosen.why === 'port' ? processes.find(({ pid }) => pid === listener?.pid) : undefined;
  const asked = {
    home: base,
    defaultHome,
    from: from as Home['from'],
    profile,
    sticky: activeProfile(gathered, root),
    serves: install?.profileServesFrom ?? ('unknown' as const),
  };
  const place = servedHome(served, ask, from, defaultHome) ?? effectiveHome(asked);
  const named = record(gathered, 'named')[0] ?? 'none';
  return {
    host: {
      ...(await machine(host, gathered)),
      home: base === '' ? null : withUpdaters(gathered, place, install),
      named: named === 'none' ? null : (named as HostFacts['named']),
      chosen,
      listener,
      looked: lookedAt(gathered),
      notes: [...gathered.notes, ...notesOf(gathered)],
      partial: gathered.partial,
    },
    installs: [...installs].sort((a, b) => Number(b.id === chosen.install) - Number(a.id === chosen.install)),
    processes,
  };
}

/** The home with its locks, and what updates its install without one. */
function withUpdaters(
  gathered: Gathered,
  place: Pick<Home, 'path' | 'root' | 'profile' | 'from'>,
  install: Install | null,
): Home {
  const home = homeOf(gathered, place, clockOf(gathered).nowMs);
  return { ...home, locks: [...home.locks, ...updatersOf(gathered, install, home.locks)] };
}

/** Homes whose running dashboard is meant when none is named: the target's, of a profile only where one was asked for. */
function homesOf(gathered: Gathered, profile: string | null, base: string, root: string): string[] {
  const name = profile ?? activeProfile(gathered, root);
  const own = name === null || name === 'default' ? [] : [`${root}/profiles/${name}`];
  return [...new Set([base, root, ...own])];
}

/** The home of the process that serves the asked port, unless the user named one. */
function servedHome(
  process: EngineProcess | undefined,
  ask: LocateAsk,
  from: string,
  defaultHome: string,
): Pick<Home, 'path' | 'root' | 'profile' | 'from'> | null {
  if (!process || process.hermesHome === null) return null;
  if (ask.home !== null || ask.profile !== null || from === 'target') return null;
  const { hermesHome: path, profile } = process;
  return { path, root: rootOf(path, defaultHome), profile, from: 'process' };
}

async function machine(
  host: Host,
  gathered: Gathered,
): Promise<Pick<HostFacts, 'name' | 'kind' | 'os' | 'user' | 'uid' | 'hostname' | 'container'>> {
  const [os, hostname = '', uid, user = '', container] = record(gathered, 'host');
  const known = os === undefined || uid === undefined ? await host.identity() : null;
  return {
    name: host.name,
    kind: host.kind,
    ...(known ?? { os: (os as string).toLowerCase(), hostname, uid: Number(uid), user }),
    container: container === 'yes',
  };
}

const lookedAt = (gathered: Gathered): HostFacts['looked'] =>
  (gathered.records.get('looked') ?? []).map(([place = '', found = '', why = '']) => ({
    place,
    found: found as HostFacts['looked'][number]['found'],
    why: why === '' ? null : why,
  }));

const notesOf = (gathered: Gathered): HostFacts['notes'] =>
  (gathered.records.get('note') ?? []).map(([code = '', text = '']) => ({ code, text }));
