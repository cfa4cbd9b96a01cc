import type { Reading } from './reading.ts';

/** Reverse proxies that we know the configuration of. */
export type ProxyKind = 'nginx' | 'caddy' | 'haproxy';

const kinds: readonly ProxyKind[] = ['nginx', 'caddy', 'haproxy'];

/** Everything that answers named itself in `Server`: nginx puts its own there, Caddy adds its own, HAProxy leaves the engine's. */
const serversOf = ({ facts }: Reading): string[] =>
  [...facts.http, ...facts.ws].flatMap(({ headers }) => headers?.server ?? []);

/** Names in `Server` that are no engine's: something stands in between. */
export const proxiesSeen = (reading: Reading): string[] => [
  ...new Set(serversOf(reading).filter((name) => !/^(uvicorn|python)\b/i.test(name))),
];

/** The pages that HAProxy writes itself carry no Server. Source: src/http.c of 2.6. */
const haproxyPage =
  /No server is available to handle this request|The server didn't respond in time|You need a valid user and password to access this content|The resource could not be found|Request forbidden by administrative rules/;

export const saysHaproxy = ({ facts }: Reading): boolean =>
  facts.http.some(
    ({ headers, body }) => headers?.server.length === 0 && haproxyPage.test(body?.detail ?? ''),
  );

/** Those that may be meant, the likeliest first: only the one that is named, else all. */
export function proxyKinds(reading: Reading): readonly ProxyKind[] {
  const named = proxiesSeen(reading).join(' ').toLowerCase();
  const found = kinds.filter((kind) => named.includes(kind));
  if (found.length > 0) return found;
  if (saysHaproxy(reading)) return ['haproxy'];
  return serversOf(reading).length > 0 ? ['haproxy', 'nginx', 'caddy'] : kinds;
}
