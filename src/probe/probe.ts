import { askDashboard } from './dashboard.ts';
import { lookForFlapping } from './flapping.ts';
import { endRun, rounded, type Run, startRun } from './run.ts';
import type { Phases } from './exchange-schema.ts';
import type { ProbeFacts, ProbeInput, ProbeResult } from './types.ts';

/**
 * Gathers what a dashboard (or in legacy mode an API server) shows over the network. Judges nothing, writes nothing, sends nothing paid.
 * Never rejects for anything that a server does: every probe becomes a fact, also one that failed or did not run.
 */
export async function probe(input: ProbeInput): Promise<ProbeResult> {
  const run = await startRun(input);
  try {
    const ask = input.mode === 'legacy' ? (await import('./legacy.ts')).askApiServer : askDashboard;
    const { credential, access, rpc, contract, sessionList = null } = await ask(run);
    const flapping = await lookForFlapping(run);
    const facts: ProbeFacts = {
      credential,
      status: run.status,
      http: inOrder(run.http),
      ws: inOrder(run.ws),
      rpc,
      contract,
      sessionList,
      tls: run.tls,
      phases: overall(run),
      flapping,
    };
    return { facts: run.redact.deep(facts), used: access.used };
  } finally {
    endRun(run);
  }
}

/** As a person would ask, whoever answered first. */
const order = [
  'status',
  'status-root',
  'status-loopback-host',
  'api-server-health',
  'page',
  'asset',
  'health',
  'auth-providers',
  'login',
  'auth-me',
  'sessions-bare',
  'sessions',
  'session-messages',
  'model-options',
  'model-library',
  'openapi',
  'api-server-models-bare',
  'api-server-models',
  'ws-ticket',
  'ws-plain',
  'main',
  'subprotocol',
  'new-ticket',
  'no-origin',
  'loopback-host',
  'events',
  'console',
  'status-again',
];

const inOrder = <T extends { id: string }>(facts: readonly T[]): T[] =>
  facts.toSorted((a, b) => order.indexOf(a.id) - order.indexOf(b.id));

function overall(run: Run): Phases {
  const of = (ms: number | null | undefined): number | null =>
    ms === null || ms === undefined ? null : rounded(ms);
  const first = run.firstConnection;
  const main = run.ws.find(({ id }) => id === 'main')?.phases;
  return {
    dns: of(first?.dns),
    tcp: of(first?.tcp),
    tls: of(first?.tls),
    firstByte: run.http.find(({ id }) => id === 'status')?.phases.firstByte ?? null,
    upgrade: main?.upgrade ?? null,
    rpc: main?.rpc ?? null,
    total: rounded(performance.now() - run.startedAt),
  };
}
