import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './engines.ts';

export type ProxyKind = 'nginx' | 'caddy' | 'haproxy';

/** A site of a real proxy in front of one port of 127.0.0.1. */
export interface Site {
  kind: ProxyKind;
  /** Address that clients use; 127.0.0.3 is a name that a loopback engine does not accept. */
  listen?: string;
  upstream: number;
  /** Directives inside location, reverse_proxy or backend. */
  lines: readonly string[];
  /** Instead of the usual location or site body. */
  block?: readonly string[];
}

export interface RunningProxy {
  url: string;
  stop(): Promise<void>;
}

/** With HERMES_COMPAT_REQUIRE_PROXIES=1 a proxy that is not installed is a failure; else its tests are skipped and say so. */
export const hasProxy = (kind: ProxyKind): boolean => {
  try {
    execFileSync('sh', ['-c', 'command -v "$1"', 'sh', kind], { env: { PATH: searchPath }, stdio: 'ignore' });
    return true;
  } catch {
    if (process.env['HERMES_COMPAT_REQUIRE_PROXIES'] === '1')
      throw new Error(`${kind} is required here and not installed`);
    console.warn(`${kind} is not installed: its tests are skipped`);
    return false;
  }
};

const searchPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const indented = (lines: readonly string[], by: string): string =>
  lines.map((line) => `${by}${line}`).join('\n');

function nginxText({ upstream, lines, block }: Site, listen: string, folder: string): string {
  const temps = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const body = block ?? [
    `location / {`,
    `    proxy_pass http://127.0.0.1:${upstream};`,
    ...lines.map((line) => `    ${line}`),
    '}',
  ];
  return `daemon off;\npid ${folder}/nginx.pid;\nerror_log stderr;\nworker_processes 1;\nevents {}\nhttp {\n  access_log off;\n${indented(temps, '  ')}\n  server {\n    listen ${listen};\n${indented(body, '    ')}\n  }\n}\n`;
}

function caddyText({ upstream, lines, block }: Site, listen: string): string {
  const body = block ?? [`reverse_proxy 127.0.0.1:${upstream} {`, ...lines.map((line) => `    ${line}`), '}'];
  return `{\n  admin off\n  auto_https off\n}\nhttp://${listen} {\n${indented(body, '  ')}\n}\n`;
}

const haproxyText = ({ upstream, lines }: Site, listen: string): string =>
  `defaults\n  mode http\n  timeout connect 5s\n  timeout client 30s\n  timeout server 30s\nfrontend f\n  bind ${listen}\n  default_backend b\nbackend b\n${indented(lines, '  ')}\n  server s 127.0.0.1:${upstream}\n`;

const commandOf = (kind: ProxyKind, file: string, folder: string): [string, string[]] => {
  if (kind === 'nginx') return ['nginx', ['-c', file, '-p', folder]];
  if (kind === 'caddy') return ['caddy', ['run', '--config', file, '--adapter', 'caddyfile']];
  return ['haproxy', ['-db', '-f', file]];
};

/** Starts the proxy in the foreground, as a child of the test, and waits until its port is open. */
export async function startProxy(site: Site): Promise<RunningProxy> {
  const folder = await mkdtemp(join(tmpdir(), `hermes-compat-${site.kind}-`));
  const host = site.listen ?? '127.0.0.1';
  const port = await freePort();
  const file = join(folder, 'proxy.conf');
  const text = { nginx: nginxText, caddy: caddyText, haproxy: haproxyText }[site.kind](
    site,
    `${host}:${port}`,
    folder,
  );
  await writeFile(file, text);
  const [command, args] = commandOf(site.kind, file, folder);
  const child = spawn(command, args, {
    env: { PATH: searchPath, HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const stop = async (): Promise<void> => {
    await ended(child);
    await rm(folder, { recursive: true, force: true });
  };
  for (let attempt = 0; attempt < 100; attempt++) {
    if (child.exitCode !== null) break;
    if (await isOpen(host, port)) return { url: `http://${host}:${port}`, stop };
    await sleep(50);
  }
  await stop();
  throw new Error(`${site.kind} did not start: ${said.slice(-2000)}\n${text}`);
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 3000);
  await gone;
  clearTimeout(timer);
}

const isOpen = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, host);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

/** What a person does who follows the printed lines: take out what they name, or put them in the place of what sets the same. */
export function follow(lines: readonly string[], advice: readonly string[]): string[] {
  const said = advice.filter((line) => !line.startsWith('#'));
  const key = (line: string): string =>
    /^(proxy_set_header \S+|header_up -?\S+|http-request \S+ \S+|timeout \S+|\S+)/.exec(line)?.[1] ?? line;
  if (/delete/.test(advice[0] ?? ''))
    return lines.filter((line) => !said.some((gone) => line.startsWith(gone)));
  return [...lines.filter((line) => !said.some((added) => key(added) === key(line))), ...said];
}
