import { execFileSync, spawn } from 'node:child_process';
import { chmod, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { tryGateway } from '../../src/launch/gateway.ts';
import { launch, startForCheck } from '../../src/launch/launch.ts';
import { printLaunch } from '../../src/launch/print.ts';
import { readRecords } from '../../src/launch/record.ts';
import type { Launched, LaunchRequest, NotLaunched } from '../../src/launch/start.ts';
import { shellLine } from '../../src/report/shell-line.ts';
import { stopLaunch } from '../../src/launch/stop.ts';
import { engineDir, freePort, ladder, requireEngines, sitePackages } from '../support/engines.ts';
import {
  alive,
  childrenOf,
  homeAt,
  host,
  installOf,
  never,
  options,
  scratchHome,
  traces,
  withoutOverride,
} from './support.ts';

const ready = await requireEngines(...ladder);

let home: string;
beforeEach(async () => {
  home = await scratchHome();
});
afterEach(async () => {
  for (const record of await readRecords(host, home)) await stopLaunch(host, home, record);
  await rm(home, { recursive: true, force: true, maxRetries: 5 });
});

const request = async (version: string, given: Partial<LaunchRequest> = {}): Promise<LaunchRequest> => ({
  host,
  install: await installOf(version),
  home: homeAt(home),
  options: options(),
  token: null,
  ...given,
});

function started(result: Launched | NotLaunched): Launched {
  if (result.outcome === 'failed') throw new Error(JSON.stringify(result.failure, null, 2));
  return result;
}

function failure(result: Launched | NotLaunched): NotLaunched['failure'] {
  if (result.outcome === 'started') throw new Error(`started as ${result.record.pid}`);
  return result.failure;
}

const starting = ladder.filter((version) => version !== '0.13.0' && version !== '0.15.2');

describe.skipIf(!ready)('launch', { timeout: 180_000 }, () => {
  test.each(starting)('%s: a client can talk to it, and stop leaves nothing of it', async (version) => {
    const { record, url, ws } = started(await launch(await request(version), never));
    expect(ws).toBe('open');
    expect(url).toBe(`http://127.0.0.1:${record.port}`);

    const tokenFile = record.tokenFile as string;
    const token = (await readFile(tokenFile, 'utf8')).trim();
    const at = { connectTo: '127.0.0.1', port: record.port };
    expect(await tryGateway(host, at, token, AbortSignal.timeout(20_000))).toEqual({ state: 'open' });
    expect(await tryGateway(host, at, `${token}x`, AbortSignal.timeout(20_000))).toEqual({
      state: 'refused',
      status: 403,
    });

    const mode = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;
    const folder = join(home, 'desktop-compat', 'launch');
    expect(await mode(folder)).toBe(0o700);
    for (const name of await traces(home))
      expect([name, await mode(join(folder, name))]).toEqual([name, 0o600]);

    // The token is in no command line, record or log.
    const processes = execFileSync('ps', ['-eo', 'args']).toString();
    expect(processes).not.toContain(token);
    expect(await readFile(join(folder, `${record.id}.json`), 'utf8')).not.toContain(token);
    expect(await readFile(record.log, 'utf8')).not.toContain(token);

    // Detached: a session of its own, no terminal.
    const [session, terminal] = execFileSync('ps', ['-o', 'sid=,tty=', '-p', String(record.pid)])
      .toString()
      .trim()
      .split(/\s+/);
    expect([session, terminal]).toEqual([String(record.pid), '?']);

    expect(await readRecords(host, home)).toEqual([record]);
    expect(await stopLaunch(host, home, record)).toBe('stopped');
    expect(alive(record.pid)).toBe(false);
    expect(await traces(home)).toEqual([]);
  });

  test('0.13.0 works with the web build of another release, and says what it lacks without', async () => {
    const without = failure(await launch(await request('0.13.0'), never));
    expect(without).toMatchObject({ code: 'WEB_BUILD_MISSING', args: { version: '0.13.0' } });
    expect(await traces(home)).toEqual([]);

    const webDist = join(await sitePackages(engineDir('0.14.0')), 'hermes_cli', 'web_dist');
    const result = started(await launch(await request('0.13.0', { options: options({ webDist }) }), never));
    expect(result.ws).toBe('open');
  });

  test('0.15.2 lacks a module: named, with the last lines, and nothing is left', async () => {
    const result = failure(await launch(await request('0.15.2'), never));
    expect(result).toMatchObject({
      code: 'ENGINE_BROKEN_PACKAGE',
      args: { module: 'hermes_cli.dashboard_auth' },
    });
    expect(result.evidence.at(-1)).toContain('ModuleNotFoundError');
    expect(await traces(home)).toEqual([]);
  });

  test('a port that is taken: its holder is named, and nothing was started', async () => {
    const other = createServer((_, answer) => answer.end('{"version":"9"}'));
    const port = await new Promise<number>((resolve) =>
      other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port)),
    );
    const result = failure(await launch(await request('0.14.0', { options: options({ port }) }), never));
    expect(result).toMatchObject({ code: 'PORT_IN_USE', args: { port, pid: process.pid } });
    expect(await traces(home)).toEqual([]);
    other.close();
  });

  test.each(['0.14.0', '0.22.2.post1'])(
    '%s: of two launches at once on one port, one wins',
    async (version) => {
      const port = await freePort();
      const both = [
        await request(version, { options: options({ port }) }),
        await request(version, { options: options({ port }) }),
      ];
      const results = await Promise.all(both.map((one) => launch(one, never)));
      const winners = results.filter((result) => result.outcome === 'started');
      const losers = results.filter((result) => result.outcome === 'failed');
      expect(winners).toHaveLength(1);
      expect(losers.map((loser) => failure(loser).code)).toEqual(['PORT_IN_USE']);
      const { record } = started(winners[0] as Launched);
      expect(failure(losers[0] as NotLaunched).args['pid']).toBe(record.pid);
      expect(await readRecords(host, home)).toEqual([record]);
    },
  );

  test.each(['0.14.0', '0.22.2.post1'])(
    '%s refuses to bind an address that others reach',
    async (version) => {
      const result = failure(
        await launch(await request(version, { options: options({ host: '0.0.0.0' }) }), never),
      );
      expect(result).toMatchObject({ code: 'BIND_REFUSED', args: { host: '0.0.0.0', reason: 'guard' } });
      expect(await traces(home)).toEqual([]);
    },
  );

  test('an address that this machine has not', async () => {
    const given = options({ host: '192.0.2.7', engineArgs: ['--insecure'] });
    const result = failure(await launch(await request('0.14.0', { options: given }), never));
    expect(result).toMatchObject({
      code: 'BIND_REFUSED',
      args: { host: '192.0.2.7', reason: 'no-such-address' },
    });
  });

  test('a flag that the version does not know', async () => {
    const given = options({ engineArgs: ['--tui'] });
    const result = failure(await launch(await request('0.16.0', { options: given }), never));
    expect(result).toMatchObject({ code: 'FLAG_UNSUPPORTED', args: { flag: '--tui' } });
    expect(await traces(home)).toEqual([]);
  });

  test('a web build that is named but not there', async () => {
    const given = options({ webDist: join(home, 'nowhere') });
    const result = failure(await launch(await request('0.19.0', { options: given }), never));
    expect(result).toMatchObject({ code: 'WEB_BUILD_MISSING', args: { path: join(home, 'nowhere') } });
  });

  test('chat that .env turns off', async () => {
    await writeFile(join(home, '.env'), 'HERMES_DASHBOARD_TUI=0\n');
    const about = homeAt(home);
    const given = { ...about, envFile: { ...about.envFile, exists: true, tui: '0' } };
    const result = failure(await launch(await request('0.14.0', { home: given }), never));
    expect(result).toMatchObject({ code: 'CHAT_DISABLED', args: { env: '0' } });
    expect(await traces(home)).toEqual([]);
  });

  test('a session token in .env wins over ours up to 0.19: the one in the page is used', async () => {
    await writeFile(join(home, '.env'), 'HERMES_DASHBOARD_SESSION_TOKEN=from-the-env-file\n');
    const { record, ws } = started(await launch(await request('0.19.0'), never));
    expect(ws).toBe('open');
    expect(await readFile(record.tokenFile as string, 'utf8')).toBe('from-the-env-file\n');
  });

  test('a token that the user chose', async () => {
    const { record } = started(await launch(await request('0.16.0', { token: 'my-own-token-1234' }), never));
    expect(await readFile(record.tokenFile as string, 'utf8')).toBe('my-own-token-1234\n');
  });

  test.each([
    ['cannot be read', 0o000, 'HOME_UNREADABLE'],
    ['cannot be written', 0o555, 'HOME_READ_ONLY'],
  ])('a home that %s', async (_name, mode, code) => {
    const profile = join(home, 'profiles', 'coder');
    await mkdir(profile, { recursive: true });
    await chmod(profile, mode);
    const given = { host: withoutOverride(host), home: homeAt(profile, home) };
    const result = failure(await launch(await request('0.19.0', given), never));
    expect(result).toMatchObject({ code, args: { path: profile } });
    expect(await traces(home)).toEqual([]);
    await chmod(profile, 0o755);
  });

  test('an .env that cannot be read', async () => {
    await writeFile(join(home, '.env'), 'A=b\n', { mode: 0 });
    const result = failure(await launch(await request('0.14.0', { host: withoutOverride(host) }), never));
    expect(result).toMatchObject({ code: 'HOME_UNREADABLE', args: { path: join(home, '.env') } });
  });

  test('a home that is not there', async () => {
    const result = failure(await launch(await request('0.14.0', { home: homeAt(join(home, 'no')) }), never));
    expect(result).toMatchObject({
      code: 'HOME_UNREADABLE',
      args: { path: join(home, 'no'), missing: true },
    });
  });

  test('an engine that crashes for a reason of its own', async () => {
    const hook = join(home, 'sitecustomize.py');
    await writeFile(hook, 'import sys\nif "dashboard" in sys.argv: raise SystemExit("out of luck")\n');
    const result = failure(
      await launch(await request('0.16.0', { options: options({ env: { PYTHONPATH: home } }) }), never),
    );
    expect(result).toMatchObject({ code: 'ENGINE_DIED', args: { exit: 1, line: 'SystemExit: out of luck' } });
    expect(result.evidence.at(-1)).toBe('SystemExit: out of luck');
  });

  test('too slow: ended, and said so', async () => {
    const result = failure(
      await launch(await request('0.19.0', { options: options({ seconds: 0.4 }) }), never),
    );
    expect(result.code).toBe('SLOW_START');
    expect(await traces(home)).toEqual([]);
  });

  test('the printed lines, run by a shell, start the same dashboard', async () => {
    const port = await freePort();
    const { install, home: about } = await request('0.16.0');
    const { lines, tokenFile } = printLaunch(install, about, options({ port }), shellLine);
    const script = lines
      .slice(0, -1)
      .concat(`exec env ${lines.at(-1)}`)
      .join('\n');
    expect(script).not.toMatch(/SESSION_TOKEN=(?!"\$\(cat )/);
    const child = spawn('/bin/sh', ['-c', script], {
      env: { PATH: '/usr/bin:/bin', HOME: home },
      stdio: 'ignore',
    });
    try {
      await expect
        .poll(
          () =>
            fetch(`http://127.0.0.1:${port}/api/status`).then(
              (a) => a.status,
              () => 0,
            ),
          { timeout: 60_000 },
        )
        .toBe(200);
      const token = (await readFile(tokenFile as string, 'utf8')).trim();
      const answer = await tryGateway(
        host,
        { connectTo: '127.0.0.1', port },
        token,
        AbortSignal.timeout(20_000),
      );
      expect(answer).toEqual({ state: 'open' });
      expect((await stat(tokenFile as string)).mode & 0o777).toBe(0o600);
    } finally {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await gone;
    }
  });

  test('interrupted in the middle: nothing runs and nothing is left', async () => {
    const controller = new AbortController();
    const running = launch(await request('0.19.0'), controller.signal);
    await expect.poll(() => readRecords(host, home), { timeout: 20_000 }).toHaveLength(1);
    const [record] = await readRecords(host, home);
    expect(alive(record?.pid ?? 0)).toBe(true);
    // The --stop of an engine ends every process whose command line has this; none of ours may.
    const marked = childrenOf(process.pid).filter(({ args }) =>
      /hermes(_cli.main)? (dashboard|serve)/.test(args),
    );
    expect(marked.filter(({ pid }) => pid !== record?.pid)).toEqual([]);
    controller.abort();
    await expect(running).rejects.toMatchObject({ kind: 'interrupted' });
    expect(await traces(home)).toEqual([]);
    expect(alive(record?.pid ?? 0)).toBe(false);
    const mine = execFileSync('sh', [
      '-c',
      'grep -lsF "$1" /proc/[0-9]*/environ || true',
      'sh',
      `HERMES_HOME=${home}`,
    ]);
    expect(mine.toString()).toBe('');
  });

  test.each([
    ['0.14.0', 'its own home'],
    ['0.19.0', 'the root home'],
  ])('%s for a profile serves from %s; the launch is remembered in the root home', async (version, from) => {
    const profile = join(home, 'profiles', 'coder');
    await mkdir(profile, { recursive: true });
    const { record, ws } = started(
      await launch(await request(version, { home: homeAt(profile, home) }), never),
    );
    expect(ws).toBe('open');
    const status = (await fetch(`http://127.0.0.1:${record.port}/api/status`).then((a) => a.json())) as {
      hermes_home: string;
    };
    expect(status.hermes_home).toBe(from === 'its own home' ? profile : home);
    expect(await readRecords(host, home)).toEqual([record]);
    expect(await stopLaunch(host, home, record)).toBe('stopped');
  });

  test('a dashboard that wants a login: started, and nobody claims that chat works', async () => {
    const env = {
      HERMES_DASHBOARD_BASIC_AUTH_USERNAME: 'ann',
      HERMES_DASHBOARD_BASIC_AUTH_PASSWORD: 'correct-horse',
    };
    const given = options({ host: '127.0.0.2', env });
    const result = started(await launch(await request('0.19.0', { options: given }), never));
    expect(result).toMatchObject({ ws: 'unknown', why: 'gated', record: { tokenFile: null } });
    expect((await traces(home)).filter((name) => name.endsWith('.token'))).toEqual([]);
  });

  test('no WebSocket library', async () => {
    await writeFile(
      join(home, 'sitecustomize.py'),
      'import sys\nsys.modules["websockets"] = sys.modules["wsproto"] = None\n',
    );
    const given = options({ env: { PYTHONPATH: home } });
    const result = failure(await launch(await request('0.16.0', { options: given }), never));
    expect(result.code).toBe('WS_LIB_MISSING');
    expect(await traces(home)).toEqual([]);
  });

  test.runIf(ladder.includes('0.20.0.post2'))(
    'a token in .env that no page shows: not proven, and said so',
    async () => {
      await writeFile(join(home, '.env'), 'HERMES_DASHBOARD_SESSION_TOKEN=from-the-env-file\n');
      const about = homeAt(home);
      const given = { ...about, envFile: { ...about.envFile, exists: true, sessionToken: 'fingerprint' } };
      const result = started(await launch(await request('0.20.0.post2', { home: given }), never));
      expect(result).toMatchObject({ ws: 'unknown', why: 'token-in-env-file', record: { tokenFile: null } });
    },
  );

  test('for a check, an engine whose chat does not open is started all the same: the check finds out why', async () => {
    const { token: _, ...given } = await request('0.13.0');
    const engine = await startForCheck(given, never);
    if (engine.outcome === 'failed') throw new Error(engine.failure.code);
    expect(engine).toMatchObject({ ws: 'unknown', why: null, token: null });
    expect((await fetch(`${engine.url}/api/status`)).status).toBe(200);
    await engine.stop();
    expect(alive(engine.record.pid)).toBe(false);
    expect(await traces(home)).toEqual([]);
  });

  test('for a check: the token stays in memory and stop removes all', async () => {
    const { token: _, ...given } = await request('0.16.0');
    const engine = await startForCheck(given, never);
    if (engine.outcome === 'failed') throw new Error(engine.failure.code);
    expect(engine.token).toMatch(/^[\w-]{43}$/);
    expect((await traces(home)).filter((name) => name.endsWith('.token'))).toEqual([]);
    await engine.stop();
    expect(alive(engine.record.pid)).toBe(false);
    expect(await traces(home)).toEqual([]);
  });
});
