import { type ProxyKind, proxyKinds } from '../proxy-seen.ts';
import type { Reading } from '../reading.ts';
import type { Remedy } from '../schema.ts';
import { type ProxyFault, proxyLines } from './proxy-lines.ts';

const reload: Record<ProxyKind, string[][]> = {
  nginx: [
    ['nginx', '-t'],
    ['nginx', '-s', 'reload'],
  ],
  caddy: [['caddy', 'reload', '--config', '/etc/caddy/Caddyfile']],
  haproxy: [['systemctl', 'reload', 'haproxy']],
};

/** What to change in the proxy in front, for the one that names itself or for each that it may be. */
export function proxyRemedies(reading: Reading, fault: ProxyFault): Remedy[] {
  const setup = {
    upstream: `127.0.0.1:${reading.process?.port ?? 9119}`,
    prefix: pathPrefix(reading.facts.service?.url ?? ''),
  };
  return proxyKinds(reading).map((kind) => ({
    id: `${kind}-${fault}`,
    carrier: 'config',
    where: 'on-host',
    commands: reload[kind],
    lines: proxyLines(kind, fault, setup),
    restart: 'none',
    reversible: true,
  }));
}

/** Path of a base URL without a trailing slash; empty when there is none. */
export function pathPrefix(url: string): string {
  const match = /^[a-z]+:\/\/[^/?#]+([^?#]*)/i.exec(url);
  return (match?.[1] ?? '').replace(/\/+$/, '');
}
