import { randomBytes } from 'node:crypto';
import { appendFile, mkdir, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { sshError } from './failures.ts';
import {
  hostKeyNames,
  judgeHostKey,
  keyFingerprint,
  type KnownHost,
  knownHostLine,
  knownTypes,
  keyType,
  parseKnownHosts,
} from './known-hosts.ts';
import type { HopSettings } from './settings.ts';

/** Decides about the key of one server. */
export interface HostKeyCheck {
  /** Key types in the order to ask for; null for the library's own order. */
  prefer: string[] | null;
  /** @throws CompatError SSH_HOSTKEY_UNKNOWN, _CHANGED, _REVOKED, SSH_NEEDS_SYSTEM_CLIENT */
  verify(key: Buffer): Promise<void>;
}

/** What we can verify; certificates cannot be. */
const supported = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'ssh-rsa',
];
const algorithmsOf = (type: string): string[] =>
  type === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256'] : [type];

export async function hostKeyCheck(settings: HopSettings, acceptNew: boolean): Promise<HostKeyCheck> {
  const files = [...settings.userKnownHostsFiles, ...settings.globalKnownHostsFiles];
  const lines = (await Promise.all(files.map(readLines))).flat();
  const names = hostKeyNames(settings.hostName, settings.port, settings.hostKeyAlias);
  const known = knownTypes(lines, names).filter((type) => supported.includes(type));
  const rest = supported.filter((type) => !known.includes(type));
  return {
    prefer: known.length === 0 ? null : [...known, ...rest].flatMap(algorithmsOf),
    verify: (key) => verify(key, { settings, acceptNew, lines, names }),
  };
}

interface Known {
  settings: HopSettings;
  acceptNew: boolean;
  lines: KnownHost[];
  names: string[];
}

async function verify(key: Buffer, { settings, acceptNew, lines, names }: Known): Promise<void> {
  const name = names[0] ?? settings.hostName;
  const type = keyType(key);
  const fingerprint = keyFingerprint(key);
  const shown = { host: name, type, fingerprint };
  const verdict = judgeHostKey(lines, names, key);
  switch (verdict.state) {
    case 'known':
      return;
    case 'revoked':
      throw sshError(
        'SSH_HOSTKEY_REVOKED',
        `${name} shows a key that ${place(verdict.line)} revokes (${type} ${fingerprint}). No credential was sent to it.`,
        { ...shown, file: verdict.line.file, line: verdict.line.line },
      );
    case 'changed':
      throw sshError(
        'SSH_HOSTKEY_CHANGED',
        `${name} shows another ${type} key (${fingerprint}) than ${place(verdict.line)} knows (${keyFingerprint(verdict.line.key)}). ` +
          'Someone may be in between, or the host was set up anew. No credential was sent to it.',
        {
          ...shown,
          file: verdict.line.file,
          line: verdict.line.line,
          expected: keyFingerprint(verdict.line.key),
        },
      );
    case 'unknown': {
      if (verdict.authority !== null && !acceptNew) {
        throw sshError(
          'SSH_NEEDS_SYSTEM_CLIENT',
          `${name} is trusted through @cert-authority (${place(verdict.authority)}), which needs --ssh-command.`,
          { ...shown, why: 'cert-authority', file: verdict.authority.file, line: verdict.authority.line },
        );
      }
      if (acceptNew) return record(settings, name, key);
      const others = verdict.others.map((line) => line.type).join(', ');
      throw sshError(
        'SSH_HOSTKEY_UNKNOWN',
        `${name} is not in known_hosts${others === '' ? '' : ` with this type of key (known: ${others})`}. ` +
          `It shows ${type} ${fingerprint}. Compare that with the host's own, then use --accept-new-host-key.`,
        { ...shown, known: others },
      );
    }
  }
}

/** Adds the key to the first user file. */
async function record(settings: HopSettings, name: string, key: Buffer): Promise<void> {
  const [file] = settings.userKnownHostsFiles;
  try {
    if (file === undefined) throw new Error('UserKnownHostsFile names no file');
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const line = knownHostLine(name, key, settings.hashKnownHosts ? randomBytes(20) : null);
    await appendFile(file, `${(await endsOpen(file)) ? '\n' : ''}${line}\n`, { mode: 0o600 });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw sshError(
      'SSH_HOSTKEY_UNKNOWN',
      `the key of ${name} could not be recorded: ${why}`,
      { host: name, type: keyType(key), fingerprint: keyFingerprint(key) },
      { cause: error },
    );
  }
}

/** A last line without an end would swallow ours. */
async function endsOpen(file: string): Promise<boolean> {
  const handle = await open(file, 'r').catch(() => null);
  if (handle === null) return false;
  try {
    const { size } = await handle.stat();
    if (size === 0) return false;
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    return buffer[0] !== 0x0a;
  } finally {
    await handle.close();
  }
}

async function readLines(file: string): Promise<KnownHost[]> {
  try {
    return parseKnownHosts(await readFile(file, 'utf8'), file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw sshError(
      'SSH_HOSTKEY_UNKNOWN',
      `${file} cannot be read: ${(error as Error).message}`,
      { file },
      { cause: error },
    );
  }
}

const place = (line: KnownHost): string => `${line.file}:${line.line}`;
