import { createHash } from 'node:crypto';
import { usageError } from '../errors.ts';
import type { Credential } from './types.ts';

/** What the command line says about credentials: names and files, never a secret itself. */
export interface CredentialFlags {
  tokenEnv?: string | undefined;
  tokenFile?: string | undefined;
  tokenStdin?: boolean | undefined;
  tokenCommand?: string | undefined;
  username?: string | undefined;
  passwordEnv?: string | undefined;
  passwordFile?: string | undefined;
  passwordStdin?: boolean | undefined;
}

/** Where secrets can be read from; handed in by the command line. */
export interface SecretSources {
  env: Record<string, string | undefined>;
  readFile(path: string): Promise<string>;
  readStdin(): Promise<string>;
  runCommand(command: string): Promise<string>;
}

/** First 8 hex digits of sha256: all that reports show of a secret. */
export const fingerprint = (secret: string): string =>
  createHash('sha256').update(secret).digest('hex').slice(0, 8);

/**
 * The one credential that the flags and `HERMES_COMPAT_TOKEN` name, or null.
 *
 * @throws CompatError usage, when two are named, one is empty, or a source cannot be read
 */
export async function readCredential(
  flags: CredentialFlags,
  sources: SecretSources,
): Promise<Credential | null> {
  const named = tokenSources.filter(({ flag }) => flags[flag] !== undefined && flags[flag] !== false);
  if (named.length > 1)
    throw usageError(`give one of ${named.map(({ option }) => option).join(', ')}, not several`);
  if (flags.username !== undefined) {
    if (named[0] !== undefined) throw usageError(`--username and ${named[0].option} exclude each other`);
    return readLogin(flags.username, flags, sources);
  }
  const passwordFlag = passwordSources.find(({ flag }) => flags[flag] !== undefined && flags[flag] !== false);
  if (passwordFlag !== undefined) throw usageError(`${passwordFlag.option} needs --username`);
  const [token] = named;
  if (token !== undefined) {
    const secret = cleanToken(await token.read(flags, sources), token.option);
    return { kind: 'token', source: token.source, secret, username: null, fingerprint: fingerprint(secret) };
  }
  const fromEnv = sources.env['HERMES_COMPAT_TOKEN'];
  if (fromEnv === undefined || fromEnv === '') return null;
  const secret = cleanToken(fromEnv, 'HERMES_COMPAT_TOKEN');
  return { kind: 'token', source: 'env', secret, username: null, fingerprint: fingerprint(secret) };
}

async function readLogin(
  username: string,
  flags: CredentialFlags,
  sources: SecretSources,
): Promise<Credential> {
  const named = passwordSources.filter(({ flag }) => flags[flag] !== undefined && flags[flag] !== false);
  const [password] = named;
  if (password === undefined || named.length > 1) {
    throw usageError('--username needs one of --password-env, --password-file and --password-stdin');
  }
  const secret = clean(await password.read(flags, sources), password.option);
  return { kind: 'login', source: 'password', secret, username, fingerprint: fingerprint(secret) };
}

interface Source {
  flag: keyof CredentialFlags;
  option: string;
  source: Credential['source'];
  read(flags: CredentialFlags, sources: SecretSources): Promise<string>;
}

const fromVariable = (name: string, option: string, sources: SecretSources): string => {
  const value = sources.env[name];
  if (value === undefined)
    throw usageError(`${option}: the environment variable ${name.slice(0, 80)} is not set`);
  return value;
};

const tokenSources: readonly Source[] = [
  {
    flag: 'tokenEnv',
    option: '--token-env',
    source: 'token-env',
    read: async (flags, sources) => fromVariable(flags.tokenEnv ?? '', '--token-env', sources),
  },
  {
    flag: 'tokenFile',
    option: '--token-file',
    source: 'token-file',
    read: (flags, sources) => sources.readFile(flags.tokenFile ?? ''),
  },
  {
    flag: 'tokenStdin',
    option: '--token-stdin',
    source: 'token-stdin',
    read: (_, sources) => sources.readStdin(),
  },
  {
    flag: 'tokenCommand',
    option: '--token-command',
    source: 'token-command',
    read: (flags, sources) => sources.runCommand(flags.tokenCommand ?? ''),
  },
];

const passwordSources: readonly Source[] = [
  {
    flag: 'passwordEnv',
    option: '--password-env',
    source: 'password',
    read: async (flags, sources) => fromVariable(flags.passwordEnv ?? '', '--password-env', sources),
  },
  {
    flag: 'passwordFile',
    option: '--password-file',
    source: 'password',
    read: (flags, sources) => sources.readFile(flags.passwordFile ?? ''),
  },
  {
    flag: 'passwordStdin',
    option: '--password-stdin',
    source: 'password',
    read: (_, sources) => sources.readStdin(),
  },
];

/** One final line break is how files and `echo` end; anything else belongs to the secret. */
function clean(text: string, option: string): string {
  const secret = text.replace(/\r?\n$/, '');
  if (secret === '') throw usageError(`${option} gave an empty secret`);
  if (/[\u0000-\u001f\u007f]/.test(secret))
    throw usageError(`${option} gave a secret with a line break or control character in it`);
  if (secret.length > 8192) throw usageError(`${option} gave more than 8192 characters`);
  return secret;
}

/** A header loses blanks at the ends of a token and a URL keeps them, so that REST passes and the WebSocket is refused. A password may have them. */
function cleanToken(text: string, option: string): string {
  const secret = clean(text, option);
  if (secret.trim() !== secret) throw usageError(`${option} gave a token with blanks before or behind it`);
  return secret;
}
