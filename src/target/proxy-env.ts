import { BlockList, isIP } from 'node:net';
import { usageError } from '../errors.ts';

/** An HTTP proxy and what named it: an option or an environment variable. */
export interface ProxyChoice {
  /** http(s)://[user:password@]host:port. Never for a document: it may hold a password. */
  url: string;
  from: string;
}

type Env = Record<string, string | undefined>;

/**
 * The proxy that the environment names for a URL, by the conventions of curl: HTTPS_PROXY or HTTP_PROXY by scheme, else ALL_PROXY,
 * lower case first; NO_PROXY holds names, `.domains`, addresses and CIDR ranges. This machine itself is always reached directly.
 *
 * @throws CompatError usage, for a proxy of another kind
 */
export function proxyFromEnv(url: string, env: Env): ProxyChoice | null {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replaceAll(/^\[|\]$/g, '');
  if (isThisMachine(host)) return null;
  const scheme = protocol.slice(0, -1);
  const from = [`${scheme}_proxy`, `${scheme.toUpperCase()}_PROXY`, 'all_proxy', 'ALL_PROXY'].find(
    (name) => (env[name] ?? '') !== '',
  );
  if (from === undefined) return null;
  const exceptions = env['no_proxy'] ?? env['NO_PROXY'] ?? '';
  if (isExcepted(host, port === '' ? (scheme === 'https' ? '443' : '80') : port, exceptions)) return null;
  return { url: parsed(env[from] ?? '', from), from };
}

/** A name below localhost never leaves the machine: RFC 6761 §6.3. */
const isThisMachine = (host: string): boolean =>
  /^(?:(?:.+\.)?localhost\.?|127(?:\.\d{1,3}){3}|::1)$/i.test(host);

function parsed(text: string, from: string): string {
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(withScheme)) throw usageError(`the environment variable ${from} holds no URL`);
  const url = new URL(withScheme);
  if (!/^https?:$/.test(url.protocol))
    throw usageError(
      `${from} names a ${url.protocol.slice(0, -1)} proxy; only http and https ones can be used. Name another with --proxy, or except the address in NO_PROXY`,
    );
  return url.href;
}

function isExcepted(host: string, port: string, exceptions: string): boolean {
  const entries = exceptions.split(/[\s,]+/).filter((entry) => entry !== '');
  return entries.some((entry) => entry === '*' || matches(host.toLowerCase(), port, entry.toLowerCase()));
}

function matches(host: string, port: string, entry: string): boolean {
  const range = /^([\da-f.:]+)\/(\d{1,3})$/.exec(entry);
  if (range !== null) return isInRange(host, range[1] ?? '', Number(range[2]));
  if (isIP(entry) !== 0) return isInRange(host, entry, isIP(entry) === 4 ? 32 : 128);
  const [, bracketed, plain, wanted] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? [];
  if (wanted !== undefined && wanted !== port) return false;
  if (bracketed !== undefined) return isInRange(host, bracketed, 128);
  if (plain === undefined) return false;
  if (isIP(plain) !== 0) return isInRange(host, plain, 32);
  const domain = plain.replace(/^\*?\./, '');
  return host === domain || host.endsWith(`.${domain}`);
}

/** Addresses as they are written only: a name is not resolved for this. */
function isInRange(host: string, network: string, prefix: number): boolean {
  const family = isIP(network);
  if (family === 0 || isIP(host) !== family || prefix > (family === 4 ? 32 : 128)) return false;
  const list = new BlockList();
  const type = family === 4 ? 'ipv4' : 'ipv6';
  list.addSubnet(network, prefix, type);
  return list.check(host, type);
}
