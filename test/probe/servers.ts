import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTcp, type AddressInfo, type Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';

import { probe } from '../../src/probe/probe.ts';
import { factsSchema } from '../../src/probe/schema.ts';
import type { ProbeInput, ProbeNeeds, ProbeResult } from '../../src/probe/types.ts';
import { fingerprint } from '../../src/target/credential.ts';
import type { Credential } from '../../src/target/types.ts';

export const canary = 'CANARY-b7Jw0yS2_t0ken.value+1';

export const token = (secret = canary): Credential => ({
  kind: 'token',
  source: 'env',
  secret,
  username: null,
  fingerprint: fingerprint(secret),
});

export const login = (secret = canary): Credential => ({
  kind: 'login',
  source: 'password',
  secret,
  username: 'someone',
  fingerprint: fingerprint(secret),
});

export const needs: ProbeNeeds = {
  sessionMessages: true,
  modelOptions: true,
  modelLibrary: true,
  modelSet: true,
  asset: true,
  contract: true,
  sessionProbe: 'auto',
  console: false,
};

/** What was left running, ended by `closeAll`. */
const open: (() => Promise<void>)[] = [];

export async function closeAll(): Promise<void> {
  await Promise.all(open.splice(0).map((close) => close()));
}

/** Probes, and checks what must hold for every probe: valid facts, no secret in them. */
export async function look(url: string, more: Partial<ProbeInput> = {}): Promise<ProbeResult> {
  const result = await probe({
    url,
    origin: null,
    mode: 'auto',
    patience: 'normal',
    credential: token(),
    needs,
    timeoutMs: 4000,
    ...more,
  });
  const shape = factsSchema.pick({
    credential: true,
    status: true,
    http: true,
    ws: true,
    rpc: true,
    contract: true,
    sessionList: true,
    tls: true,
    phases: true,
    flapping: true,
  });
  shape.strict().parse(result.facts);
  const text = JSON.stringify(result.facts);
  for (const secret of [canary, encodeURIComponent(canary)]) {
    if (text.includes(secret)) throw new Error(`a secret is in the facts: ${text.slice(0, 20_000)}`);
  }
  return result;
}

export const http = ({ facts }: ProbeResult, id: string): ProbeResult['facts']['http'][number] => {
  const fact = facts.http.find((each) => each.id === id);
  if (fact === undefined)
    throw new Error(`no probe ${id} among ${facts.http.map((each) => each.id).join(', ')}`);
  return fact;
};

export const ws = ({ facts }: ProbeResult, id = 'main'): ProbeResult['facts']['ws'][number] => {
  const fact = facts.ws.find((each) => each.id === id);
  if (fact === undefined)
    throw new Error(`no upgrade ${id} among ${facts.ws.map((each) => each.id).join(', ')}`);
  return fact;
};

export interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface Listening {
  url: string;
  port: number;
  /** Every request and upgrade that arrived. */
  seen: Seen[];
  server: NetServer;
  close: () => Promise<void>;
}

export async function listen(server: NetServer, scheme = 'http', host = '127.0.0.1'): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  open.push(close);
  return { url: `${scheme}://${host}:${port}`, port, seen: [], server, close };
}

/** A server that speaks bytes. */
export const raw = (onSocket: (socket: Socket) => void): Promise<Listening> => listen(createTcp(onSocket));

/** Answers every request with these bytes and ends, or does not. */
export const bytes = (text: string | Buffer, end = true): Promise<Listening> =>
  raw((socket) => {
    socket.once('data', () => (end ? socket.end(text) : socket.write(text)));
  });

type Reply = {
  status?: number;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer | Record<string, unknown>;
};
type Route = Reply | ((request: Seen) => Reply | null);

export interface Hermes {
  /** By path without query. */
  routes?: Record<string, Route>;
  /** The token that it takes; null takes none. */
  token?: string | null;
  /** Instead of a WebSocket that answers. */
  upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** With an accepted socket. */
  socket?: (socket: WebSocket, request: IncomingMessage) => void;
  accepts?: (request: Seen) => boolean;
}

export const status = {
  version: '0.19.0',
  release_date: '2026.7.20',
  config_version: 33,
  auth_required: false,
  auth_providers: [],
  gateway_running: false,
  active_sessions: 0,
  hermes_home: '/home/someone/.hermes',
};

/** A small dashboard: the shapes of 0.19.0. */
export async function hermes(options: Hermes = {}): Promise<Listening> {
  const server = createServer(hermesListener(options, (each) => listening.seen.push(each)));
  server.on(
    'upgrade',
    upgrades(options, (each) => listening.seen.push(each)),
  );
  const listening = await listen(server);
  return listening;
}

const given = (request: Pick<Seen, 'url' | 'headers'>): string | null =>
  new URL(request.url, 'http://x').searchParams.get('token') ??
  (request.headers['x-hermes-session-token'] as string | undefined) ??
  null;

export function hermesListener(options: Hermes, note: (seen: Seen) => void): RequestListener {
  const expected = options.token === undefined ? canary : options.token;
  return (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const seen: Seen = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      note(seen);
      const path = seen.url.split('?')[0] as string;
      const route = options.routes?.[path];
      const allowed = options.accepts?.(seen) ?? (expected !== null && given(seen) === expected);
      const reply =
        route === undefined ? usual(path, allowed) : typeof route === 'function' ? route(seen) : route;
      if (reply === null) return;
      const { status: code = 200, headers = {}, body = '' } = reply;
      const json = typeof body === 'object' && !Buffer.isBuffer(body);
      response.writeHead(code, {
        ...(json ? { 'content-type': 'application/json' } : {}),
        server: 'uvicorn',
        ...headers,
      });
      response.end(json ? JSON.stringify(body) : body);
    });
  };
}

function usual(path: string, allowed: boolean): Reply {
  if (path === '/api/status') return { body: status };
  if (path === '/')
    return {
      headers: { 'content-type': 'text/html; charset=utf-8' },
      body: page(canary),
    };
  if (path === '/assets/index-abc.js')
    return { headers: { 'content-type': 'text/javascript' }, body: 'x'.repeat(5000) };
  if (path === '/openapi.json')
    return {
      body: {
        openapi: '3.1.0',
        paths: { '/api/sessions': {}, '/api/model/set': {}, '/api/model/options': {} },
      },
    };
  if (!path.startsWith('/api/')) return { status: 404, body: { detail: 'Not Found' } };
  if (!allowed) return { status: 401, body: { detail: 'Unauthorized' } };
  if (path === '/api/sessions')
    return {
      body: { sessions: [{ id: 's1', title: 'PRIVATE chat', system_prompt: 'PRIVATE prompt' }], total: 1 },
    };
  if (/^\/api\/sessions\/[^/]+\/messages$/.test(path))
    return { status: 404, body: { detail: 'Session not found' } };
  if (path === '/api/model/options')
    return { body: { providers: [{ slug: 'PRIVATE-provider' }], model: '', provider: '' } };
  return { status: 404, body: { detail: `No such API endpoint: ${path}` } };
}

export const page = (secret: string | null, more = ''): string =>
  `<!doctype html><html><head><title>Hermes Agent - Dashboard</title><script>${
    secret === null ? '' : `window.__HERMES_SESSION_TOKEN__="${secret}";`
  }window.__HERMES_DASHBOARD_EMBEDDED_CHAT__=true;window.__HERMES_BASE_PATH__="";window.__HERMES_AUTH_REQUIRED__=false;${more}</script><script type="module" crossorigin src="/assets/index-abc.js"></script></head><body><div id="root"></div></body></html>`;

export const bareRefusal =
  'HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n\r\n';

function upgrades(options: Hermes, note: (seen: Seen) => void) {
  const expected = options.token === undefined ? canary : options.token;
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 1024 * 1024, perMessageDeflate: false });
  return (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => undefined);
    const seen: Seen = { method: 'UPGRADE', url: request.url ?? '', headers: request.headers, body: '' };
    note(seen);
    if (options.upgrade !== undefined) return options.upgrade(request, socket, head);
    const query = new URL(seen.url, 'http://x').searchParams.get('token');
    const allowed = options.accepts?.(seen) ?? (expected !== null && query === expected);
    if (!allowed) return void socket.end(bareRefusal);
    sockets.handleUpgrade(request, socket, head, (accepted) => {
      accepted.on('error', () => undefined);
      (options.socket ?? gateway())(accepted, request);
    });
  };
}

export const ready = JSON.stringify({
  jsonrpc: '2.0',
  method: 'event',
  params: { type: 'gateway.ready', payload: { skin: {} } },
});

/** A gateway that is ready at once and answers; `contract` is the JSON text of its contract, null for none. */
export const gateway =
  ({ contract = '4', greet = true, calls = [] as unknown[] } = {}) =>
  (socket: WebSocket): void => {
    if (greet) socket.send(ready);
    socket.on('message', (data: Buffer) => {
      const { id, method, params } = JSON.parse(data.toString()) as {
        id: string;
        method: string;
        params: unknown;
      };
      calls.push({ method, params });
      if (method === 'session.create')
        return socket.send(
          `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"session_id":"s9","info":{${
            contract === '' ? '' : `"desktop_contract":${contract}`
          }}}}`,
        );
      if (method === 'session.close')
        return socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: { closed: true } }));
      socket.send(
        JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: `unknown method: ${method}` } }),
      );
    });
  };
