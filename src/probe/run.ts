import { setMaxListeners } from 'node:events';
import type { Agent } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ContractOnDisk } from '../engine/schema.ts';
import { isLoopback, type Opened, open, type Route } from './connect.ts';
import { type Limit, limit } from './limit.ts';
import { createRedactor, type Redactor } from './redact.ts';
import type { HttpFact, Phases, WsFact } from './exchange-schema.ts';
import type { StatusFact, TlsFact } from './schema.ts';
import type { ProbeInput } from './types.ts';

/** One probing of one target: what all probes share. */
export interface Run {
  input: ProbeInput;
  redact: Redactor;
  route: Route;
  /** Ends with the overall limit or the person's interruption. */
  all: Limit;
  /** Milliseconds for one answer. */
  answerMs: number;
  /** The only origin that anything is sent to. */
  base: { secure: boolean; authority: string; prefix: string; loopback: boolean };
  agent: Agent;
  /** Waits for one of the few connections, and says how to give it back. The agent's own count misses those that are being opened. */
  slot: () => Promise<() => void>;
  /** What a stream of ours took to open. */
  opened: WeakMap<Duplex, Opened>;
  open(signal: AbortSignal): Promise<Opened>;
  /** The one that was opened while the status was asked, so that an upgrade need not wait for it; else a new one. */
  openForUpgrade(signal: AbortSignal): Promise<Opened>;
  spare: { opening: Promise<Opened | null>; at: number } | null;
  /** The same for node:http, so that a tunnel, a proxy and TLS are all the same to it. */
  createConnection(options: unknown, done: (error: Error | null, stream?: Duplex) => void): void;
  /** Never rejects. */
  contractOnDisk: Promise<ContractOnDisk | null>;
  // What was seen:
  http: HttpFact[];
  ws: WsFact[];
  status: StatusFact | null;
  tls: TlsFact | null;
  firstConnection: Pick<Opened, 'dns' | 'tcp' | 'tls'> | null;
  startedAt: number;
}

const patience = { normal: 15_000, cold: 90_000 };
const connectMs = 15_000;
/** Enough that a slow endpoint holds up nobody, few enough for a small server. */
const connections = 6;

export async function startRun(input: ProbeInput): Promise<Run> {
  const { Agent } = await import('node:http');
  const url = new URL(input.url);
  const answerMs = Math.min(patience[input.patience], input.timeoutMs ?? Number.POSITIVE_INFINITY);
  const route = routeOf(input, url, Math.min(connectMs, answerMs));
  const run: Run = {
    input,
    redact: redactorFor(input),
    route,
    all: limit(input.signal, overallMs(input)),
    answerMs,
    base: {
      secure: route.secure,
      authority: url.host,
      prefix: url.pathname.replaceAll(/\/{2,}/g, '/').replace(/\/$/, ''),
      loopback: isLoopback(route.host),
    },
    agent: new Agent({ keepAlive: true, scheduling: 'fifo' }),
    slot: slots(connections),
    opened: new WeakMap(),
    open: (signal) => openNoted(run, signal),
    openForUpgrade: async (signal) => (await takeSpare(run)) ?? run.open(signal),
    spare: null,
    createConnection: (_, done) => {
      run.open(run.all.signal).then(
        ({ stream }) => done(null, stream),
        (error: Error) => done(error),
      );
    },
    // From the start: nobody else would listen if it failed while the status is still asked.
    contractOnDisk: Promise.resolve(input.contractFromDisk ?? null).catch(() => null),
    http: [],
    ws: [],
    status: null,
    tls: null,
    firstConnection: null,
    startedAt: performance.now(),
  };
  // Every target of many listens to the one signal of the person.
  if (input.signal !== undefined) setMaxListeners(0, input.signal);
  setMaxListeners(0, run.all.signal);
  Object.assign(run.agent, { createConnection: run.createConnection });
  return run;
}

const longest = 2 ** 31 - 1;

const overallMs = ({ timeoutMs, holdSeconds = 0 }: ProbeInput): number =>
  Math.min(longest, (timeoutMs ?? longest) + holdSeconds * 1000);

async function openNoted(run: Run, signal: AbortSignal): Promise<Opened> {
  const opened = await open(run.route, signal);
  // One that waits for its use has nobody else to hear of its end.
  opened.stream.on('error', () => undefined);
  run.opened.set(opened.stream, opened);
  run.tls ??= opened.certificate;
  if (run.firstConnection !== null) return opened;
  run.firstConnection = opened;
  if (run.input.mode === 'legacy') return opened;
  // While the first answer is on its way there is time for what the upgrade will need.
  void import('ws');
  run.spare = { opening: run.open(run.all.signal).catch(() => null), at: performance.now() };
  return opened;
}

/** Servers close a connection on which nothing is asked; one that waited long is not tried. */
const freshMs = 3000;

async function takeSpare(run: Run): Promise<Opened | null> {
  const { spare } = run;
  run.spare = null;
  const opened = (await spare?.opening) ?? null;
  if (opened === null || spare === null) return null;
  if (!opened.stream.destroyed && performance.now() - spare.at < freshMs) return opened;
  opened.stream.destroy();
  return null;
}

/** Leaves nothing open. */
export function endRun(run: Run): void {
  run.all.end();
  run.agent.destroy();
  void run.spare?.opening.then((opened) => opened?.stream.destroy());
}

function routeOf(input: ProbeInput, url: URL, limitMs: number): Route {
  const secure = url.protocol === 'https:';
  return {
    secure,
    host: url.hostname.replaceAll(/^\[|\]$/g, ''),
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    connect: input.connect,
    ca: input.ca,
    clientCert: input.clientCert,
    proxy: input.proxy,
    limitMs,
  };
}

/** Values of header files are secrets too: access tokens of an edge. */
function redactorFor(input: ProbeInput): Redactor {
  const redact = createRedactor();
  redact.hide(input.credential?.secret ?? '');
  for (const [, value] of input.headers ?? []) {
    redact.hideLong(value);
    redact.hideLong(value.replace(/^\w+ /, ''));
  }
  if (input.proxy !== undefined) redact.hide(decodeURIComponent(new URL(input.proxy).password));
  return redact;
}

/** Of a request or upgrade: ours, then those of the header file, then those of the probe. Cookies of an edge and of a login go together. */
export function headersFor(run: Run, own: Record<string, string>): Record<string, string> {
  const headers = new Map<string, [name: string, value: string]>();
  const given = [
    ['Host', run.base.authority],
    ['User-Agent', 'hermes-compat'],
    ...(run.input.headers ?? []),
  ] as const;
  for (const [name, value] of [...given, ...Object.entries(own)]) {
    const key = name.toLowerCase();
    const before = key === 'cookie' ? headers.get(key)?.[1] : undefined;
    headers.set(key, [name, before === undefined ? value : `${before}; ${value}`]);
  }
  return Object.fromEntries(headers.values());
}

export const originOf = (run: Run, scheme: 'http' | 'ws' = 'http'): string =>
  `${scheme}${run.base.secure ? 's' : ''}://${run.base.authority}`;

/** `http://…` or `ws://…` of a path below the base. */
export const urlOf = (run: Run, path: string, scheme: 'http' | 'ws' = 'http'): string =>
  `${originOf(run, scheme)}${pathOf(run, path)}`;

export const pathOf = (run: Run, path: string): string => `${run.base.prefix}${path}`;

export const noPhases = (total = 0): Phases => ({
  dns: null,
  tcp: null,
  tls: null,
  firstByte: null,
  upgrade: null,
  rpc: null,
  total: rounded(total),
});

/** Tenths of a millisecond are all that a clock here is worth. */
export const rounded = (ms: number): number => Math.round(ms * 10) / 10;

function slots(count: number): () => Promise<() => void> {
  let free = count;
  const waiting: (() => void)[] = [];
  const giveBack = (): void => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return async () => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    return giveBack;
  };
}
