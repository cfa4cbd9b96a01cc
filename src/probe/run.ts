import type { Agent } from 'node:http';
import type { Duplex } from 'node:stream';
import { isLoopback, type Opened, open, type Route } from './connect.ts';
import { type Limit, limit } from './limit.ts';
import { createRedactor, type Redactor } from './redact.ts';
import type { HttpFact, Phases, StatusFact, TlsFact, WsFact } from './schema.ts';
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
  extraHeaders: Record<string, string>;
  agent: Agent;
  /** What a stream of ours took to open. */
  opened: WeakMap<Duplex, Opened>;
  open(signal: AbortSignal): Promise<Opened>;
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
    all: limit(input.signal, Math.min(input.timeoutMs ?? 2 ** 31 - 1, 2 ** 31 - 1)),
    answerMs,
    base: {
      secure: route.secure,
      authority: url.host,
      prefix: url.pathname.replaceAll(/\/{2,}/g, '/').replace(/\/$/, ''),
      loopback: isLoopback(route.host),
    },
    extraHeaders: Object.fromEntries(input.headers ?? []),
    agent: new Agent({ keepAlive: true, maxSockets: connections, scheduling: 'fifo' }),
    opened: new WeakMap(),
    open: async (signal) => {
      const opened = await open(route, signal);
      // While the first answer is on its way there is time to load what the upgrade will need.
      if (run.firstConnection === null && input.mode !== 'legacy') void import('ws');
      run.firstConnection ??= opened;
      run.tls ??= opened.certificate;
      run.opened.set(opened.stream, opened);
      return opened;
    },
    http: [],
    ws: [],
    status: null,
    tls: null,
    firstConnection: null,
    startedAt: performance.now(),
  };
  connectWith(run.agent, run);
  return run;
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

type CreateConnection = (options: unknown, done: (error: Error | null, stream?: Duplex) => void) => void;

/** The agent keeps and shares connections; opening them is ours, so that a tunnel, a proxy and TLS are all the same to it. */
function connectWith(agent: Agent, run: Run): void {
  const createConnection: CreateConnection = (_, done) => {
    run.open(run.all.signal).then(
      ({ stream }) => done(null, stream),
      (error: Error) => done(error),
    );
  };
  Object.assign(agent, { createConnection });
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
