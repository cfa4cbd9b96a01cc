import { fileURLToPath } from 'node:url';
import type { ProxyKind } from './web-proxies.ts';

/** Configurations of real proxies in front of a dashboard: right, and with one common mistake. */

export interface EdgeSite {
  /** Where the proxy listens, on 127.0.0.1. */
  port: number;
  /** Port of the dashboard. */
  upstream: number;
  tls: boolean;
  /** Address of the dashboard: one that is gated is bound beyond loopback, and answers to that name only. */
  host?: string;
}

export const edgeName = 'hermes.example';
export const edgeCa = fileURLToPath(new URL('certs/edge-ca.pem', import.meta.url));
const pem = fileURLToPath(new URL('certs/site.pem', import.meta.url));

const htpasswd = fileURLToPath(new URL('certs/htpasswd', import.meta.url));
/** User and password of the proxies that ask for one. */
export const edgeLogin = 'someone:let-me-through';
// Of that password, at the lowest cost: a proxy checks it at every request.
const bcrypt = '$2b$04$abcdefghijklmnopqrstuukCRyhgjlvC0bzv6qY.ekLULWz1XxM6.';

export type Mistake =
  | 'none'
  | 'no-upgrade'
  | 'host'
  | 'host-ws'
  | 'origin-added'
  | 'prefix'
  | 'prefix-kept'
  | 'prefix-unsaid'
  | 'buffering'
  | 'idle'
  | 'login-redirect'
  | 'login-page'
  | 'basic-auth'
  | 'to-https'
  | 'ws-denied'
  | 'ws-path'
  | 'forbidden'
  | 'limited'
  | 'cookie-dropped'
  | 'proto-https';

interface Parts {
  /** Lines beside the block of the dashboard. */
  site?: string[];
  /** Lines in the block of the dashboard. */
  block: string[];
  /** What introduces the block, where it is not the usual one. */
  head?: string;
  /** After the port of the upstream, in nginx. */
  path?: string;
}

const upgrade = [
  'proxy_http_version 1.1;',
  'proxy_set_header Upgrade $http_upgrade;',
  'proxy_set_header Connection "upgrade";',
];

const nginxParts: Record<Mistake, Parts> = {
  none: { block: upgrade },
  'no-upgrade': { block: [] },
  host: { block: [...upgrade, 'proxy_set_header Host $host;'] },
  'host-ws': {
    site: [
      'location = /api/ws {',
      'proxy_pass http://127.0.0.1:UPSTREAM;',
      ...upgrade,
      'proxy_set_header Host $host;',
      '}',
    ],
    block: upgrade,
  },
  'origin-added': { block: [...upgrade, 'proxy_set_header Origin https://hermes.example;'] },
  prefix: {
    head: 'location /hermes/ {',
    path: '/',
    block: [...upgrade, 'proxy_set_header X-Forwarded-Prefix /hermes;'],
  },
  'prefix-kept': { head: 'location /hermes/ {', block: upgrade },
  'prefix-unsaid': { head: 'location /hermes/ {', path: '/', block: upgrade },
  buffering: {
    block: [
      ...upgrade,
      'proxy_buffering on;',
      'proxy_buffer_size 16k;',
      'proxy_buffers 16 64k;',
      'proxy_busy_buffers_size 128k;',
      'proxy_request_buffering on;',
    ],
  },
  idle: { block: [...upgrade, 'proxy_read_timeout 3s;', 'proxy_send_timeout 3s;'] },
  'login-redirect': {
    site: [
      'location = /check {',
      'internal;',
      'if ($http_x_pass = "let-me-through") { return 204; }',
      'return 401;',
      '}',
      'location @login {',
      'return 302 https://login.example/start?rd=$request_uri;',
      '}',
    ],
    block: ['auth_request /check;', 'error_page 401 = @login;', ...upgrade],
  },
  'login-page': {
    site: [
      'location = /check {',
      'internal;',
      'if ($http_x_pass = "let-me-through") { return 204; }',
      'return 401;',
      '}',
      'location @login {',
      'default_type text/html;',
      'return 200 "<html><head><title>Sign in to continue</title></head><body><form></form></body></html>";',
      '}',
    ],
    block: ['auth_request /check;', 'error_page 401 =200 @login;', ...upgrade],
  },
  'basic-auth': { block: ['auth_basic "private";', `auth_basic_user_file ${htpasswd};`, ...upgrade] },
  'to-https': { head: 'location / {', block: ['return 301 https://$host$request_uri;'] },
  'ws-denied': { site: ['location = /api/ws {', 'return 403;', '}'], block: upgrade },
  'ws-path': {
    site: ['location = /api/ws {', 'proxy_pass http://127.0.0.1:UPSTREAM/ws;', ...upgrade, '}'],
    block: upgrade,
  },
  forbidden: { block: ['return 403;'] },
  limited: { block: ['return 429;'] },
  'cookie-dropped': { block: [...upgrade, 'proxy_set_header Cookie "";'] },
  'proto-https': { block: [...upgrade, 'proxy_set_header X-Forwarded-Proto https;'] },
};

const indented = (lines: readonly string[], by: string): string =>
  lines.map((line) => `${by}${line}\n`).join('');

function nginx(site: EdgeSite, mistake: Mistake): string {
  const { site: beside = [], block, head = 'location / {', path = '' } = nginxParts[mistake];
  const pass = mistake === 'to-https' ? [] : [`proxy_pass http://127.0.0.1:UPSTREAM${path};`];
  const listen = site.tls
    ? [`listen 127.0.0.1:${site.port} ssl;`, `ssl_certificate ${pem};`, `ssl_certificate_key ${pem};`]
    : [`listen 127.0.0.1:${site.port};`];
  return `daemon off;
master_process off;
pid nginx.pid;
events { worker_connections 128; }
http {
access_log off;
${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};\n`).join('')}server {
${indented([...listen, `server_name ${edgeName};`], '    ')}${indented(beside, '    ')}    # dashboard
    ${head}
${indented([...pass, ...block], '        ')}    }
    # end of dashboard
}
}
`;
}

const host = 'header_up Host {upstream_hostport}';

const caddyParts: Record<Mistake, Parts> = {
  none: { block: [host] },
  'no-upgrade': { block: [host, 'header_up -Upgrade', 'header_up -Connection'] },
  host: { block: [] },
  'host-ws': {
    site: ['handle /api/ws {', 'reverse_proxy 127.0.0.1:UPSTREAM', '}'],
    head: 'handle {',
    block: [host],
  },
  'origin-added': { block: [host, 'header_up Origin https://hermes.example'] },
  prefix: { head: 'handle_path /hermes/* {', block: [host, 'header_up X-Forwarded-Prefix /hermes'] },
  'prefix-kept': { head: 'handle /hermes/* {', block: [host] },
  'prefix-unsaid': { head: 'handle_path /hermes/* {', block: [host] },
  buffering: { block: [host, 'buffer_requests', 'flush_interval 1s'] },
  idle: { block: [host, 'transport http {', 'read_timeout 3s', 'write_timeout 3s', '}'] },
  'login-redirect': {
    site: ['@login not header X-Pass let-me-through', 'redir @login https://login.example/start 302'],
    block: [host],
  },
  'login-page': {
    site: [
      '@login not header X-Pass let-me-through',
      'header @login Content-Type text/html',
      'respond @login "<html><head><title>Sign in to continue</title></head><body></body></html>" 200',
    ],
    block: [host],
  },
  'basic-auth': { site: ['basicauth {', `someone ${bcrypt}`, '}'], block: [host] },
  'to-https': { site: ['redir https://{host}{uri} 301'], block: [host] },
  'ws-denied': { site: ['respond /api/ws "no" 403'], block: [host] },
  'ws-path': { site: ['rewrite /api/ws /ws'], block: [host] },
  forbidden: { site: ['respond 403'], block: [host] },
  limited: { site: ['respond 429'], block: [host] },
  'cookie-dropped': { block: [host, 'header_up -Cookie'] },
  'proto-https': { block: [host, 'header_up X-Forwarded-Proto https'] },
};

function caddy(site: EdgeSite, mistake: Mistake): string {
  const { site: beside = [], block, head } = caddyParts[mistake];
  const inner =
    block.length === 0
      ? ['reverse_proxy 127.0.0.1:UPSTREAM']
      : ['reverse_proxy 127.0.0.1:UPSTREAM {', ...block, '}'];
  const lines = head === undefined ? inner : [head, ...inner, '}'];
  return `{
	admin off
	auto_https off
	skip_install_trust
}
${site.tls ? 'https' : 'http'}://${edgeName}:${site.port} {
	bind 127.0.0.1
${site.tls ? `	tls ${pem} ${pem}\n` : ''}${indented(beside, '\t')}	# dashboard
${indented(lines, '\t')}	# end of dashboard
}
`;
}

const haHost = 'http-request set-header Host 127.0.0.1:9119';
const tunnel = 'timeout tunnel 1h';
const page = '<html><head><title>Sign in to continue</title></head><body></body></html>';

const onlyBelow = 'http-request deny deny_status 404 unless { path_beg /hermes/ }';

const haproxyParts: Record<Mistake, Parts> = {
  none: { block: [haHost, tunnel] },
  'no-upgrade': { block: [haHost, tunnel, 'http-request del-header Upgrade'] },
  host: { block: [tunnel] },
  'host-ws': { site: ['use_backend socket if { path /api/ws }'], block: [haHost, tunnel] },
  'origin-added': { block: [haHost, tunnel, 'http-request set-header Origin https://hermes.example'] },
  prefix: {
    site: [onlyBelow],
    block: [
      haHost,
      tunnel,
      'http-request set-header X-Forwarded-Prefix /hermes',
      'http-request replace-path /hermes(/)?(.*) /\\2',
    ],
  },
  'prefix-kept': { site: [onlyBelow], block: [haHost, tunnel] },
  'prefix-unsaid': {
    site: [onlyBelow],
    block: [haHost, tunnel, 'http-request replace-path /hermes(/)?(.*) /\\2'],
  },
  buffering: { block: [haHost, tunnel, 'option http-buffer-request'] },
  idle: { block: [haHost, 'timeout server 3s'] },
  'login-redirect': {
    site: [
      'http-request redirect location https://login.example/start code 302 unless { req.hdr(X-Pass) -m str let-me-through }',
    ],
    block: [haHost, tunnel],
  },
  'login-page': {
    site: [
      `http-request return status 200 content-type text/html string "${page}" unless { req.hdr(X-Pass) -m str let-me-through }`,
    ],
    block: [haHost, tunnel],
  },
  'basic-auth': {
    site: ['http-request auth realm private unless { http_auth(people) }'],
    block: [haHost, tunnel],
  },
  'to-https': { site: ['http-request redirect scheme https code 301'], block: [haHost, tunnel] },
  'ws-denied': { site: ['http-request deny deny_status 403 if { path /api/ws }'], block: [haHost, tunnel] },
  'ws-path': { block: [haHost, tunnel, 'http-request replace-path /api/ws /ws'] },
  forbidden: { site: ['http-request deny deny_status 403'], block: [haHost, tunnel] },
  limited: { site: ['http-request deny deny_status 429'], block: [haHost, tunnel] },
  'cookie-dropped': { block: [haHost, tunnel, 'http-request del-header Cookie'] },
  'proto-https': { block: [haHost, tunnel, 'http-request set-header X-Forwarded-Proto https'] },
};

function haproxy(site: EdgeSite, mistake: Mistake): string {
  const { site: beside = [], block } = haproxyParts[mistake];
  const extra =
    mistake === 'host-ws' ? `backend socket\n    ${tunnel}\n    server hermes 127.0.0.1:UPSTREAM\n` : '';
  return `global
    maxconn 200
userlist people
    user someone insecure-password let-me-through
defaults
    mode http
    timeout connect 5s
    timeout client ${mistake === 'idle' ? '3s' : '1h'}
    timeout server 1h
frontend public
    bind 127.0.0.1:${site.port}${site.tls ? ` ssl crt ${pem}` : ''}
${indented(beside, '    ')}    default_backend hermes
${extra}backend hermes
    # dashboard
${indented([...block, 'server hermes 127.0.0.1:UPSTREAM'], '    ')}    # end of dashboard
`;
}

export function edgeConfig(kind: ProxyKind, site: EdgeSite, mistake: Mistake): string {
  const text = { nginx, caddy, haproxy }[kind](site, mistake);
  const { host: address = '127.0.0.1', upstream } = site;
  return text
    .replaceAll('127.0.0.1:UPSTREAM', `${address}:${upstream}`)
    .replaceAll('Host 127.0.0.1:9119', `Host ${address}:9119`);
}
