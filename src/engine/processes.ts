import { type EngineCommand, parseEngineArgv, redactArgv } from './argv.ts';
import { type HostClock, hostClock } from './clock.ts';
import { type Gathered, linesOf, record, recordsOf } from './gather.ts';
import { activeProfile } from './homes.ts';
import { userName } from './installs.ts';
import { type LedgerEntry, parseLedger, readyPort } from './ledger.ts';
import { ownerOf } from './process-owner.ts';
import { type Bound, boundPorts, type RawProcess, rawProcesses } from './raw-processes.ts';
import { processHome } from './resolve-home.ts';
import type { EngineProcess, Install } from './schema.ts';
import { type FileFacts, treeFacts } from './tree-facts.ts';

interface Seen {
  gathered: Gathered;
  clock: HostClock;
  bound: Map<number, Bound[]>;
  ledger: LedgerEntry[];
  files: Map<string, FileFacts>;
  ownedPids: readonly number[];
}

/** The clock of the host, for ages and start times. */
export function clockOf(gathered: Gathered): HostClock {
  const [now = '', uptime = '', boot = ''] = record(gathered, 'clock');
  return hostClock(now, uptime, boot);
}

/** Dashboards, headless servers and gateways that run on the host. */
export function processesOf(
  gathered: Gathered,
  installs: readonly Install[],
  ownedPids: readonly number[],
): EngineProcess[] {
  const seen: Seen = {
    gathered,
    clock: clockOf(gathered),
    bound: boundPorts(gathered),
    ledger: [...gathered.sections].flatMap(([name, text]) =>
      name.startsWith('ledger.') ? parseLedger(text) : [],
    ),
    files: treeFacts(gathered).stats,
    ownedPids,
  };
  const roots = new Map(
    (gathered.records.get('install') ?? []).map(([index = '', root = '']) => [index, root]),
  );
  return rawProcesses(gathered, seen.clock).flatMap((raw) => {
    const { command, ...words } = parseEngineArgv(raw.argv);
    if (command === 'other' || command === 'update') return [];
    const install = installs.find(({ root }) => root === roots.get(raw.install)) ?? null;
    return [processOf(raw, { ...words, command }, install, seen)];
  });
}

function processOf(
  raw: RawProcess,
  command: EngineCommand & Pick<EngineProcess, 'command'>,
  install: Install | null,
  seen: Seen,
): EngineProcess {
  const { gathered } = seen;
  const entry = ledgerEntry(raw, seen.ledger);
  const [, groups = '', parents = ''] = recordsOf(gathered, 'owner', String(raw.pid))[0] ?? [];
  const env = (name: string): string | null => raw.env(name)?.[0] ?? null;
  return {
    pid: raw.pid,
    startedAt: raw.startMs === null ? null : new Date(raw.startMs).toISOString(),
    startTicks: raw.ticks,
    uid: raw.uid,
    user: raw.uid === null ? null : userName(gathered, raw.uid),
    install: install?.id ?? null,
    interpreter: raw.interpreter,
    command: command.command,
    argv: redactArgv(raw.argv),
    ...addressOf(raw, command, entry, seen.bound.get(raw.pid) ?? null),
    hermesHome: homeOfProcess(raw, command, install, gathered) ?? entry?.hermesHome ?? null,
    profile: profileOf(command) ?? entry?.profile ?? null,
    env: {
      tui: env('HERMES_DASHBOARD_TUI'),
      webDist: env('HERMES_WEB_DIST'),
      sessionToken: env('token') || null,
      readable: env('readable') === 'yes',
    },
    newerFiles: newerFiles(raw, install, seen),
    owner: ownerOf({
      pid: raw.pid,
      ownedPids: seen.ownedPids,
      groups,
      ownGroups: record(gathered, 'own-group')[0] ?? '',
      parents: raw.ppid === null ? parents : `${raw.ppid}:`,
      jobs: linesOf(gathered, 'launchctl'),
    }),
    source: 'process-table',
  };
}

/** From 0.17 on a dashboard of a profile runs as `-p default … --open-profile NAME`. */
const profileOf = ({ profile, openProfile }: EngineCommand): string | null =>
  openProfile ?? (profile === 'default' ? null : profile);

function homeOfProcess(
  raw: RawProcess,
  command: EngineCommand,
  install: Install | null,
  gathered: Gathered,
): string | null {
  const [home, defaultHome = ''] = raw.env('home') ?? [];
  if (home === undefined) return null;
  return processHome({
    home,
    defaultHome,
    command,
    serves: install?.profileServesFrom ?? 'unknown',
    sticky: (root) => activeProfile(gathered, root),
  });
}

/** Entry of the spawn ledger for this very process: a pid alone may have been used again. */
function ledgerEntry(raw: RawProcess, ledger: LedgerEntry[]): LedgerEntry | null {
  return (
    ledger.find(
      ({ pid, createTime }) =>
        pid === raw.pid &&
        (createTime === null || raw.startMs === null || Math.abs(createTime * 1000 - raw.startMs) < 2000),
    ) ?? null
  );
}

/** Where it really listens; before it does, or where its sockets cannot be seen, what it was told. */
function addressOf(
  raw: RawProcess,
  command: EngineCommand,
  entry: LedgerEntry | null,
  bound: Bound[] | null,
): Pick<EngineProcess, 'bind' | 'port'> {
  const server = command.command !== 'gateway';
  const told = command.port ?? (server ? 9119 : null);
  const said = [told, readyPort(raw.env('ready')?.[0] ?? ''), entry?.port ?? null];
  const real = said
    .map((port) => bound?.find((each) => each.port === port))
    .find((each) => each !== undefined);
  const only = bound?.length === 1 ? bound[0] : undefined;
  const listening = real ?? (told === 0 || !server ? only : undefined);
  if (listening) return { bind: listening.address, port: listening.port };
  return {
    bind: command.host ?? entry?.host ?? (server ? '127.0.0.1' : null),
    port: said.find((port) => port !== null && port !== 0) ?? null,
  };
}

/** Files of its tree that changed after it had started; RECORD, which every installation writes anew; the log of a checkout's head. */
function newerFiles(raw: RawProcess, install: Install | null, seen: Seen): string[] {
  const { startMs } = raw;
  if (install === null || startMs === null) return [];
  return [...seen.files].flatMap(([path, { mtimeMs }]) => {
    const relevant = path.startsWith(`${install.root}/`) && /\.py$|\/RECORD$|\/\.git\/logs\/HEAD$/.test(path);
    return relevant && mtimeMs > startMs + seen.clock.toleranceMs
      ? [path.slice(install.root.length + 1)]
      : [];
  });
}
