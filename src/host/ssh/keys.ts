import { readFile, stat } from 'node:fs/promises';
import type { ParsedKey } from 'ssh2';

/** What became of an identity file. */
export type Identity =
  | { state: 'usable'; path: string; key: ParsedKey; bytes: Buffer; passphrase: string | null }
  | { state: 'encrypted'; path: string; bytes: Buffer }
  | { state: 'missing'; path: string }
  /** Why: `permissions`, `security-key`, `certificate`, `unreadable`, `unknown-format`, `wrong-passphrase`. */
  | { state: 'refused'; path: string; why: string };

type ParseKey = typeof import('ssh2').utils.parseKey;

/** Reads one identity file. A key that others may read is refused, as OpenSSH does. */
export async function readIdentity(path: string, parseKey: ParseKey): Promise<Identity> {
  try {
    const { mode } = await stat(path);
    const bytes = await readFile(path);
    if (looksPublic(bytes)) return { state: 'refused', path, why: 'public-key' };
    if ((mode & 0o077) !== 0) return { state: 'refused', path, why: 'permissions' };
    return parseIdentity(path, bytes, null, parseKey);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { state: 'missing', path };
    return { state: 'refused', path, why: 'unreadable' };
  }
}

export function parseIdentity(
  path: string,
  bytes: Buffer,
  passphrase: string | null,
  parseKey: ParseKey,
): Identity {
  const parsed = passphrase === null ? parseKey(bytes) : parseKey(bytes, passphrase);
  const key = Array.isArray(parsed) ? parsed[0] : parsed;
  if (key instanceof Error || key === undefined) {
    const message = key?.message ?? '';
    if (passphrase === null && /encrypted|passphrase/i.test(message))
      return { state: 'encrypted', path, bytes };
    if (passphrase !== null) return { state: 'refused', path, why: 'wrong-passphrase' };
    return { state: 'refused', path, why: isSecurityKey(bytes) ? 'security-key' : 'unknown-format' };
  }
  if (!key.isPrivateKey()) return { state: 'refused', path, why: 'public-key' };
  return { state: 'usable', path, key, bytes, passphrase };
}

const looksPublic = (bytes: Buffer): boolean =>
  /^(ssh-|ecdsa-|sk-)\S+ AAAA/.test(bytes.toString('latin1', 0, 100));

/** The type stands readable in the public half, also of an encrypted key. */
const isSecurityKey = (bytes: Buffer): boolean =>
  Buffer.from(bytes.toString('latin1').replaceAll(/-----[^-]*-----|\s/g, ''), 'base64').includes('sk-');
