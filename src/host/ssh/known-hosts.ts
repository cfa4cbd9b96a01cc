import { createHash, createHmac } from 'node:crypto';

/** One line of a known_hosts file that could be read. */
export interface KnownHost {
  file: string;
  line: number;
  marker: 'revoked' | 'cert-authority' | null;
  /** Comma-separated patterns, or one hashed name. */
  names: string;
  type: string;
  key: Buffer;
}

export type HostKeyVerdict =
  | { state: 'known' }
  /** `others`: lines for this host with keys of other types. */
  | { state: 'unknown'; others: KnownHost[]; authority: KnownHost | null }
  | { state: 'changed'; line: KnownHost }
  | { state: 'revoked'; line: KnownHost };

/** Lines of a known_hosts file (sshd(8)); what is not understood is left out, as OpenSSH does. */
export function parseKnownHosts(text: string, file: string): KnownHost[] {
  return text.split(/\r?\n/).flatMap((content, index) => {
    const words = content.trim().split(/[ \t]+/);
    if (words[0] === undefined || words[0] === '' || words[0].startsWith('#')) return [];
    const marked = words[0].startsWith('@');
    const marker = marked ? words[0].slice(1) : null;
    if (marker !== null && marker !== 'revoked' && marker !== 'cert-authority') return [];
    const [names, type, base64] = marked ? words.slice(1) : words;
    if (names === undefined || type === undefined || base64 === undefined) return [];
    const key = Buffer.from(base64, 'base64');
    return keyType(key) === type ? [{ file, line: index + 1, marker, names, type, key }] : [];
  });
}

/**
 * Is this key the host's? `names` are how known_hosts may write the host: `host`, or `[host]:port` and then `host`.
 * A line without the port counts only when it holds this very key.
 */
export function judgeHostKey(
  lines: readonly KnownHost[],
  names: readonly string[],
  key: Buffer,
): HostKeyVerdict {
  const [exact = ''] = names;
  const same = (line: KnownHost): boolean => line.key.equals(key);
  const relevant = lines.filter((line) => names.some((name) => matchesName(line, name)));
  const revoked = relevant.find((line) => line.marker === 'revoked' && same(line));
  if (revoked !== undefined) return { state: 'revoked', line: revoked };
  const plain = relevant.filter((line) => line.marker === null);
  const own = plain.filter((line) => matchesName(line, exact));
  if (own.some(same)) return { state: 'known' };
  const changed = own.find((line) => line.type === keyType(key));
  if (changed !== undefined) return { state: 'changed', line: changed };
  if (plain.some(same)) return { state: 'known' };
  const others = own.length > 0 ? own : plain;
  const authority = relevant.find((line) => line.marker === 'cert-authority') ?? null;
  return { state: 'unknown', others, authority };
}

/** Types of the keys that are known for this host: what to ask the server for first. */
export const knownTypes = (lines: readonly KnownHost[], names: readonly string[]): string[] => [
  ...new Set(
    lines
      .filter((line) => line.marker === null && names.some((name) => matchesName(line, name)))
      .map((line) => line.type),
  ),
];

/** How known_hosts writes a host. An alias (HostKeyAlias) stands without the port. */
export function hostKeyNames(hostName: string, port: number, alias: string | null): string[] {
  if (alias !== null) return [alias.toLowerCase()];
  const name = hostName.toLowerCase();
  return port === 22 ? [name] : [`[${name}]:${port}`, name];
}

/** The line to add for a key. */
export function knownHostLine(name: string, key: Buffer, salt: Buffer | null): string {
  const written =
    salt === null ? name : `|1|${salt.toString('base64')}|${hmac(salt, name).toString('base64')}`;
  return `${written} ${keyType(key)} ${key.toString('base64')}`;
}

/** As OpenSSH prints it. */
export const keyFingerprint = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;

/** The type that a public key blob names first. */
export function keyType(key: Buffer): string {
  if (key.length < 4) return '';
  const length = key.readUInt32BE(0);
  return length > 64 || length + 4 > key.length ? '' : key.toString('latin1', 4, 4 + length);
}

const hmac = (salt: Buffer, name: string): Buffer => createHmac('sha1', salt).update(name).digest();

function matchesName(line: KnownHost, name: string): boolean {
  if (line.names.startsWith('|1|')) {
    const [, , salt = '', digest = ''] = line.names.split('|');
    return hmac(Buffer.from(salt, 'base64'), name).equals(Buffer.from(digest, 'base64'));
  }
  return matchesPatterns(line.names.toLowerCase().split(','), name);
}

/** A list of patterns with `*`, `?` and `!`, as in known_hosts and ssh_config: one `!` that matches decides against. */
export function matchesPatterns(patterns: readonly string[], name: string): boolean {
  let matched = false;
  for (const pattern of patterns) {
    const negated = pattern.startsWith('!');
    if (!wildcard(negated ? pattern.slice(1) : pattern, name)) continue;
    if (negated) return false;
    matched = true;
  }
  return matched;
}

/** Greedy match with one place to return to: linear in what is matched, whatever the pattern. */
function wildcard(pattern: string, text: string): boolean {
  let p = 0;
  let star = -1;
  let retry = 0;
  for (let t = 0; t < text.length;) {
    if (p < pattern.length && pattern[p] === '*') {
      star = p++;
      retry = t;
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[t])) {
      p++;
      t++;
    } else if (star >= 0) {
      p = star + 1;
      t = ++retry;
    } else return false;
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}
