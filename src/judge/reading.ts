import type { EngineProcess, Home, Install } from '../engine/schema.ts';
import type { HttpFact, WsFact } from '../probe/exchange-schema.ts';
import type { Facts } from '../probe/schema.ts';
import type { PyVersion } from '../engine/version.ts';
import { parseVersion } from '../engine/version.ts';

/** Facts with the look-ups that every check needs. Nothing here is judged. */
export interface Reading {
  facts: Facts;
  /** Name of the client that is judged, for the commands of remedies. */
  client: string;
  /** The install whose disk facts apply: of the serving process, or of the target when no dashboard runs. */
  install: Install | null;
  /** The process that serves the dashboard. */
  process: EngineProcess | null;
  /** The home that belongs to that install or process. */
  home: Home | null;
  version: PyVersion | null;
  versionText: string | null;
  gated: boolean;
  /** Disk can be read: a local or ssh target. */
  hasDisk: boolean;
  http(id: string): HttpFact | null;
  ws(id: string): WsFact | null;
}

const belongsTo = (home: Home | null, process: EngineProcess | null): Home | null => {
  if (home === null || process === null || process.hermesHome === null) return home;
  return [home.path, home.root].includes(process.hermesHome) ? home : null;
};

/** With a dashboard only the install of its own process counts; without one, the install that the target means. */
function installOf(facts: Facts, process: EngineProcess | null): Install | null {
  const { service, host, installs } = facts;
  const id = service === null ? host?.chosen?.install : (service.install ?? process?.install ?? null);
  if (id === undefined) return installs[0] ?? null;
  return installs.find((each) => each.id === id) ?? null;
}

const ran = <T extends { id: string; outcome: string }>(probes: readonly T[], id: string): T | null =>
  probes.find((each) => each.id === id && each.outcome !== 'skipped') ?? null;

/** Newer gateways take a ticket only as a subprotocol, which is tried after the query: the one that opened counts. */
function mainUpgrade(facts: Facts): WsFact | null {
  const second = ran(facts.ws, 'subprotocol');
  return second?.outcome === 'open' ? second : ran(facts.ws, 'main');
}

/** A checkout without tags says "unknown" (0.22): then its files know better. */
function versionOf({ status }: Facts, install: Install | null): string | null {
  const names = [status?.version ?? null, install?.version ?? null].filter((text) => text !== null);
  return names.find((text) => parseVersion(text) !== null) ?? names[0] ?? null;
}

export function read(facts: Facts, client: string): Reading {
  const { service } = facts;
  const process = facts.processes.find((each) => service !== null && each.pid === service.pid) ?? null;
  const install = installOf(facts, process);
  const versionText = versionOf(facts, install);
  return {
    facts,
    client,
    install,
    process,
    home: belongsTo(facts.host?.home ?? null, process),
    version: parseVersion(versionText),
    versionText,
    gated: facts.status?.authRequired === true,
    hasDisk: facts.target.kind !== 'http',
    http: (name) => ran(facts.http, name),
    ws: (name) => (name === 'main' ? mainUpgrade(facts) : ran(facts.ws, name)),
  };
}
