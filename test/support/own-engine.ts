import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Report } from '../../src/judge/schema.ts';
import { document, runCli } from './cli.ts';
import { copyEngine } from './engine-copy.ts';
import { freePort } from './engines.ts';
import { pidsOf } from './processes-of.ts';

/** A copy of a release with a home and a port of its own, which may be edited, started and left behind. */
export interface OwnEngine {
  folder: string;
  home: string;
  venv: string;
  site: string;
  port: number;
  /** A script that starts its dashboard in the foreground. */
  start: string;
  env: Record<string, string>;
  doctor(...more: string[]): Promise<Report>;
  untilAnswers(): Promise<void>;
  /** A change of the code that comes after the start. */
  touchCode(): Promise<void>;
  /** Runs the script apart from us, as somebody by hand. */
  startByHand(through?: string): Promise<void>;
  remove(): Promise<void>;
}

export async function ownEngine(version: string): Promise<OwnEngine> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hermes-own-')));
  const home = join(folder, 'home');
  const venv = join(folder, 'engine');
  await mkdir(home, { mode: 0o700 });
  const site = await copyEngine(version, venv);
  const port = await freePort();
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: folder, LANG: 'C.UTF-8' };
  const start = join(folder, 'start.sh');
  await writeFile(start, startScript(venv, home, port, env), { mode: 0o755 });
  const server = join(site, 'hermes_cli/web_server.py');
  return {
    folder,
    home,
    venv,
    site,
    port,
    start,
    env,
    async doctor(...more) {
      const words = ['doctor', `local:${venv}`, '--home', home, '--port', String(port), '--json', ...more];
      return document<Report & { kind: 'report' }>(await runCli(words, { env, timeoutMs: 240_000 }));
    },
    untilAnswers: () => untilAnswers(port),
    async touchCode() {
      // Start times are known to a second at best.
      await sleep(2100);
      await writeFile(`${server}.new`, `${await readFile(server, 'utf8')}\n# later\n`);
      await rename(`${server}.new`, server);
    },
    async startByHand(through = start) {
      spawn('/bin/sh', ['-c', `setsid "${through}" >>"${folder}/log" 2>&1 </dev/null &`], {
        env,
        stdio: 'ignore',
      });
      await untilAnswers(port);
    },
    async remove() {
      await endAllOf(folder);
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

export const startScript = (
  venv: string,
  home: string,
  port: number,
  env: Record<string, string>,
): string => `#!/bin/sh
export HERMES_HOME="${home}" HOME="${env['HOME'] ?? ''}"
exec "${venv}/bin/python" "${venv}/bin/hermes" dashboard --no-open --host 127.0.0.1 --port ${port}
`;

/** Waits for `/api/status`; a first start on a busy machine takes a minute. */
export async function untilAnswers(port: number): Promise<void> {
  for (const end = Date.now() + 180_000; Date.now() < end; await sleep(300)) {
    const answer = await fetch(`http://127.0.0.1:${port}/api/status`, {
      signal: AbortSignal.timeout(5000),
    }).catch(() => null);
    if (answer?.status === 200) return;
  }
  throw new Error(`nothing answers on port ${port}`);
}

/** Ends by their pids what was started from this throw-away folder. */
export async function endAllOf(folder: string): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (const pid of pidsOf(folder)) {
      try {
        process.kill(pid, signal);
      } catch {
        // It ended by itself.
      }
    }
    for (let looks = 0; looks < 30 && pidsOf(folder).length > 0; looks++) await sleep(100);
  }
}

/** A control group as systemd or a container engine makes one. null where this account may not. */
export async function controlGroup(name: string): Promise<{ procs: string; remove(): Promise<void> } | null> {
  const slice = `hermes-test-${process.pid}-${Math.random().toString(36).slice(2, 8)}.slice`;
  for (const base of ['/sys/fs/cgroup/systemd', '/sys/fs/cgroup/unified', '/sys/fs/cgroup']) {
    const group = join(base, slice, name);
    try {
      await readFile(join(base, 'cgroup.procs'));
      await mkdir(group, { recursive: true });
      await readFile(join(group, 'cgroup.procs'));
    } catch {
      continue;
    }
    const remove = async (): Promise<void> => {
      for (const path of [group, join(base, slice)])
        for (let tries = 0; tries < 50; tries++) {
          const done = await rmdir(path).then(
            () => true,
            () => false,
          );
          if (done) break;
          await sleep(100);
        }
    };
    return { procs: join(group, 'cgroup.procs'), remove };
  }
  return null;
}
