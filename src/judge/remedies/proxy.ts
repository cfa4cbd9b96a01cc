import type { Reading } from '../reading.ts';
import type { Remedy } from '../schema.ts';

/** What to change in the proxy in front, as lines of its own configuration. Measured with nginx 1.22, Caddy 2.6 and HAProxy 2.6. */

export type ProxyFault = 'upgrade' | 'host' | 'origin' | 'prefix' | 'forwarded-for' | 'idle' | 'upstream';

type Kind = 'nginx' | 'caddy' | 'haproxy';

const reload: Record<Kind, string[][]> = {
  nginx: [
    ['nginx', '-t'],
    ['nginx', '-s', 'reload'],
  ],
  caddy: [['caddy', 'reload', '--config', '/etc/caddy/Caddyfile']],
  haproxy: [['systemctl', 'reload', 'haproxy']],
};

/** `prefix` is the path under which clients see the dashboard, without a trailing slash. */
const lines = (kind: Kind, fault: ProxyFault, prefix: string, upstream: string): string[] => {
  const table: Record<ProxyFault, Record<Kind, string[]>> = {
    upgrade: {
      nginx: [
        '# in the location of the dashboard, instead of what sets the same',
        'proxy_http_version 1.1;',
        'proxy_set_header Upgrade $http_upgrade;',
        'proxy_set_header Connection "upgrade";',
      ],
      caddy: ['# delete from reverse_proxy:', 'header_up -Upgrade', 'header_up -Connection'],
      haproxy: [
        '# delete from frontend and backend:',
        'http-request del-header Upgrade',
        'http-request del-header Connection',
      ],
    },
    host: {
      nginx: [
        '# in the location of the dashboard, instead of any other Host line',
        'proxy_set_header Host $proxy_host;',
      ],
      caddy: ['# in reverse_proxy', 'header_up Host {upstream_hostport}'],
      haproxy: ['# in the backend', `http-request set-header Host ${upstream}`],
    },
    origin: {
      nginx: ['# in the location of the dashboard', 'proxy_set_header Origin "";'],
      caddy: ['# in reverse_proxy', 'header_up -Origin'],
      haproxy: ['# in the backend', 'http-request del-header Origin'],
    },
    prefix: {
      nginx: [
        `location ${prefix}/ {`,
        `    proxy_pass http://${upstream}/;`,
        `    proxy_set_header X-Forwarded-Prefix ${prefix};`,
        '    proxy_http_version 1.1;',
        '    proxy_set_header Upgrade $http_upgrade;',
        '    proxy_set_header Connection "upgrade";',
        '}',
      ],
      caddy: [
        `handle_path ${prefix}/* {`,
        `    reverse_proxy ${upstream} {`,
        '        header_up Host {upstream_hostport}',
        `        header_up X-Forwarded-Prefix ${prefix}`,
        '    }',
        '}',
      ],
      haproxy: [
        '# in the backend',
        `http-request set-header X-Forwarded-Prefix ${prefix}`,
        `http-request replace-path ${prefix}(/)?(.*) /\\2`,
      ],
    },
    'forwarded-for': {
      nginx: ['# in the location of the dashboard', 'proxy_set_header X-Forwarded-For "";'],
      caddy: ['# in reverse_proxy', 'header_up -X-Forwarded-For'],
      haproxy: ['# in the backend, and no `option forwardfor`', 'http-request del-header X-Forwarded-For'],
    },
    idle: {
      nginx: [
        '# in the location of the dashboard, instead of what sets the same',
        'proxy_read_timeout 1h;',
        'proxy_send_timeout 1h;',
      ],
      caddy: ['# delete from reverse_proxy:', 'stream_timeout'],
      haproxy: ['# in the backend, instead of another one', 'timeout tunnel 1h'],
    },
    upstream: {
      nginx: [`proxy_pass http://${upstream};`],
      caddy: [`reverse_proxy ${upstream}`],
      haproxy: [`server hermes ${upstream}`],
    },
  };
  return table[fault][kind];
};

const kinds: readonly Kind[] = ['nginx', 'caddy', 'haproxy'];

/** The proxy that the answers name in their Server header; all three where none is named. */
function proxiesOf(reading: Reading): readonly Kind[] {
  const servers = reading.facts.http
    .flatMap((fact) => fact.headers?.server ?? [])
    .join(' ')
    .toLowerCase();
  const named = kinds.filter((kind) => servers.includes(kind));
  return named.length > 0 ? named : kinds;
}

export function proxyRemedies(reading: Reading, fault: ProxyFault): Remedy[] {
  const upstream = `127.0.0.1:${reading.process?.port ?? 9119}`;
  const prefix = pathPrefix(reading.facts.service?.url ?? '') || '/hermes';
  return proxiesOf(reading).map((kind) => ({
    id: `${kind}-${fault}`,
    carrier: 'config',
    where: 'on-host',
    commands: reload[kind],
    lines: lines(kind, fault, prefix, upstream),
    restart: 'none',
    reversible: true,
  }));
}

/** Path of a base URL without a trailing slash; empty when there is none. */
export function pathPrefix(url: string): string {
  const match = /^[a-z]+:\/\/[^/?#]+([^?#]*)/i.exec(url);
  return (match?.[1] ?? '').replace(/\/+$/, '');
}
