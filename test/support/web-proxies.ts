import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Real reverse proxies as throw-away foreground processes on loopback, each with its own configuration. */
export type ProxyKind = 'nginx' | 'caddy' | 'haproxy';

export const proxyKinds: readonly ProxyKind[] = ['nginx', 'caddy', 'haproxy'];

const programs: Record<ProxyKind, readonly string[]> = {
  nginx: ['/usr/sbin/nginx', '/usr/bin/nginx'],
  caddy: ['/usr/bin/caddy'],
  haproxy: ['/usr/sbin/haproxy', '/usr/bin/haproxy'],
};

const programOf = (kind: ProxyKind): string | undefined => programs[kind].find((path) => existsSync(path));

/** All three are there. Where they must be (CI), a missing one fails; elsewhere it is said once. */
export function haveWebProxies(): boolean {
  const missing = proxyKinds.filter((kind) => programOf(kind) === undefined);
  if (missing.length === 0) return true;
  const say = `not installed: ${missing.join(', ')} (apt-get install nginx-light caddy haproxy)`;
  if (process.env['HERMES_COMPAT_REQUIRE_PROXIES'] === '1') throw new Error(say);
  console.warn(`tests with real proxies are skipped; ${say}`);
  return false;
}

export interface WebProxy {
  /** Ends it and starts it again with another configuration. */
  restart: (config: string) => Promise<void>;
  stop: () => Promise<void>;
}

/** @param config names `port` on 127.0.0.1 as where it listens */
export async function startWebProxy(kind: ProxyKind, port: number, config: string): Promise<WebProxy> {
  const folder = await mkdtemp(join(tmpdir(), `edge-${kind}-`));
  let end = await run(kind, port, config, folder);
  return {
    restart: async (next) => {
      await end();
      end = await run(kind, port, next, folder);
    },
    stop: async () => {
      await end();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

const fileOf = { nginx: 'nginx.conf', caddy: 'Caddyfile', haproxy: 'haproxy.cfg' } as const;

function argvOf(kind: ProxyKind, folder: string): { test: string[]; run: string[] } {
  const file = join(folder, fileOf[kind]);
  switch (kind) {
    case 'nginx': {
      const base = ['-p', folder, '-e', 'stderr', '-c', file];
      return { test: ['-t', ...base], run: base };
    }
    case 'caddy':
      return {
        test: ['validate', '--config', file, '--adapter', 'caddyfile'],
        run: ['run', '--config', file, '--adapter', 'caddyfile'],
      };
    case 'haproxy':
      return { test: ['-c', '-f', file], run: ['-db', '-f', file] };
    default: {
      const never: never = kind;
      return never;
    }
  }
}

async function run(
  kind: ProxyKind,
  port: number,
  config: string,
  folder: string,
): Promise<() => Promise<void>> {
  const program = programOf(kind);
  if (program === undefined) throw new Error(`${kind} is not installed`);
  await writeFile(join(folder, fileOf[kind]), config);
  const env = { PATH: '/usr/bin:/bin', HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const argv = argvOf(kind, folder);
  const checked = spawnSync(program, argv.test, { env, encoding: 'utf8', timeout: 30_000 });
  if (checked.status !== 0)
    throw new Error(`${kind} refuses its configuration:\n${checked.stderr}${checked.stdout}\n${config}`);
  const child = spawn(program, argv.run, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  const add = (chunk: Buffer): void => {
    said = (said + chunk.toString()).slice(-20_000);
  };
  child.stdout.on('data', add);
  child.stderr.on('data', add);
  const kill = (): void => {
    child.kill('SIGKILL');
  };
  process.once('exit', kill);
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const end = async (): Promise<void> => {
    process.off('exit', kill);
    child.kill('SIGKILL');
    await gone;
  };
  const listening = await untilListening(port, child);
  if (listening) return end;
  await end();
  throw new Error(`${kind} does not listen on ${port}:\n${said}\n${config}`);
}

async function untilListening(port: number, child: ChildProcess): Promise<boolean> {
  const deadline = Date.now() + 30_000;
  while (Date.now() < deadline && child.exitCode === null && child.signalCode === null) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
    if (open) return true;
    await sleep(50);
  }
  return false;
}
