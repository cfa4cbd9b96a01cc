import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { CompatError } from '../../src/errors.ts';
import type { SshOptions } from '../../src/host/ssh/types.ts';
import type { Host } from '../../src/host/types.ts';
import { freePort } from './engines.ts';
import { reaching } from './reach.ts';

/** A real sshd needs root here: it logs in throw-away accounts. */
export const canRunSshd = process.getuid?.() === 0 && existsSync('/usr/sbin/sshd');

// The gate installs it; without it the SSH tests would be skipped and look green.
if (process.env['HERMES_COMPAT_REQUIRE_ENGINES'] === '1' && process.getuid?.() === 0 && !canRunSshd)
  throw new Error('openssh-server is missing, which the gate needs');

export const has = (program: string): boolean => existsSync(program);

const run = (command: string, args: string[], input?: string): string =>
  execFileSync(command, args, { encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'], input: input ?? '' });

/** The finding code of what an opening throws, or `opened` (and closed again). */
export const finding = (opening: Promise<Host>): Promise<string> =>
  opening.then(
    async (host) => {
      await host.close();
      return 'opened';
    },
    (error: unknown) =>
      error instanceof CompatError ? (error.details.finding ?? error.kind) : String(error),
  );

export interface Account {
  name: string;
  home: string;
  uid: number;
}

export interface AccountOptions {
  shell?: string;
  password?: string;
  /** A second name of uid 0, with a shell and home of its own: it reaches what the person who runs the tests has. */
  root?: boolean;
  /** Files below the home folder. */
  files?: Record<string, string>;
}

export interface Rig {
  /** Client side: a home folder with `.ssh`, keys and known_hosts, as a user of the tool has it. */
  clientHome: string;
  dir: string;
  /** Adds an account that lets the client's default key in. Names are unique to this rig. */
  account(label: string, options?: AccountOptions): Promise<Account>;
  /** Starts a server of its own with these further lines of sshd_config. */
  sshd(lines?: string[], options?: SshdOptions): Promise<Sshd>;
  /** What `openSshHost` needs to log in there with the client's key, the host key known. */
  options(server: Sshd, account: Account, more?: Partial<SshOptions>): SshOptions;
  keygen(name: string, args?: string[]): string;
  /** Line of the client's default key, as authorized_keys has it. */
  publicKey(): Promise<string>;
  /** Lets the account use sudo by this rule, e.g. `ALL=(ALL) NOPASSWD: ALL`. */
  sudo(account: Account, rule: string): Promise<void>;
  /** An ssh-agent with these keys; its socket. */
  agent(keys: string[]): Promise<string>;
  /** Removes these files from the account's home. */
  remove(account: Account, names: string[]): Promise<void>;
  /** Command lines that this account runs. */
  processes(account: Account): string[];
  end(): Promise<void>;
}

export interface SshdOptions {
  hostKeys?: string[];
  sftp?: boolean;
  /** Folders that every account can read there, read-only, whatever is above them. */
  reach?: readonly string[];
}

export interface Sshd {
  port: number;
  pid: number;
  /** Public host keys, `type base64`. */
  keys: string[];
  logs(): string;
  /** Adds its keys to the client's known_hosts. */
  trust(): Promise<void>;
  stop(): Promise<void>;
}

/** A client home, throw-away accounts and real servers on loopback. `end` removes all of it. */
export async function sshRig(): Promise<Rig> {
  const dir = await mkdtemp(join(tmpdir(), 'hc-ssh-'));
  await chmod(dir, 0o755);
  const clientHome = join(dir, 'client');
  await mkdir(join(clientHome, '.ssh'), { recursive: true, mode: 0o700 });
  const keygen = (name: string, args: string[] = []): string => {
    const path = join(clientHome, '.ssh', name);
    run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', path, ...args]);
    return path;
  };
  keygen('id_ed25519');
  await mkdir('/run/sshd', { recursive: true });
  const accounts: string[] = [];
  const servers: Sshd[] = [];
  const agents: ChildProcess[] = [];
  const rules: string[] = [];
  const known = join(clientHome, '.ssh', 'known_hosts');
  const rig: Rig = {
    clientHome,
    dir,
    keygen,
    sudo: async ({ name }, rule) => {
      const path = `/etc/sudoers.d/${name}`;
      rules.push(path);
      await writeFile(path, `${name} ${rule}\n`, { mode: 0o440 });
    },
    agent: async (keys) => {
      const socket = join(dir, `agent-${agents.length}`);
      const child = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
      agents.push(child);
      while (!existsSync(socket)) await sleep(20);
      for (const key of keys)
        execFileSync('ssh-add', ['-q', key], {
          env: { ...process.env, SSH_AUTH_SOCK: socket },
          stdio: 'ignore',
        });
      return socket;
    },
    remove: async ({ home }, names) => {
      for (const name of names) await rm(join(home, name));
    },
    processes: ({ uid }) => {
      try {
        return run('ps', ['-U', String(uid), '-o', 'stat=,args='])
          .split('\n')
          .filter((line) => line !== '' && !line.startsWith('Z'));
      } catch {
        return [];
      }
    },
    publicKey: () => readFile(join(clientHome, '.ssh/id_ed25519.pub'), 'utf8'),
    account: async (label, { shell = '/bin/bash', password, root = false, files = {} } = {}) => {
      const name = `hc${process.pid}${label}`.slice(0, 31);
      const home = join(dir, 'home', label);
      await mkdir(join(dir, 'home'), { recursive: true });
      run('useradd', [...(root ? ['-o', '-u', '0', '-g', '0'] : []), '-m', '-d', home, '-s', shell, name]);
      accounts.push(name);
      // usermod -p '*' keeps the account without a password, yet not locked.
      run('usermod', ['-p', '*', name]);
      if (password !== undefined) run('chpasswd', [], `${name}:${password}\n`);
      await chmod(home, 0o755);
      const all = {
        '.ssh/authorized_keys': await rig.publicKey(),
        ...files,
      };
      for (const [path, text] of Object.entries(all)) {
        await mkdir(join(home, path, '..'), { recursive: true });
        await writeFile(join(home, path), text);
      }
      run('chown', ['-R', `${name}:`, home]);
      return { name, home, uid: Number(run('id', ['-u', name])) };
    },
    sshd: async (lines = [], { hostKeys = ['ed25519'], sftp = true, reach = [] } = {}) => {
      const subsystem = sftp ? ['Subsystem sftp /usr/lib/openssh/sftp-server'] : [];
      const server = await startSshd(dir, [...lines, ...subsystem], { hostKeys, reach, known });
      servers.push(server);
      await server.trust();
      return server;
    },
    options: (server, account, more = {}) => ({
      address: '127.0.0.1',
      port: server.port,
      user: account.name,
      local: { home: clientHome, user: 'nobody', env: { PATH: process.env['PATH'] } },
      configFile: more.configFile ?? join(clientHome, '.ssh', 'config'),
      timeoutMs: 8000,
      ...more,
    }),
    end: async () => {
      await Promise.all(servers.map((server) => server.stop()));
      for (const agent of agents) agent.kill();
      for (const path of rules) await rm(path, { force: true });
      for (const name of accounts) {
        await endProcessesOf(name);
        try {
          run('userdel', [name]);
        } catch {
          // A process of a test still ends; the account goes with the next try.
          await sleep(500);
          run('userdel', ['-f', name]);
        }
      }
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  await writeFile(join(clientHome, '.ssh', 'config'), clientConfig(clientHome));
  return rig;
}

/** ssh takes `~` from the passwd entry, so the files of the throw-away home are named. */
const clientConfig = (home: string): string =>
  [
    'Host *',
    `  UserKnownHostsFile ${home}/.ssh/known_hosts`,
    '  GlobalKnownHostsFile /dev/null',
    `  IdentityFile ${home}/.ssh/id_ed25519`,
    '',
  ].join('\n');

/** Ends what the throw-away account still runs, each by its pid. */
async function endProcessesOf(name: string): Promise<void> {
  const uid = Number(run('id', ['-u', name]));
  // The whole machine is uid 0's.
  if (uid === 0) return;
  const pids = (): number[] => {
    try {
      return run('ps', ['-U', String(uid), '-o', 'pid='])
        .split('\n')
        .map(Number)
        .filter(Boolean);
    } catch {
      return [];
    }
  };
  for (let i = 0; i < 20 && pids().length > 0; i++) {
    for (const pid of pids()) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It ended by itself.
      }
    }
    await sleep(50);
  }
}

/** A server that outlives its test run would hold a port. */
const dieWithUs = existsSync('/usr/bin/setpriv') ? ['/usr/bin/setpriv', '--pdeathsig', 'KILL'] : [];

async function startSshd(
  dir: string,
  lines: string[],
  { hostKeys: types, reach, known }: { hostKeys: string[]; reach: readonly string[]; known: string },
): Promise<Sshd> {
  const port = await freePort();
  const base = join(dir, `sshd-${port}`);
  await mkdir(base);
  const hostKeys = types.map((type) => {
    const path = join(base, `host_${type}`);
    run('ssh-keygen', ['-q', '-t', type, '-N', '', '-C', '', '-f', path]);
    return path;
  });
  const config = [
    ...lines,
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    ...hostKeys.map((path) => `HostKey ${path}`),
    `PidFile ${base}/pid`,
    ...(lines.some((line) => /^UsePAM/i.test(line)) ? [] : ['UsePAM no']),
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'StrictModes yes',
    'LogLevel VERBOSE',
    '',
  ];
  await writeFile(join(base, 'config'), config.join('\n'));
  const before = reach.length === 0 ? [] : await reaching(reach, join(base, 'stage'));
  const argv = [...dieWithUs, ...before, '/usr/sbin/sshd', '-D', '-e', '-f', join(base, 'config')];
  const child = spawn(argv[0] as string, argv.slice(1), {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const end = (): void => void child.kill('SIGKILL');
  process.once('exit', end);
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await untilListening(port, () => text, child.exitCode);
  const keys = await Promise.all(
    hostKeys.map(async (path) =>
      (await readFile(`${path}.pub`, 'utf8')).trim().split(' ').slice(0, 2).join(' '),
    ),
  );
  return {
    port,
    pid: child.pid as number,
    keys,
    logs: () => text,
    trust: async () => {
      const entries = keys.map((key) => `[127.0.0.1]:${port} ${key}\n`).join('');
      await writeFile(known, entries, { flag: 'a' });
    },
    stop: async () => {
      process.off('exit', end);
      child.kill('SIGTERM');
      await Promise.race([gone, sleep(3000, undefined, { ref: false })]);
      end();
    },
  };
}

async function untilListening(port: number, logs: () => string, exit: number | null): Promise<void> {
  for (let i = 0; i < 100; i++) {
    if (exit !== null) break;
    const up = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('close', () => socket.destroy());
      socket.once('connect', () => socket.destroy());
    });
    if (up) return;
    await sleep(50);
  }
  throw new Error(`sshd does not listen:\n${logs()}`);
}
