import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { locate, type LocateAsk, type Located } from '../../src/engine/locate.ts';
import { localHost } from '../../src/host/local.ts';
import type { Host } from '../../src/host/types.ts';
import { copyEngine } from '../support/engine-copy.ts';
import { type Engine, engineDir, requireEngines, startEngine } from '../support/engines.ts';

const run = promisify(execFile);
const ready = await requireEngines('0.14.0', '0.16.0', '0.19.0', '0.22.2.post1');

let base: string;
beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'hermes-running-')));
});
afterAll(() => rm(base, { recursive: true, force: true, maxRetries: 5 }));

let engine: Engine | null = null;
afterEach(async () => {
  await engine?.stop();
  engine = null;
});

const here = localHost({ path: '/usr/bin:/bin', home: '/nonexistent', platform: process.platform });
const look = (ask: Partial<LocateAsk> = {}, host: Host = here): Promise<Located> =>
  locate(host, {
    path: null,
    home: null,
    profile: null,
    port: null,
    env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent' },
    timeoutMs: 20_000,
    ...ask,
  });
const processOf = (found: Located, pid: number) => found.processes.find((each) => each.pid === pid);

describe.skipIf(!ready)('a running engine', () => {
  it('is older than a file that was changed since, or than a new installation', async () => {
    const venv = join(base, 'edited');
    const site = await copyEngine('0.14.0', venv);
    engine = await startEngine({ version: '0.14.0', venv });
    expect(processOf(await look({ port: engine.port }), engine.pid)).toMatchObject({
      install: site,
      newerFiles: [],
    });

    const server = join(site, 'hermes_cli/web_server.py');
    await writeFile(`${server}.new`, `${await readFile(server, 'utf8')}# by hand\n`);
    await rename(`${server}.new`, server);
    const found = await look({ port: engine.port });
    expect(found.installs[0]).toMatchObject({ state: 'edited', editedFiles: ['hermes_cli/web_server.py'] });
    expect(processOf(found, engine.pid)?.newerFiles).toEqual(['hermes_cli/web_server.py']);

    const record = 'hermes_agent-0.14.0.dist-info/RECORD';
    await utimes(join(site, record), new Date(), new Date());
    expect(processOf(await look({ port: engine.port }), engine.pid)?.newerFiles).toContain(record);
  });

  it('named as ours when launch started it', async () => {
    engine = await startEngine({ version: '0.14.0' });
    const { pid } = engine;
    expect(processOf(await look(), pid)?.owner.kind).not.toBe('launch');
    expect(processOf(await look({ ownedPids: [pid] }), pid)?.owner).toEqual({ kind: 'launch', name: null });
  });

  it.each([
    ['0.16.0', 'profiles/coder', 'coder'],
    ['0.19.0', '', 'coder'],
  ])('%s with a profile serves from %j of its home', async (version, folder, profile) => {
    const home = join(base, `home-${version}`);
    await mkdir(join(home, 'profiles/coder'), { recursive: true });
    engine = await startEngine({ version, home, args: ['-p', 'coder'] });
    const found = await look({ port: engine.port });
    expect(processOf(found, engine.pid)).toMatchObject({ hermesHome: join(home, folder), profile });
    const status = (await (await fetch(`${engine.url}/api/status`)).json()) as { hermes_home?: string };
    expect(status.hermes_home).toBe(join(home, folder));
    // The same from the disk alone, for a dashboard that would be started now.
    const fromDisk = await look({ path: engineDir(version), home, profile: 'coder' });
    expect(fromDisk.host.home).toMatchObject({ path: join(home, folder), root: home, profile, from: 'flag' });
  });

  it('follows active_profile as the release does', async () => {
    const home = join(base, 'sticky');
    await mkdir(join(home, 'profiles/coder'), { recursive: true });
    await writeFile(join(home, 'active_profile'), 'coder\n');
    engine = await startEngine({ version: '0.14.0', home });
    const status = (await (await fetch(`${engine.url}/api/status`)).json()) as { hermes_home?: string };
    const found = await look({ port: engine.port, home });
    expect(status.hermes_home).toBe(join(home, 'profiles/coder'));
    expect(processOf(found, engine.pid)?.hermesHome).toBe(status.hermes_home);
    expect(found.host.home).toMatchObject({ path: status.hermes_home, root: home, from: 'active-profile' });
  });

  it('on a free port of its own choice is found by its sockets, its ready file, its ledger', async () => {
    const home = join(base, 'free-port');
    await mkdir(home);
    const readyFile = join(base, 'ready.json');
    const child = start('0.22.2.post1', ['serve', '--port', '0'], {
      HERMES_HOME: home,
      HERMES_DESKTOP_READY_FILE: readyFile,
    });
    try {
      const port = await until(
        async () => (JSON.parse(await readFile(readyFile, 'utf8')) as { port: number }).port,
      );
      const found = await look();
      expect(processOf(found, child.pid as number)).toMatchObject({
        command: 'serve',
        port,
        bind: '127.0.0.1',
        hermesHome: home,
      });
      expect((await look({ port })).host.listener).toMatchObject({ pid: child.pid, engine: 'yes' });
    } finally {
      await end(child);
    }
  });

  it('is still seen by an account without rights: owner and command line, not home and token', async () => {
    if (process.getuid?.() !== 0 || !existsSync('/usr/bin/setpriv')) return;
    engine = await startEngine({ version: '0.14.0' });
    const nobody: Host = {
      ...here,
      script: (text, args = [], options = {}) =>
        here.run(
          [
            '/usr/bin/setpriv',
            '--reuid=65534',
            '--regid=65534',
            '--clear-groups',
            '/bin/sh',
            '-s',
            '--',
            ...args,
          ],
          { ...options, stdin: text },
        ),
    };
    const found = await look({ port: engine.port }, nobody);
    expect(found.host).toMatchObject({ uid: 65_534, partial: false });
    expect(found.host.listener).toMatchObject({ pid: engine.pid, uid: 0, user: 'root', engine: 'yes' });
    expect(processOf(found, engine.pid)).toMatchObject({
      command: 'dashboard',
      port: engine.port,
      uid: 0,
      hermesHome: null,
      env: { readable: false, sessionToken: null },
    });
  });
});

describe.skipIf(!ready)('what is not an engine', () => {
  it('on the asked port: no disk facts', async () => {
    const other = createServer((_, response) => response.end());
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = other.address() as { port: number };
      const { host } = await look({ port, path: engineDir('0.14.0') });
      expect(host.listener).toMatchObject({ port, pid: process.pid, engine: 'no' });
      expect(host.chosen).toEqual({ install: null, why: 'port-not-ours' });
    } finally {
      await new Promise((resolve) => other.close(resolve));
    }
  });

  it('a command line that only names one', async () => {
    const words = ['-c', 'sleep 30; exit', 'x', join(engineDir('0.14.0'), 'bin/hermes'), 'dashboard'];
    const child = spawn('/bin/sh', words, { stdio: 'ignore' });
    try {
      expect(processOf(await look(), child.pid as number)).toBeUndefined();
    } finally {
      await end(child);
    }
  });

  it('a closed port has no listener, and the named install stands', async () => {
    const { host } = await look({ port: 1, path: engineDir('0.14.0') });
    expect(host.listener).toBeNull();
    expect(host.chosen?.why).toBe('named');
  });
});

describe.skipIf(!ready)('stale bytecode', () => {
  const python = join(engineDir('0.14.0'), 'bin/python');
  const compile = (file: string, mode: string) =>
    run(python, [
      '-I',
      '-c',
      `import py_compile as p; p.compile(${JSON.stringify(file)}, invalidation_mode=p.PycInvalidationMode.${mode}, doraise=True)`,
    ]);

  it.each([
    ['an edit of the same size that kept the time', 'TIMESTAMP', true, ['hermes_cli/__pycache__/']],
    ['an edit with a new time', 'TIMESTAMP', false, []],
    ['an edit under an unchecked hash', 'UNCHECKED_HASH', false, ['hermes_cli/__pycache__/']],
    ['an edit under a checked hash', 'CHECKED_HASH', true, []],
  ])('%s', async (_, mode, keepTime, expected) => {
    const venv = await mkdtemp(join(base, 'pyc-'));
    const site = await copyEngine('0.14.0', venv);
    const server = join(site, 'hermes_cli/web_server.py');
    await compile(server, mode);
    expect((await look({ path: venv })).installs[0]?.residue?.staleBytecode).toEqual([]);
    const { atime, mtime } = await stat(server);
    await writeFile(
      `${server}.new`,
      (await readFile(server, 'utf8')).replace('ENABLED = embedded_chat', 'ENABLED = True         '),
    );
    await rename(`${server}.new`, server);
    if (keepTime) await utimes(server, atime, mtime);
    const stale = (await look({ path: venv })).installs[0]?.residue?.staleBytecode ?? [];
    expect(stale.map((path) => path.replace(/[^/]*\.pyc$/, ''))).toEqual(expected);
  });
});

function start(version: string, args: string[], env: Record<string, string>): ChildProcess {
  const bin = join(engineDir(version), 'bin');
  return spawn(join(bin, 'python'), [join(bin, 'hermes'), ...args], {
    env: { PATH: '/usr/bin:/bin', HOME: base, ...env },
    stdio: 'ignore',
  });
}

async function until<T>(probe: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    try {
      return await probe();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(100);
    }
  }
}

async function end(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await Promise.race([gone, sleep(5000, undefined, { ref: false })]);
  child.kill('SIGKILL');
}
