import { join, resolve } from 'node:path';
import { usageError } from '../../errors.ts';
import { type ConfigRequest, type HostConfig, hostConfig } from './config.ts';
import { sshError } from './failures.ts';
import type { LocalSide, SshNote, SshOptions } from './types.ts';

/** How to reach and log in to one machine. All paths absolute, all tokens replaced. */
export interface HopSettings {
  hostName: string;
  port: number;
  user: string;
  hostKeyAlias: string | null;
  identityFiles: string[];
  /** Identity files are the defaults, which need not exist. */
  defaultIdentities: boolean;
  identitiesOnly: boolean;
  /** Socket of the agent; null for none. */
  agent: string | null;
  userKnownHostsFiles: string[];
  globalKnownHostsFiles: string[];
  hashKnownHosts: boolean;
  connectTimeoutMs: number | null;
  family: 0 | 4 | 6;
  /** Methods in the order to try: publickey, keyboard-interactive, password. */
  methods: string[];
  /** A person may be asked. */
  mayAsk: boolean;
  /** With --allow-config-exec only. */
  proxyCommand: string | null;
}

export interface Route {
  /** The target last. */
  hops: HopSettings[];
  notes: SshNote[];
}

interface HopName {
  host: string;
  user: string | null;
  port: number | null;
}

const mostHops = 8;

/**
 * Settings for the target and every jump host before it.
 *
 * @throws CompatError usage, SSH_CONFIG_UNSUPPORTED, SSH_NEEDS_SYSTEM_CLIENT
 */
export async function resolveRoute(options: SshOptions): Promise<Route> {
  const target = { host: options.address, user: options.user ?? null, port: options.port ?? null };
  const notes: SshNote[] = [];
  const hops = await resolveHops(target, null, { options, notes, depth: 0 });
  return { hops, notes };
}

interface Resolving {
  options: SshOptions;
  notes: SshNote[];
  depth: number;
}

/** @param through jump hosts that the caller gives instead of those of the configuration */
async function resolveHops(name: HopName, through: HopName[] | null, at: Resolving): Promise<HopSettings[]> {
  const { options, notes, depth } = at;
  checkName(name);
  if (depth > mostHops)
    throw usageError(`ProxyJump of ${options.address} goes through more than ${mostHops} hosts`);
  const request: ConfigRequest = {
    ...name,
    local: options.local,
    configFile: options.configFile,
    allowExec: options.allowConfigExec === true,
  };
  const config = await hostConfig(request);
  notes.push(...config.notes);
  const own = hopSettings(name, config, options.local);
  const jumps = through ?? parseJumps(config.get('proxyjump'));
  const last = jumps.at(-1);
  if (last === undefined) return [checkedCommand(own, name.host, config, options)];
  const before = jumps.length > 1 ? jumps.slice(0, -1) : null;
  return [...(await resolveHops(last, before, { options, notes, depth: depth + 1 })), own];
}

function checkedCommand(
  own: HopSettings,
  host: string,
  config: HostConfig,
  options: SshOptions,
): HopSettings {
  if (own.proxyCommand === null || options.allowConfigExec === true) return own;
  throw sshError(
    'SSH_CONFIG_UNSUPPORTED',
    `ProxyCommand would start a program to reach ${host}, and was not run. Use --ssh-command, or --allow-config-exec.`,
    { directive: 'ProxyCommand', host, value: config.get('proxycommand') ?? '' },
  );
}

/** `[user@]host[:port]` or `ssh://…`, with commas. */
export function parseJumps(text: string | undefined): HopName[] {
  if (text === undefined || text === '' || text.toLowerCase() === 'none') return [];
  return text.split(',').map((word) => {
    const rest = word
      .trim()
      .replace(/^ssh:\/\//, '')
      .replace(/\/$/, '');
    const at = rest.lastIndexOf('@');
    const [, bare = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(rest.slice(at + 1)) ?? [];
    return {
      host: bare.replace(/^\[|\]$/g, ''),
      user: at < 0 ? null : rest.slice(0, at),
      port: port === undefined ? null : Number(port),
    };
  });
}

/** Nothing that a program could take for an option, and nothing that a shell reads. */
export function checkName({ host, user, port }: HopName): void {
  if (!/^(?!-)[A-Za-z0-9_.:%-]{1,253}$/.test(host))
    throw usageError('the ssh target has no usable host name (letters, digits, dots, dashes)');
  if (user !== null && !/^(?!-)[A-Za-z0-9_.@\\+-]{1,64}\$?$/.test(user))
    throw usageError('the ssh target has a user name with characters that no account has');
  if (port !== null && !(Number.isInteger(port) && port > 0 && port < 65_536))
    throw usageError('the ssh target has no usable port (1 to 65535)');
}

function hopSettings(name: HopName, config: HostConfig, local: LocalSide): HopSettings {
  const user = name.user ?? config.get('user') ?? local.user;
  const port = Number(config.get('port') ?? 22);
  const hostName = (config.get('hostname') ?? name.host).replaceAll('%h', name.host).replaceAll('%%', '%');
  checkName({ host: hostName, user, port });
  const alias = config.get('hostkeyalias');
  const tokens: Tokens = {
    n: name.host,
    h: hostName,
    p: String(port),
    r: user,
    k: alias ?? name.host,
    local,
  };
  const files = (key: string, fallback: string[]): string[] => {
    const given = config.all(key).flatMap((value) => (value.toLowerCase() === 'none' ? [] : [value]));
    return (config.all(key).length === 0 ? fallback : given).map((path) => expandPath(path, tokens));
  };
  const identities = files('identityfile', defaultIdentities);
  const plain = (config.get('revokedhostkeys') ?? 'none').toLowerCase();
  if (plain !== 'none') {
    throw sshError(
      'SSH_NEEDS_SYSTEM_CLIENT',
      `RevokedHostKeys is set for ${name.host}; that needs --ssh-command.`,
      {
        host: name.host,
        why: 'RevokedHostKeys',
      },
    );
  }
  return {
    hostName,
    port,
    user,
    hostKeyAlias: alias === undefined || alias.toLowerCase() === 'none' ? null : alias,
    identityFiles: identities,
    defaultIdentities: identities.every((path) => defaultPaths(local.home).includes(path)),
    identitiesOnly: isYes(config.get('identitiesonly')),
    agent: agentSocket(config.get('identityagent'), tokens),
    userKnownHostsFiles: files('userknownhostsfile', ['~/.ssh/known_hosts', '~/.ssh/known_hosts2']),
    globalKnownHostsFiles: files('globalknownhostsfile', [
      '/etc/ssh/ssh_known_hosts',
      '/etc/ssh/ssh_known_hosts2',
    ]),
    hashKnownHosts: isYes(config.get('hashknownhosts')),
    connectTimeoutMs: Number(config.get('connecttimeout')) * 1000 || null,
    family: { inet: 4 as const, inet6: 6 as const }[config.get('addressfamily') ?? ''] ?? 0,
    methods: methodsOf(config),
    mayAsk: !isYes(config.get('batchmode')),
    proxyCommand: proxyCommand(config.get('proxycommand'), tokens),
  };
}

const defaultIdentities = ['~/.ssh/id_ed25519', '~/.ssh/id_ecdsa', '~/.ssh/id_rsa'];
const defaultPaths = (home: string): string[] =>
  ['rsa', 'ecdsa', 'ecdsa_sk', 'ed25519', 'ed25519_sk', 'xmss', 'dsa'].map((type) =>
    join(home, `.ssh/id_${type}`),
  );

const isYes = (value: string | undefined): boolean => ['yes', 'true'].includes(value?.toLowerCase() ?? '');
const isNo = (value: string | undefined): boolean => ['no', 'false'].includes(value?.toLowerCase() ?? '');

const knownMethods: readonly [string, string][] = [
  ['publickey', 'pubkeyauthentication'],
  ['keyboard-interactive', 'kbdinteractiveauthentication'],
  ['password', 'passwordauthentication'],
];

function methodsOf(config: HostConfig): string[] {
  const allowed = knownMethods.filter(([, key]) => !isNo(config.get(key))).map(([method]) => method);
  const preferred = config.get('preferredauthentications')?.split(',');
  return preferred === undefined ? allowed : preferred.filter((method) => allowed.includes(method));
}

interface Tokens {
  n: string;
  h: string;
  p: string;
  r: string;
  k: string;
  local: LocalSide;
}

/** `%` tokens of ssh_config(5) that name host, port and users; others stay as they are and then name no file. */
const expandTokens = (text: string, { n, h, p, r, k, local }: Tokens): string =>
  text.replaceAll(
    /%([%nhprkud])/g,
    (_, token: string) => ({ '%': '%', n, h, p, r, k, u: local.user, d: local.home })[token] ?? '',
  );

function expandPath(path: string, tokens: Tokens): string {
  const { home, env } = tokens.local;
  const named = expandTokens(path, tokens).replaceAll(/\$\{(\w+)\}/g, (_, name: string) => env[name] ?? '');
  const absolute = named === '~' || named.startsWith('~/') ? home + named.slice(1) : named;
  return resolve(absolute);
}

function agentSocket(given: string | undefined, tokens: Tokens): string | null {
  const { env } = tokens.local;
  const value = given ?? 'SSH_AUTH_SOCK';
  if (value.toLowerCase() === 'none') return null;
  if (value === 'SSH_AUTH_SOCK') return env['SSH_AUTH_SOCK'] || null;
  if (/^\$\w+$/.test(value)) return env[value.slice(1)] || null;
  return expandPath(value, tokens);
}

function proxyCommand(given: string | undefined, tokens: Tokens): string | null {
  return given === undefined || given.toLowerCase() === 'none' ? null : expandTokens(given, tokens);
}
