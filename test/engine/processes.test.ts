import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmod, mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { gather } from '../../src/engine/gather.ts';
import { installsOf } from '../../src/engine/installs.ts';
import { processesOf } from '../../src/engine/processes.ts';
import type { EngineProcess } from '../../src/engine/schema.ts';
import { localHost } from '../../src/host/local.ts';
import { type Box, makeBox, makeTree, makeVenv } from './trees.ts';

const linux = process.platform === 'linux';
let box: Box;
let children: ChildProcess[];
beforeEach(async () => {
  box = await makeBox();
  children = [];
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await box.remove();
});

const site = (venv: string): string => join(venv, 'lib/python3.11/site-packages');

/** A shell that calls itself a Python: its command line is what an engine's would be. */
async function pretend(
  argv0: string,
  args: string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Promise<number> {
  const child = spawn('/bin/sh', args, {
    argv0,
    cwd: options.cwd ?? box.path(),
    env: { PATH: '/usr/bin:/bin', HOME: box.home, ...options.env },
    stdio: 'ignore',
  });
  children.push(child);
  await new Promise((resolve) => child.once('spawn', resolve));
  await sleep(30);
  return child.pid as number;
}

/** A console script that Python and sh would both run. */
const script = async (venv: string): Promise<string> =>
  box.write(join(venv, 'bin/hermes'), `#!${venv}/bin/python\n: hermes_cli; sleep 60; :\n`, 0o755);

const find = async (
  pid: number,
  ask: Parameters<Box['locate']>[0] = {},
): Promise<EngineProcess | undefined> => (await box.locate(ask)).processes.find((each) => each.pid === pid);

describe.runIf(linux)('which process is an engine', () => {
  it('a console script', async () => {
    const venv = await makeVenv(box, 'venv');
    const pid = await pretend(join(venv, 'bin/python'), [
      await script(venv),
      'dashboard',
      '--port',
      '9555',
      '--host',
      '::1',
    ]);
    expect(await find(pid)).toMatchObject({
      command: 'dashboard',
      install: site(venv),
      interpreter: join(venv, 'bin/python'),
      port: 9555,
      bind: '::1',
      hermesHome: join(box.home, '.hermes'),
      uid: process.getuid?.(),
      source: 'process-table',
    });
  });

  it('a relative interpreter and script', async () => {
    const venv = await makeVenv(box, 'venv');
    await script(venv);
    const pid = await pretend('venv/bin/python', ['venv/bin/hermes', 'serve']);
    expect(await find(pid)).toMatchObject({ command: 'serve', install: site(venv), port: 9119 });
  });

  it('a module run from a checkout', async () => {
    const venv = await makeVenv(box, 'venv');
    const root = await makeTree(box, 'checkout', 'G0', '0.14.0');
    await box.write(join(root, 'hermes_cli.main'), 'sleep 60; :\n');
    const pid = await pretend(join(venv, 'bin/python'), ['-m', 'hermes_cli.main', 'dashboard'], {
      cwd: root,
    });
    expect(await find(pid)).toMatchObject({ command: 'dashboard', install: root });
  });

  it('the launcher of 0.22', async () => {
    const venv = await makeVenv(box, 'deps');
    const root = await makeTree(box, 'checkout', 'G2', '0.22.2');
    const code = `sleep 60; : "\nimport sys\nsys.path.insert(0, '${root}')\nfrom hermes_cli.main import main"`;
    const pid = await pretend(join(venv, 'bin/python'), ['-c', code, 'gateway', 'run']);
    expect(await find(pid)).toMatchObject({
      command: 'gateway',
      install: root,
      port: null,
      argv: [join(venv, 'bin/python'), '-c', '[code]', 'gateway', 'run'],
    });
  });

  it.each([
    ['another command of the engine', ['chat']],
    ['a script that is no engine', null],
  ])('not %s', async (_, args) => {
    const venv = await makeVenv(box, 'venv');
    const file = args === null ? await box.write('serve.py', 'sleep 60; :\n') : await script(venv);
    const pid = await pretend(join(venv, 'bin/python'), [file, ...(args ?? ['dashboard'])]);
    expect(await find(pid)).toBeUndefined();
  });

  it('one whose tree is gone is still seen', async () => {
    const venv = await makeVenv(box, 'venv');
    const pid = await pretend(join(venv, 'bin/python'), [await script(venv), 'dashboard', '--port', '9556']);
    await rm(join(site(venv), 'hermes_cli'), { recursive: true });
    await rm(join(venv, 'bin'), { recursive: true });
    expect(await find(pid)).toMatchObject({ command: 'dashboard', install: null, port: 9556 });
  });
});

describe.runIf(linux)('what is kept of it', () => {
  it('secrets of its command line and environment are not', async () => {
    const venv = await makeVenv(box, 'venv');
    const pid = await pretend(
      join(venv, 'bin/python'),
      [await script(venv), 'dashboard', '--ssh-session-token', 'canary-1', '--auth-token=canary-2'],
      {
        env: {
          HERMES_DASHBOARD_SESSION_TOKEN: 'canary-3',
          OPENAI_API_KEY: 'canary-4',
          HERMES_DASHBOARD_TUI: '1',
          HERMES_WEB_DIST: '/w',
        },
      },
    );
    const found = await box.locate();
    expect(JSON.stringify(found)).not.toMatch(/canary/);
    expect(found.processes.find((each) => each.pid === pid)?.env).toEqual({
      tui: '1',
      webDist: '/w',
      sessionToken: '089b2c02',
      readable: true,
    });
  });

  it('files and updates that came after its start', async () => {
    const venv = await makeVenv(box, 'venv');
    const pid = await pretend(join(venv, 'bin/python'), [await script(venv), 'dashboard']);
    expect((await find(pid))?.newerFiles).toEqual([]);
    const soon = new Date(Date.now() + 5000);
    await utimes(join(site(venv), 'hermes_cli/web_server.py'), soon, soon);
    await utimes(join(site(venv), 'hermes_agent-0.19.0.dist-info/RECORD'), soon, soon);
    expect((await find(pid))?.newerFiles.sort()).toEqual([
      'hermes_agent-0.19.0.dist-info/RECORD',
      'hermes_cli/web_server.py',
    ]);
  });

  it('an update of a checkout that touched none of the files we know', async () => {
    const root = await makeTree(box, join(box.home, '.hermes/hermes-agent'));
    const venv = await makeVenv(box, join(root, 'venv'));
    await rm(join(site(venv), 'hermes_cli'), { recursive: true });
    await box.write(
      join(site(venv), 'hermes_agent-0.19.0.dist-info/direct_url.json'),
      JSON.stringify({ url: `file://${root}`, dir_info: { editable: true } }),
    );
    const git = (...args: string[]) =>
      promisify(execFile)('git', ['-C', root, '-c', 'user.name=A', '-c', 'user.email=a@b', ...args]);
    await git('init', '-q');
    await git('commit', '-q', '--allow-empty', '-m', 'one');
    await sleep(150);
    const pid = await pretend(join(venv, 'bin/python'), [await script(venv), 'dashboard']);
    expect(await find(pid)).toMatchObject({ install: root, newerFiles: [] });
    await sleep(150);
    await git('commit', '-q', '--allow-empty', '-m', 'two');
    expect((await find(pid))?.newerFiles).toEqual(['.git/logs/HEAD']);
  });

  it('port and home from its ledger and ready file while its sockets tell nothing', async () => {
    const venv = await makeVenv(box, 'venv', { generation: 'G2', version: '0.22.2' });
    const ready = await box.write('ready.json', '{"port": 9777}\n');
    const home = box.path('data');
    const file = await script(venv);
    const [byFile, byLedger] = await Promise.all([
      pretend(join(venv, 'bin/python'), [file, 'serve', '--port', '0'], {
        env: { HERMES_HOME: home, HERMES_DESKTOP_READY_FILE: ready },
      }),
      pretend(join(venv, 'bin/python'), [file, 'serve', '--port', '0'], {
        env: { HERMES_HOME: home },
      }),
    ]);
    await box.write(
      'data/spawn-ledger.json',
      JSON.stringify([
        { pid: byLedger, create_time: Date.now() / 1000, port: 9778, host: '127.0.0.9', profile: 'coder' },
        { pid: byFile, create_time: 1, port: 1 },
      ]),
    );
    expect(await find(byFile)).toMatchObject({ port: 9777, hermesHome: home });
    expect(await find(byLedger)).toMatchObject({ port: 9778, bind: '127.0.0.9', profile: 'coder' });
  });

  it('the dashboard of the home decides which install is meant', async () => {
    const first = await makeVenv(box, 'first');
    await mkdir(join(box.home, '.hermes'));
    await symlink(join(first, 'bin/hermes'), join(box.bin, 'hermes'));
    const second = await makeVenv(box, 'second');
    const pid = await pretend(join(second, 'bin/python'), [await script(second), 'dashboard']);
    const found = await box.locate();
    expect(found.host.chosen).toEqual({ install: site(second), why: 'dashboard-of-home' });
    expect(found.installs[0]?.root).toBe(site(second));
    expect(found.processes.some((each) => each.pid === pid)).toBe(true);
  });
});

it('a host without procfs is read through ps', async () => {
  const venv = await makeVenv(box, 'venv');
  const before = Date.now();
  const pid = await pretend(join(venv, 'bin/python'), [await script(venv), 'dashboard', '--port', '9557']);
  const real = localHost({ path: '/usr/bin:/bin', home: box.home, platform: process.platform });
  const gathered = await gather(
    {
      ...real,
      script: (text, args = [], options) => real.script(text, [...args.slice(0, 5), 'ps'], options),
    },
    { path: venv, home: null, profile: null, port: null, env: {}, timeoutMs: 20_000 },
  );
  const found = processesOf(gathered, installsOf(gathered), []).find((each) => each.pid === pid);
  expect(found).toMatchObject({
    command: 'dashboard',
    port: 9557,
    install: site(venv),
    hermesHome: null,
    env: { readable: false },
    owner: { kind: 'unknown' },
    uid: process.getuid?.(),
  });
  expect(Math.abs(Date.parse(found?.startedAt ?? '') - before)).toBeLessThan(2500);
});

it('without procfs a job of launchd is the owner of what it started', async () => {
  const venv = await makeVenv(box, 'venv');
  const pid = await pretend(join(venv, 'bin/python'), [await script(venv), 'dashboard', '--port', '9558']);
  // As `launchctl list` prints it.
  const list = `PID\tStatus\tLabel\n-\t0\tcom.apple.idle\n${pid}\t0\tai.hermes.dashboard\n`;
  await box.write('jobs', list);
  await chmod(await box.write('mac/launchctl', `#!/bin/sh\ncat ${box.path('jobs')}\n`), 0o755);
  const path = `${box.path('mac')}:/usr/bin:/bin`;
  const real = localHost({ path, home: box.home, platform: process.platform });
  const gathered = await gather(
    {
      ...real,
      script: (text, args = [], options) => real.script(text, [...args.slice(0, 5), 'ps'], options),
    },
    { path: venv, home: null, profile: null, port: null, env: { PATH: path }, timeoutMs: 20_000 },
  );
  const found = processesOf(gathered, installsOf(gathered), []).find((each) => each.pid === pid);
  const manager = process.getuid?.() === 0 ? 'system' : 'user';
  expect(found?.owner).toEqual({ kind: 'launchd', name: 'ai.hermes.dashboard', manager });
});

it('what is skipped stays unknown', async () => {
  const venv = await makeVenv(box, 'venv');
  await writeFile(join(site(venv), 'hermes_cli/main.py'), '# by hand\n');
  const install = (await box.locate({ path: venv, skip: ['hash', 'git'] })).installs[0];
  expect(install).toMatchObject({ root: site(venv), state: 'unknown', generation: 'G1' });
});
