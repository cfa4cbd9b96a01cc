import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, readlink, realpath, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { engineDir } from './engine-install.ts';

export { engineDir, fullLadder, ladder, requireEngines, sitePackages } from './engine-install.ts';

export interface EngineOptions {
  /** A rung of the ladder, e.g. `0.14.0` or `0.22.2.post1`. */
  version: string;
  /** Root of another virtual environment than the shared one, e.g. an edited copy. */
  venv?: string;
  /** HERMES_HOME; default a new empty one, removed by `stop`. One that is given stays. */
  home?: string;
  /** Added to PATH, HOME, LANG, HERMES_HOME. */
  env?: Record<string, string>;
  /** Further arguments, after ours. */
  args?: string[];
  /** Session token for 0.16+; default a random one, null to give none (then the page is asked). */
  token?: string | null;
  host?: string;
  port?: number;
  mode?: 'dashboard' | 'serve';
}

export interface Engine {
  url: string;
  port: number;
  pid: number;
  /** What a client must send: given to the engine (0.16+), else read from its page; null when it has no page. */
  token: string | null;
  home: string;
  /** Ends this process by its pid and removes the home that was made for it. Safe to call twice. */
  stop: () => Promise<void>;
  /** All that it printed so far, both streams. */
  logs: () => string;
}

/** Starts a real engine and waits until `/api/status` answers 200. Throws with its output when it dies or stays silent. */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const scratch = await realpath(await mkdtemp(join(tmpdir(), 'hermes-engine-')));
  try {
    return await start(options, scratch);
  } catch (error) {
    await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
    // Another worker took the port between our look and the engine's bind.
    if (options.port === undefined && /in use|BACKEND_PORT_IN_USE/.test(String(error)))
      return startEngine({ ...options, port: await freePort() });
    throw error;
  }
}

async function start(options: EngineOptions, scratch: string): Promise<Engine> {
  const home = options.home ?? join(scratch, '.hermes');
  await mkdir(home, { recursive: true });
  const host = options.host ?? '127.0.0.1';
  const port = options.port ?? (await freePort());
  const given = options.token === undefined ? randomToken() : options.token;
  const child = spawnEngine(options, {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: scratch,
    LANG: 'C.UTF-8',
    HERMES_HOME: home,
    ...(given === null ? {} : { HERMES_DASHBOARD_SESSION_TOKEN: given }),
    ...options.env,
  })(['--no-open', '--host', host, '--port', String(port), ...(options.args ?? [])]);
  const running = follow(child);
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const stop = async (): Promise<void> => {
    await running.end();
    await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await untilStatus(url, running, () => listens(child.pid as number, port));
    const token = honoursToken(options.version) ? given : null;
    return {
      url,
      port,
      pid: child.pid as number,
      token: token ?? (await pageToken(url)),
      home,
      stop,
      logs: running.logs,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A copy that outlives its test run would hold ports and CPU: where the kernel can, it dies with us. */
const dieWithUs = existsSync('/usr/bin/setpriv') ? ['/usr/bin/setpriv', '--pdeathsig', 'KILL'] : [];

const spawnEngine = (options: EngineOptions, env: Record<string, string>) => (flags: string[]) => {
  const bin = join(options.venv ?? engineDir(options.version), 'bin');
  const argv = [
    ...dieWithUs,
    join(bin, 'python'),
    join(bin, 'hermes'),
    options.mode ?? 'dashboard',
    ...flags,
  ];
  return spawn(argv[0] as string, argv.slice(1), {
    env,
    cwd: env['HOME'],
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
};

interface Running {
  logs: () => string;
  ended: () => string | null;
  end: () => Promise<void>;
}

function follow(child: ChildProcess): Running {
  let text = '';
  let ended: string | null = null;
  const add = (chunk: Buffer): void => {
    text = (text + chunk.toString()).slice(-1_000_000);
  };
  child.stdout?.on('data', add);
  child.stderr?.on('data', add);
  const kill = (): void => {
    child.kill('SIGKILL');
  };
  process.once('exit', kill);
  const gone = new Promise<void>((resolve) => {
    const done = (how: string) => (): void => {
      ended ??= how;
      process.off('exit', kill);
      resolve();
    };
    child.once('error', (error) => done(error.message)());
    child.once('close', (code, signal) => done(`exit ${code ?? signal}`)());
  });
  return {
    logs: () => text,
    ended: () => ended,
    end: async () => {
      child.kill('SIGTERM');
      await Promise.race([gone, sleep(8000, undefined, { ref: false })]);
      if (ended === null) child.kill('SIGKILL');
      await gone;
    },
  };
}

async function untilStatus(url: string, running: Running, isOurs: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 90_000;
  while (Date.now() < deadline) {
    if (running.ended() !== null) throw new Error(`engine ended (${running.ended()}):\n${running.logs()}`);
    const status = await fetch(`${url}/api/status`, { signal: AbortSignal.timeout(5000) }).then(
      async (answer) => (await answer.arrayBuffer(), answer.status),
      () => null,
    );
    // An engine of another run may have taken the port while ours was still importing; then ours ends.
    if (status === 200 && (await isOurs())) return;
    await sleep(100);
  }
  throw new Error(`no /api/status within 90 s:\n${running.logs()}`);
}

/** Does this process listen on the port? Where the system does not say, it is believed. */
async function listens(pid: number, port: number): Promise<boolean> {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')),
  );
  if (tables.every((text) => text === '')) return true;
  const sockets = tables
    .flatMap((text) => text.split('\n').map((line) => line.trim().split(/\s+/)))
    .filter((words) => words[1]?.endsWith(local) === true && words[3] === '0A')
    .map((words) => `socket:[${words[9] ?? ''}]`);
  const open = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const links = await Promise.all(open.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')));
  return links.some((link) => sockets.includes(link));
}

const honoursToken = (version: string): boolean => Number(version.split('.')[1]) >= 16;

const randomToken = (): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('base64url');

async function pageToken(url: string): Promise<string | null> {
  const page = await fetch(url).then((answer) => answer.text());
  return /__HERMES_SESSION_TOKEN__\s*=\s*"([^"]+)"/.exec(page)?.[1] ?? null;
}

/** A port that nothing listened on a moment ago. */
export function freePort(host = '127.0.0.1'): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, host, () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
