import type { ProxyKind } from '../proxy-seen.ts';

/**
 * What to change in a reverse proxy, as lines of its own configuration. The first line says where they go. Each was applied as
 * it stands to nginx 1.22, Caddy 2.6 and HAProxy 2.6 in front of a real engine: test/engines/proxies.test.ts.
 */
export type ProxyFault =
  | 'upgrade'
  | 'host'
  | 'host-ws'
  | 'origin'
  | 'prefix'
  | 'prefix-header'
  | 'forwarded-for'
  | 'forwarded-proto'
  | 'cookie'
  | 'idle'
  | 'login'
  | 'ws-rule'
  | 'ws-path'
  | 'upstream';

/** Known of the set-up; `prefix` is the path under which clients see the dashboard, without a trailing slash. */
export interface Setup {
  prefix: string;
  /** Address and port of the dashboard; its default port where nobody could know it. */
  upstream: string;
}

type Lines = (setup: Setup) => string[];

const same = 'it replaces lines that set the same';
const inBlock: Record<ProxyKind, string> = {
  nginx: `# in the location of the dashboard; ${same}`,
  caddy: `# in the reverse_proxy of the dashboard; ${same}`,
  haproxy: `# in the backend of the dashboard; ${same}`,
};
const isDeleted = '# delete every line that begins so:';

const nginxUpgrade = [
  'proxy_http_version 1.1;',
  'proxy_set_header Upgrade $http_upgrade;',
  'proxy_set_header Connection "upgrade";',
];

const nginxLocation = (head: string, pass: string, more: readonly string[] = []): string[] => [
  `location ${head} {`,
  ...[...more, `proxy_pass http://${pass};`, ...nginxUpgrade].map((line) => `    ${line}`),
  '}',
];

/** One line in the block of the dashboard. */
const line = (kind: ProxyKind, text: string | Lines): Lines => {
  const given = typeof text === 'string' ? () => [text] : text;
  return (setup) => [inBlock[kind], ...given(setup)];
};

const deleted =
  (...texts: string[]): Lines =>
  () => [isDeleted, ...texts];

const nginx: Record<ProxyFault, Lines> = {
  upgrade: line('nginx', () => nginxUpgrade),
  host: line('nginx', 'proxy_set_header Host $proxy_host;'),
  'host-ws': () => [`# in the location of /api/ws; ${same}`, 'proxy_set_header Host $proxy_host;'],
  origin: line('nginx', 'proxy_set_header Origin "";'),
  prefix: ({ prefix, upstream }) => [
    '# instead of the location of the dashboard:',
    ...nginxLocation(`${prefix}/`, `${upstream}/`, [`proxy_set_header X-Forwarded-Prefix ${prefix};`]),
  ],
  'prefix-header': line('nginx', ({ prefix }) => [`proxy_set_header X-Forwarded-Prefix ${prefix || '""'};`]),
  'forwarded-for': line('nginx', 'proxy_set_header X-Forwarded-For "";'),
  'forwarded-proto': line('nginx', 'proxy_set_header X-Forwarded-Proto $scheme;'),
  cookie: line('nginx', 'proxy_set_header Cookie $http_cookie;'),
  idle: line('nginx', () => ['proxy_read_timeout 1h;', 'proxy_send_timeout 1h;']),
  login: ({ prefix, upstream }) => [
    '# beside the location of the dashboard; the same for /auth/ where the dashboard itself asks for a login:',
    ...nginxLocation(`${prefix}/api/`, `${upstream}/api/`, ['auth_basic off;', 'auth_request off;']),
  ],
  'ws-rule': ({ prefix, upstream }) => [
    '# instead of the location that refuses /api/ws:',
    ...nginxLocation(`= ${prefix}/api/ws`, `${upstream}/api/ws`),
  ],
  'ws-path': ({ upstream }) => [
    `# in the location of /api/ws; ${same}`,
    `proxy_pass http://${upstream}/api/ws;`,
  ],
  upstream: line('nginx', ({ upstream }) => [`proxy_pass http://${upstream};`]),
};

const caddy: Record<ProxyFault, Lines> = {
  upgrade: deleted('header_up -Upgrade', 'header_up -Connection'),
  host: line('caddy', 'header_up Host {upstream_hostport}'),
  'host-ws': () => [`# in the reverse_proxy of /api/ws; ${same}`, 'header_up Host {upstream_hostport}'],
  origin: line('caddy', 'header_up -Origin'),
  prefix: ({ prefix, upstream }) => [
    '# instead of the reverse_proxy of the dashboard, and of the handle around it:',
    `handle_path ${prefix}/* {`,
    `    reverse_proxy ${upstream} {`,
    '        header_up Host {upstream_hostport}',
    `        header_up X-Forwarded-Prefix ${prefix}`,
    '    }',
    '}',
  ],
  'prefix-header': line('caddy', ({ prefix }) => [
    prefix === '' ? 'header_up -X-Forwarded-Prefix' : `header_up X-Forwarded-Prefix ${prefix}`,
  ]),
  'forwarded-for': line('caddy', 'header_up -X-Forwarded-For'),
  'forwarded-proto': deleted('header_up X-Forwarded-Proto'),
  cookie: deleted('header_up -Cookie', 'header_up Cookie'),
  idle: deleted('stream_timeout', 'read_timeout', 'write_timeout'),
  login: ({ prefix }) => [
    '# in the site; then write @login behind basicauth, forward_auth, redir or respond, in place of a matcher there:',
    `@login not path ${prefix}/api/* ${prefix}/auth/*`,
  ],
  'ws-rule': ({ prefix }) =>
    deleted(`respond ${prefix}/api/ws`, `error ${prefix}/api/ws`)({ prefix, upstream: '' }),
  'ws-path': deleted('rewrite /api/ws', 'uri /api/ws'),
  upstream: ({ upstream }) => [
    '# the address in the reverse_proxy of the dashboard:',
    `reverse_proxy ${upstream}`,
  ],
};

const haproxy: Record<ProxyFault, Lines> = {
  upgrade: deleted('http-request del-header Upgrade', 'http-request del-header Connection'),
  host: line('haproxy', ({ upstream }) => [`http-request set-header Host ${upstream}`]),
  'host-ws': ({ upstream }) => [
    `# in the backend of /api/ws; ${same}`,
    `http-request set-header Host ${upstream}`,
  ],
  origin: line('haproxy', 'http-request del-header Origin'),
  prefix: line('haproxy', ({ prefix }) => [
    `http-request set-header X-Forwarded-Prefix ${prefix}`,
    `http-request replace-path ${prefix}(/)?(.*) /\\2`,
  ]),
  'prefix-header': line('haproxy', ({ prefix }) => [
    prefix === ''
      ? 'http-request del-header X-Forwarded-Prefix'
      : `http-request set-header X-Forwarded-Prefix ${prefix}`,
  ]),
  'forwarded-for': line('haproxy', 'http-request del-header X-Forwarded-For'),
  'forwarded-proto': line('haproxy', 'http-request set-header X-Forwarded-Proto %[ssl_fc,iif(https,http)]'),
  cookie: deleted('http-request del-header Cookie', 'http-request set-header Cookie'),
  idle: line('haproxy', 'timeout tunnel 1h'),
  login: ({ prefix }) => [
    '# in the frontend, before the rule that asks for the login:',
    `http-request allow if { path_beg ${prefix}/api/ ${prefix}/auth/ }`,
  ],
  'ws-rule': ({ prefix }) => [
    '# in the frontend, before the rule that refuses it:',
    `http-request allow if { path ${prefix}/api/ws }`,
  ],
  'ws-path': deleted('http-request replace-path /api/ws', 'http-request set-path'),
  upstream: ({ upstream }) => ['# the server in the backend of the dashboard:', `server hermes ${upstream}`],
};

const table: Record<ProxyKind, Record<ProxyFault, Lines>> = { nginx, caddy, haproxy };

export const proxyLines = (kind: ProxyKind, fault: ProxyFault, setup: Setup): string[] =>
  table[kind][fault](setup);
