import type { EngineProcess, Home, HostFacts, Install } from '../../src/engine/schema.ts';
import type { BodyFact, HttpFact, Phases, ResponseHeaders, WsFact } from '../../src/probe/exchange-schema.ts';
import type { Facts, StatusFact } from '../../src/probe/schema.ts';

/** Hand-made facts for table tests: a healthy 0.19.0 on this machine, and small edits of it. */

export const phases: Phases = {
  dns: null,
  tcp: 0.2,
  tls: null,
  firstByte: 3,
  upgrade: null,
  rpc: null,
  total: 4,
};

const headers = (more: Partial<ResponseHeaders> = {}): ResponseHeaders => ({
  server: ['uvicorn'],
  location: null,
  wwwAuthenticate: null,
  retryAfter: null,
  allow: null,
  cfRay: false,
  setCookies: [],
  ...more,
});

const body = (more: Partial<BodyFact> = {}): BodyFact => ({
  kind: 'json',
  contentType: 'application/json',
  bytes: 100,
  problem: null,
  keys: [],
  count: null,
  detail: null,
  title: null,
  page: null,
  ...more,
});

export const json = (keys: string[], more: Partial<BodyFact> = {}): BodyFact => body({ keys, ...more });
export const error = (detail: string): BodyFact => body({ keys: ['detail'], detail });
export const html = (title: string | null = null, detail: string | null = null): BodyFact =>
  body({ kind: 'html', contentType: 'text/html', title, detail });
export const empty: BodyFact = body({ kind: 'empty', contentType: null, bytes: 0 });
export const text = (detail: string): BodyFact => body({ kind: 'text', contentType: 'text/plain', detail });
export const page = (
  embeddedChat: boolean | null = true,
  more: Partial<NonNullable<BodyFact['page']>> = {},
): BodyFact =>
  body({
    kind: 'html',
    contentType: 'text/html',
    title: 'Hermes Agent',
    page: {
      token: true,
      embeddedChat,
      authRequired: false,
      basePath: '',
      script: '/assets/index.js',
      uiSurface: null,
      ...more,
    },
  });

export const base = 'http://127.0.0.1:9119';

const paths: Record<string, string> = {
  status: '/api/status',
  page: '/',
  'sessions-bare': '/api/sessions?limit=1',
  sessions: '/api/sessions?limit=1',
  'session-messages': '/api/sessions/none/messages',
  'model-options': '/api/model/options',
  'model-library': '/api/model/library',
  openapi: '/openapi.json',
  asset: '/assets/index.js',
  'api-server-health': '/health',
  login: '/auth/password-login',
};

export function http(
  id: string,
  status: number,
  payload: BodyFact | null,
  more: Omit<Partial<HttpFact>, 'headers'> & { headers?: Partial<ResponseHeaders> } = {},
): HttpFact {
  const { headers: head, ...rest } = more;
  return {
    id,
    method: 'GET',
    url: `${base}${paths[id] ?? `/${id}`}`,
    credential: ['status', 'page', 'sessions-bare', 'openapi', 'asset', 'api-server-health'].includes(id)
      ? 'none'
      : 'token',
    hostHeader: null,
    outcome: 'answered',
    why: null,
    status,
    body: payload,
    error: null,
    phases,
    ...rest,
    headers: headers(head ?? {}),
  };
}

export const failed = (
  id: string,
  code: string,
  phase: NonNullable<HttpFact['error']>['phase'],
  message = '',
): HttpFact => ({
  ...http(id, 0, null),
  outcome: 'failed',
  status: null,
  headers: null,
  error: { code, phase, message },
});

const socket = (id: string): WsFact => ({
  id,
  url: `ws://127.0.0.1:9119/api/${id === 'events' ? 'events?channel=x' : id === 'console' ? 'console' : 'ws'}`,
  credential: 'token',
  origin: null,
  hostHeader: null,
  outcome: 'open',
  why: null,
  status: 101,
  headers: headers(),
  body: null,
  bareRefusal: false,
  handshake: 'valid',
  protocol: null,
  firstFrame: { ms: 5, bytes: 200, type: 'gateway.ready', json: true },
  close: null,
  held: null,
  error: null,
  phases,
});

export const open = (id = 'main', more: Partial<WsFact> = {}): WsFact => ({ ...socket(id), ...more });

/** The engine's own refusal: a bare 403 whatever the reason. */
export const e403 = (id = 'main', more: Partial<WsFact> = {}): WsFact => ({
  ...socket(id),
  outcome: 'refused',
  status: 403,
  body: empty,
  bareRefusal: true,
  handshake: 'none',
  firstFrame: null,
  ...more,
});

export const answered = (
  status: number,
  payload: BodyFact | null,
  more: Partial<WsFact> & { head?: Partial<ResponseHeaders> } = {},
): WsFact => {
  const { head, ...rest } = more;
  return {
    ...e403('main'),
    status,
    body: payload,
    bareRefusal: false,
    headers: headers(head ?? {}),
    ...rest,
  };
};

export const wsFailed = (code: string, phase: NonNullable<WsFact['error']>['phase']): WsFact => ({
  ...e403('main'),
  outcome: 'failed',
  status: null,
  body: null,
  bareRefusal: false,
  error: { code, phase, message: '' },
});

export const statusFact = (more: Partial<StatusFact> = {}): StatusFact => ({
  version: '0.19.0',
  releaseDate: '2026.7.20',
  authRequired: false,
  authProviders: [],
  authFlows: null,
  hermesHome: '/home/ann/.hermes',
  canUpdate: null,
  gatewayRunning: false,
  gatewayPid: null,
  activeSessions: 0,
  uiSurface: null,
  wrongTypes: [],
  ...more,
});

export const install = (more: Partial<Install> = {}): Install => ({
  id: '/home/ann/venv',
  root: '/home/ann/venv',
  packageDir: '/home/ann/venv/lib/python3.11/site-packages/hermes_cli',
  method: 'uv',
  distribution: 'hermes-agent',
  version: '0.19.0',
  releaseDate: '2026.7.20',
  generation: 'G1',
  contract: { value: 4, state: 'known', raw: '4' },
  chatAssignment: 'absent',
  interpreter: { path: '/home/ann/venv/bin/python', version: '3.11.2' },
  commands: ['/home/ann/venv/bin/hermes'],
  onPath: true,
  state: 'pristine',
  editedFiles: [],
  writable: 'yes',
  notWritable: null,
  owner: { uid: 1000, name: 'ann' },
  missingModules: [],
  wsLibrary: 'present',
  webBuild: 'present',
  git: null,
  codeFiles: [],
  ...more,
});

export const engineProcess = (more: Partial<EngineProcess> = {}): EngineProcess => ({
  pid: 4711,
  startedAt: '2026-11-30T10:00:00.000Z',
  startTicks: '100',
  uid: 1000,
  user: 'ann',
  install: '/home/ann/venv',
  interpreter: '/home/ann/venv/bin/python',
  command: 'dashboard',
  argv: ['/home/ann/venv/bin/python', '/home/ann/venv/bin/hermes', 'dashboard', '--no-open'],
  bind: '127.0.0.1',
  port: 9119,
  hermesHome: '/home/ann/.hermes',
  profile: null,
  env: { tui: null, webDist: null, sessionToken: null, readable: true },
  newerFiles: [],
  owner: { kind: 'manual', name: null },
  source: 'process-table',
  ...more,
});

export const home = (more: Partial<Home> = {}): Home => ({
  path: '/home/ann/.hermes',
  root: '/home/ann/.hermes',
  profile: null,
  from: 'process',
  exists: true,
  readable: true,
  writable: true,
  managed: false,
  envFile: { exists: false, readable: true, tui: null, webDist: null, sessionToken: null },
  config: {
    exists: false,
    readable: true,
    pluginsEnabled: null,
    pluginsIsolation: null,
    publicUrl: false,
    configVersion: null,
  },
  otherPlugins: [],
  overlay: { present: false, carries: [], revision: null },
  markers: [],
  journalUnfinished: false,
  locks: [],
  ...more,
});

export const host = (more: Partial<HostFacts> = {}): HostFacts => ({
  name: 'this machine',
  kind: 'local',
  os: 'linux',
  user: 'ann',
  uid: 1000,
  hostname: 'box',
  container: false,
  home: home(),
  looked: [{ place: 'PATH', found: 'install', why: null }],
  notes: [],
  partial: false,
  ...more,
});

const statusKeys = [
  'version',
  'release_date',
  'hermes_home',
  'gateway_running',
  'active_sessions',
  'auth_required',
];
export const statusBody = json(statusKeys);

/** A healthy dashboard of 0.19.0 whose library is missing, as `local` sees it. */
export const healthy = (): Facts => ({
  schemaVersion: '1.0',
  kind: 'facts',
  tool: { name: 'hermes-compat', version: '0.1.0' },
  target: { kind: 'local', name: 'local', url: base },
  asked: {
    url: base,
    port: null,
    home: null,
    profile: null,
    origin: null,
    mode: 'auto',
    client: 'hermes-one',
    patience: 'normal',
  },
  takenAt: '2026-11-30T12:00:00.000Z',
  host: host(),
  installs: [install()],
  processes: [engineProcess()],
  service: { url: base, how: 'named', via: 'direct', pid: 4711, install: '/home/ann/venv', proxied: 'no' },
  credential: { kind: 'token', source: 'page', fingerprint: '0a1b2c3d', unreadable: null, login: null },
  status: statusFact(),
  http: [
    http('status', 200, statusBody),
    http('page', 200, page()),
    http('sessions-bare', 401, error('Unauthorized')),
    http('sessions', 200, json(['sessions', 'total'], { count: 0 })),
    http('session-messages', 404, error('Session not found')),
    http('model-options', 200, json(['providers', 'model'])),
    http('model-library', 404, error('No such API endpoint: /api/model/library')),
  ],
  ws: [open()],
  rpc: {
    outcome: 'answered',
    why: null,
    method: 'hermes-compat.ping',
    answer: 'error',
    errorCode: -32601,
    ms: 2,
    error: null,
  },
  contract: { value: 4, from: 'source', state: 'known', raw: '4', why: null },
  tls: null,
  phases,
  flapping: null,
  capabilities: [],
});

/** Replaces or adds probes by id. */
export const withHttp = (facts: Facts, ...more: HttpFact[]): Facts => ({
  ...facts,
  http: [...facts.http.filter((each) => !more.some((other) => other.id === each.id)), ...more],
});

export const withoutHttp = (facts: Facts, ...ids: string[]): Facts => ({
  ...facts,
  http: facts.http.filter((each) => !ids.includes(each.id)),
});

/** Only these upgrades, and no JSON-RPC unless the main one is open. */
export const withWs = (facts: Facts, ...ws: WsFact[]): Facts => ({
  ...facts,
  ws,
  rpc: ws.some((each) => each.id === 'main' && each.outcome === 'open')
    ? facts.rpc
    : { ...facts.rpc, outcome: 'skipped', answer: null, errorCode: null, why: 'no open WebSocket' },
});

/** The same dashboard over plain HTTP: no host, no disk, and nobody knows what is in between. */
export const remote = (facts: Facts, url = 'http://box.example:9119'): Facts => ({
  ...facts,
  target: { kind: 'http', name: url, url },
  host: null,
  installs: [],
  processes: [],
  service: { url, how: 'named', via: 'direct', pid: null, install: null, proxied: 'unknown' },
});

/** Another release, on disk and in the running server. */
export function release(facts: Facts, version: string, more: Partial<Install> = {}): Facts {
  return {
    ...facts,
    status: facts.status === null ? null : { ...facts.status, version },
    installs: facts.installs.map((each) => ({ ...each, version, ...more })),
  };
}
