import { execFileSync, spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Simulator, startSimulator } from '../../src/simulate/index.ts';
import { bin } from '../support/bin.ts';
import { copyEngine } from '../support/engine-copy.ts';
import { requireEngines } from '../support/engines.ts';
import { namespace } from '../support/real-tree.ts';
import { type Account, canRunSshd, type Rig, sshRig } from '../support/sshd.ts';
import type { Line } from './commands.ts';
import { type Page, root } from './markdown.ts';

const secret = 'token-of-the-pages-0123456789';
const version = '0.14.0';

export interface Ended {
  code: number | null;
  output: string;
}

/** Where the commands of a page are run: a home of their own, with a dashboard, an engine and an ssh host to look at. */
export interface Sandbox {
  run(line: Line): Promise<Ended>;
  /** Why nothing of this line could be run here; null when it was. */
  lacks(line: Line): string | null;
  end(): Promise<void>;
}

/** @param whole also a real `ssh` host `box`, where it can be had */
export async function sandbox(page: Page, whole: boolean): Promise<Sandbox> {
  const rig = whole && canRunSshd ? await sshRig() : null;
  const folder = rig?.clientHome ?? (await realpath(await mkdtemp(join(tmpdir(), 'pages-'))));
  const account = rig === null ? null : await rig.account('box', { root: true });
  const simulator = await startSimulator({ release: '0.19.0', library: true, token: secret });
  for (const name of ['bin', '.hermes']) await mkdir(join(folder, name), { recursive: true, mode: 0o700 });
  // ssh takes the configuration of the account, whatever HOME says.
  const config = `case "$*" in *box* | preflight*) set -- "$@" --ssh-config "${folder}/.ssh/config" ;; esac`;
  await writeFile(
    join(folder, 'bin/hermes-compat'),
    `#!/bin/sh\n${rig === null ? '' : config}\nexec "${process.execPath}" "${bin}" "$@"\n`,
  );
  // A table of jobs that is nobody's.
  await writeFile(
    join(folder, 'bin/crontab'),
    `#!/bin/sh\ncase "$1" in\n-l) cat "${folder}/jobs" 2>/dev/null || { echo "no crontab for me" >&2; exit 1; } ;;\n-r) rm -f "${folder}/jobs" ;;\n*) cat >"${folder}/jobs" ;;\nesac\n`,
  );
  for (const name of ['hermes-compat', 'crontab']) await chmod(join(folder, 'bin', name), 0o755);
  await symlink(join(root, 'cases'), join(folder, 'cases'));
  const engine = await requireEngines(version);
  if (engine) {
    await copyEngine(version, join(folder, 'venv'));
    await symlink(join(folder, 'venv/bin/hermes'), join(folder, 'bin/hermes'));
  }
  if (rig !== null && account !== null) {
    await boxIn(rig, account);
    await mkdir(join(account.home, '.local/bin'), { recursive: true });
    await symlink(join(folder, 'venv/bin/hermes'), join(account.home, '.local/bin/hermes'));
  }
  const here = (text: string): string =>
    inThisHome(text, simulator).replaceAll('--become hermes', `--become ${account?.name ?? 'hermes'}`);
  for (const { info, text } of page.fences)
    if (['yaml', 'json', 'text'].includes(info[0] ?? '') && info[1] !== undefined)
      await writeFile(join(folder, info[1]), here(text));
  return {
    run: (line) => start(here(line.text), folder),
    lacks: (line) => {
      const away = /\bssh:\/\/|\bbox\b/.test(line.text);
      if (rig === null && away) return 'no sshd';
      const local =
        !away && !/https?:/.test(line.text) && /hermes-compat (doctor|detect|patch|update|launch|hook|turn)/;
      return !engine && local !== false && local.test(line.text) ? 'no engine' : null;
    },
    end: async () => {
      await simulator.close();
      if (rig === null) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
      else await rig.end();
    },
  };
}

/** `box` of the ssh configuration. */
async function boxIn(rig: Rig, account: Account): Promise<void> {
  const server = await rig.sshd(['PermitRootLogin yes']);
  const config = join(rig.clientHome, '.ssh/config');
  const known = join(rig.clientHome, '.ssh/known_hosts');
  const keys = server.keys.map((key) => `[127.0.0.1]:${server.port} ${key}\nbox ${key}\n`).join('');
  await writeFile(known, keys, { flag: 'a' });
  const box = `Host box\n  HostName 127.0.0.1\n  Port ${server.port}\n  User ${account.name}\n`;
  await writeFile(config, `${box}\n${await readFile(config, 'utf8')}`);
}

/** The addresses of the pages, as they are here. */
const inThisHome = (text: string, { url }: Simulator): string =>
  text
    .replaceAll(/https?:\/\/(?:127\.0\.0\.1|localhost):9119/g, url)
    .replaceAll(/https?:\/\/[\w.-]*example\.(?:com|org)(?::\d+)?/g, url)
    .replaceAll(/ssh:\/\/(?:\w+@)?box(?::\d+)?(?:\/[\w./-]*)?/g, 'ssh://box');

/** Engines of other tests run on this machine: where the kernel lets us, a command sees its own processes only. */
const alone = ((): readonly string[] => {
  try {
    execFileSync(namespace[0] as string, [...namespace.slice(1), 'true'], { stdio: 'ignore' });
    return namespace;
  } catch {
    return [];
  }
})();

/** Questions are answered with yes; what goes on for ever is ended when it has said something. */
function start(text: string, folder: string): Promise<Ended> {
  const answered = text.replaceAll(
    /(hermes-compat (?:doctor[^&|;]*--fix|patch (?:apply|revert)|hook (?:install|remove)|update|turn|record|bundle)[^&|;#]*)/g,
    (line) => (/--yes|--dry-run|--list/.test(line) ? line : line.replace(/(\s--\s|\s*$)/, ' --yes$1')),
  );
  const forEver = /--watch|hermes-compat simulate(?!.*--(?:list|for))/.test(text);
  const argv = [...alone, 'bash', '-c', answered];
  const child = spawn(argv[0] as string, argv.slice(1), {
    cwd: folder,
    env: {
      PATH: `${folder}/bin:/usr/local/bin:/usr/bin:/bin`,
      HOME: folder,
      LANG: 'C.UTF-8',
      NO_COLOR: '1',
      ...Object.fromEntries(variables.map((name) => [name, secret])),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  const add = (chunk: Buffer): void => {
    output += chunk.toString();
    if (forEver && /\n/.test(output)) end('SIGINT');
  };
  const end = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-(child.pid as number), signal);
    } catch {
      // It ended by itself.
    }
  };
  child.stdout.on('data', add);
  child.stderr.on('data', add);
  const timer = setTimeout(() => end('SIGKILL'), 240_000);
  return new Promise((resolve) =>
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code: forEver && (code === 130 || code === null) ? 0 : code, output });
    }),
  );
}

/** Names of tokens and passwords that the pages use. */
const variables = ['HERMES_FLEET_TOKEN', 'FLEET_TOKEN', 'WEB_TOKEN', 'WEBSITE_TOKEN', 'HERMES_PASSWORD'];
