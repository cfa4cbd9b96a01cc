import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { usageError } from '../../errors.ts';
import { type ConfigLine, mentionsExec, readConfig } from './config-file.ts';
import { type ConfigValues, configValues } from './config-values.ts';
import { firstLine, sshError } from './failures.ts';
import type { LocalSide, SshNote } from './types.ts';

/** What ssh_config says for one host, by `ssh -G` where that runs nothing, else by our own reading. */
export interface HostConfig {
  get(key: string): string | undefined;
  all(key: string): string[];
  notes: SshNote[];
}

export interface ConfigRequest {
  host: string;
  user: string | null;
  port: number | null;
  local: LocalSide;
  configFile: string | undefined;
  allowExec: boolean;
}

/** Directives that we cannot honour, and that change whom we reach, how, or as whom. */
const unsupported = new Set([
  'bindaddress',
  'bindinterface',
  'canonicaldomains',
  'certificatefile',
  'ciphers',
  'gssapiauthentication',
  'hostbasedauthentication',
  'hostkeyalgorithms',
  'kexalgorithms',
  'knownhostscommand',
  'macs',
  'pkcs11provider',
  'proxyusefdpass',
  'pubkeyacceptedalgorithms',
  'securitykeyprovider',
  'tag',
  'verifyhostkeydns',
]);

/** Without these a connection may reach another machine, or another account of it. */
const routing = new Set([
  'hostname',
  'hostkeyalias',
  'port',
  'proxycommand',
  'proxyjump',
  'user',
  'userknownhostsfile',
]);

/** @throws CompatError usage when the configuration is broken, SSH_CONFIG_UNSUPPORTED when `Match exec` decides whom to reach */
export async function hostConfig(request: ConfigRequest): Promise<HostConfig> {
  const lines = await readAll(request);
  const { host, user, local, port } = request;
  const read = configValues(lines, { host, user, localUser: local.user });
  const values = new Map(read.values);
  const notes: SshNote[] = [];
  if (mentionsExec(lines) && !request.allowExec) notes.push(...undecidedNotes(read, host));
  else for (const [key, all] of (await askSsh(request)) ?? []) values.set(key, mergePaths(key, all, read));
  if (port !== null) values.set('port', [String(port)]);
  notes.push(...unsupportedNotes(read));
  return {
    get: (key) => values.get(key)?.[0],
    all: (key) => values.get(key) ?? [],
    notes,
  };
}

async function readAll({ configFile, local }: ConfigRequest): Promise<ConfigLine[]> {
  const own = join(local.home, '.ssh');
  try {
    if (configFile !== undefined) return await readConfig(configFile, own, local.home);
    const user = await readConfig(join(own, 'config'), own, local.home);
    return [...user, ...(await readConfig('/etc/ssh/ssh_config', '/etc/ssh', local.home))];
  } catch (error) {
    throw usageError(`the ssh configuration cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

function undecidedNotes({ undecided }: ConfigValues, host: string): SshNote[] {
  const decisive = undecided.find(({ sets }) => sets.some((line) => routing.has(line.keyword)));
  if (decisive !== undefined) {
    const { file, line } = decisive.match;
    throw sshError(
      'SSH_CONFIG_UNSUPPORTED',
      `${file}:${line}: a "Match" that runs a command decides how ${host} is reached, and nothing of it was run. ` +
        'Use --ssh-command, or --allow-config-exec.',
      { directive: 'Match exec', file, line, host },
    );
  }
  return undecided.map(({ match }) => unsupportedNote(match, 'Match exec'));
}

const unsupportedNotes = ({ set }: ConfigValues): SshNote[] =>
  set.filter((line) => isUnsupported(line)).map((line) => unsupportedNote(line, line.keyword));

function isUnsupported({ keyword, words, file }: ConfigLine): boolean {
  const value = words[0]?.toLowerCase() ?? '';
  if (keyword === 'stricthostkeychecking') return ['no', 'off', 'accept-new'].includes(value);
  if (!unsupported.has(keyword) || value === 'no' || value === 'none') return false;
  // Debian's system-wide file turns GSSAPI on for everybody.
  return !(keyword === 'gssapiauthentication' && file.startsWith('/etc/'));
}

const unsupportedNote = ({ file, line }: ConfigLine, directive: string): SshNote => ({
  code: 'SSH_CONFIG_UNSUPPORTED',
  args: { directive, file, line },
});

/** `ssh -G` joins lists of paths by blanks, so that a path with a blank falls apart; what we read ourselves does not. */
function mergePaths(key: string, given: string[], read: ConfigValues): string[] {
  if (!key.endsWith('knownhostsfile')) return given;
  const own = read.set.find((line) => line.keyword === key);
  return own === undefined ? given.flatMap((value) => value.split(' ')) : own.words;
}

/** The ssh program's own view: it prints settings and connects to nothing. null without an ssh program. */
function askSsh(request: ConfigRequest): Promise<Map<string, string[]> | null> {
  const { configFile, host, user, port, local } = request;
  const argv = [
    '-T',
    '-G',
    ...(configFile === undefined ? [] : ['-F', configFile]),
    ...(user === null ? [] : ['-l', user]),
    ...(port === null ? [] : ['-p', String(port)]),
    '--',
    host,
  ];
  return new Promise((resolve, reject) => {
    execFile('ssh', argv, { env: withoutHermes(local.env), timeout: 10_000 }, (error, stdout, stderr) => {
      if (error?.code === 'ENOENT') return resolve(null);
      if (error) return reject(usageError(`ssh -G: ${firstLine(stderr) || error.message}`));
      const values = new Map<string, string[]>();
      for (const line of stdout.split('\n')) {
        const space = line.indexOf(' ');
        if (space < 0) continue;
        const key = line.slice(0, space);
        values.set(key, [...(values.get(key) ?? []), line.slice(space + 1)]);
      }
      resolve(values);
    });
  });
}

/** What a child of ours may see: nothing of a local engine. */
export const withoutHermes = (env: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !entry[0].startsWith('HERMES_'),
    ),
  );
