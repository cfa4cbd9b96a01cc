import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { locate } from '../src/engine/locate.ts';
import type { Install } from '../src/engine/schema.ts';
import { localHost } from '../src/host/local.ts';
import type { Host } from '../src/host/types.ts';
import { examine } from '../src/lifecycle/examine.ts';
import { startScratch, type Scratch } from '../src/live/scratch.ts';
import { runSuite } from '../src/live/suite.ts';
import { loadCatalogue } from '../src/patch/catalogue.ts';
import { engineNeeds, treeOf } from '../src/patch/engine-needs.ts';
import { statusOf } from '../src/patch/status.ts';
import { readWorld } from '../src/patch/world.ts';
import type { LogRecord } from '../src/turn/index.ts';
import { anchorsOf } from './anchors.ts';
import type { KnownEngine } from './known.ts';

/** Turns that make a gateway say most of what it can: text, thoughts, tools, a refusal of the provider. */
const spoken = ['plain', 'reasoning', 'tools', 'fail-then-success'];

const path = '/usr/local/bin:/usr/bin:/bin';

/**
 * Looks at one engine as the program does: its source on disk, then started with a home of its own and a scripted model. `at` is a
 * checkout, an environment or an install root; nothing is written there.
 */
export async function lookAt(
  at: string,
  folder: string,
  webDist: string | null,
): Promise<{ known: KnownEngine; notes: string[] }> {
  const host = localHost({ path, home: folder, platform: process.platform });
  const home = join(folder, 'empty-home');
  await mkdir(home);
  const located = await locate(host, {
    path: at,
    home,
    profile: null,
    env: {},
    port: null,
    timeoutMs: 300_000,
  });
  const install = located.installs.find(({ id }) => id === located.host.chosen?.install);
  if (install === undefined) throw new Error(`no Hermes install was found in ${at}`);
  const notes: string[] = [];
  const known: KnownEngine = {
    version: install.version ?? 'unknown',
    generation: install.generation ?? 'unknown',
    contract: { source: contractText(install), rpc: null },
    ...(await readOnDisk(host, located.host.home, install)),
    status: null,
    events: null,
  };
  const options = { path, tmp: folder, webDist };
  try {
    const scratch = await startScratch(host, install, new AbortController().signal, options);
    try {
      Object.assign(known, await listen(scratch, known, notes));
    } finally {
      await scratch.stop(false);
    }
  } catch (error) {
    notes.push(error instanceof Error ? error.message : String(error));
  }
  return { known, notes };
}

const contractText = ({ contract }: Install): string | null =>
  contract.state === 'none' ? null : (contract.raw ?? 'unreadable');

type OnDisk = Pick<KnownEngine, 'anchors' | 'structure'>;

async function readOnDisk(
  host: Host,
  home: Awaited<ReturnType<typeof locate>>['host']['home'],
  install: Install,
): Promise<OnDisk> {
  if (home === null) throw new Error('the throw-away home could not be read');
  const catalogue = await loadCatalogue();
  const target = { kind: 'local' as const, name: install.id, url: null };
  const world = await readWorld(host, { target, home, install }, catalogue);
  const [{ patches }, needs, anchors] = await Promise.all([
    statusOf(world, catalogue),
    engineNeeds(catalogue, treeOf(world, null)),
    anchorsOf(install.packageDir, catalogue),
  ]);
  const structure = {
    ...Object.fromEntries(patches.map(({ id, state }) => [`patch ${id}`, state])),
    overlay: needs.unknown === null ? 'is mounted' : 'unknown',
    'plugins.enabled': needs.enabling ? 'is needed' : 'is not needed',
    chat: install.chatAssignment,
    'profiles serve from': install.profileServesFrom ?? 'unknown',
  };
  return { anchors, structure };
}

type Heard = Pick<KnownEngine, 'status' | 'events' | 'contract'>;

async function listen(scratch: Scratch, { contract }: KnownEngine, notes: string[]): Promise<Heard> {
  const signal = new AbortController().signal;
  const { way } = scratch;
  const token = way.used.kind === 'token' ? way.used.token : null;
  const { facts } = await examine({
    target: { kind: 'http', name: way.url, url: way.url },
    refinements: { url: null, port: null, home: null, profile: null, origin: null, mode: 'auto' },
    credential:
      token === null
        ? null
        : { kind: 'token', source: 'env', secret: token, username: null, fingerprint: '' },
    openHost: () => Promise.reject(new Error('not needed')),
    env: {},
    client: 'hermes-desktop',
    needs: {
      sessionMessages: true,
      modelOptions: true,
      modelLibrary: true,
      modelSet: true,
      asset: false,
      contract: true,
      sessionProbe: 'always',
      console: false,
    },
    patience: 'cold',
    timeoutMs: null,
    connection: {},
    signal,
    started: null,
  });
  const status = facts.http.find(({ id }) => id === 'status')?.body?.keys ?? null;
  const rpc = facts.contract.from === 'rpc' ? (facts.contract.raw ?? String(facts.contract.value)) : null;
  const log: LogRecord[] = [];
  const results = await runSuite({
    way,
    provider: scratch.provider,
    files: scratch.files,
    version: facts.status?.version ?? null,
    only: spoken,
    signal,
    keep: false,
    onRecord: (_scenario, record) => void log.push(record),
  });
  for (const { id, status: ended, why } of results)
    if (ended === 'error') notes.push(`turn ${id} did not end: ${why ?? ''}`);
  const events = eventsOf(log);
  return {
    status: status?.toSorted() ?? null,
    contract: { ...contract, rpc },
    events: Object.keys(events).length === 0 ? null : events,
  };
}

/** Payload names by event type; a request of the server counts as an event by its method. */
export function eventsOf(log: readonly LogRecord[]): Record<string, string[]> {
  const seen = new Map<string, Set<string>>();
  for (const { dir, frame } of log) {
    if (dir !== 'in' || typeof frame !== 'object' || frame === null) continue;
    const [method, params] = [member(frame, 'method'), member(frame, 'params')];
    if (typeof method !== 'string') continue;
    const type = member(params, 'type');
    const isEvent = method === 'event' && typeof type === 'string';
    const name = isEvent ? type : `request ${method}`;
    const keys = seen.get(name) ?? new Set<string>();
    seen.set(name, keys);
    const payload = isEvent ? member(params, 'payload') : params;
    if (typeof payload === 'object' && payload !== null)
      for (const key of Object.keys(payload)) keys.add(key);
  }
  return Object.fromEntries(
    [...seen].toSorted(([a], [b]) => a.localeCompare(b)).map(([name, keys]) => [name, [...keys].toSorted()]),
  );
}

const member = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? Reflect.get(value, key)
    : undefined;
