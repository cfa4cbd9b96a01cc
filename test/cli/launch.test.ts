import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { tryGateway } from '../../src/launch/gateway.ts';
import { readRecords } from '../../src/launch/record.ts';
import { stopLaunch } from '../../src/launch/stop.ts';
import { alive, host, scratchHome } from '../launch/support.ts';
import { engineDir, freePort, requireEngines } from '../support/engines.ts';
import { bin } from '../support/bin.ts';

const ready = await requireEngines('0.14.0', '0.15.2', '0.16.0');
const local = (version: string): string => `local:${engineDir(version)}`;

let home: string;
beforeEach(async () => {
  home = await scratchHome();
});
afterEach(async () => {
  for (const record of await readRecords(host, home)) await stopLaunch(host, home, record);
  await rm(home, { recursive: true, force: true, maxRetries: 5 });
});

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

const dropped = '-dac_override,-dac_read_search';
const unprivileged =
  process.getuid?.() === 0 ? ['/usr/bin/setpriv', '--bounding-set', dropped, '--inh-caps', dropped] : [];

function cli(args: string[], { env = {}, as = [] as string[] } = {}): Promise<Ended> & { pid: number } {
  const argv = [...as, process.execPath, bin, ...args];
  const child = spawn(argv[0] as string, argv.slice(1), {
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, HERMES_HOME: home, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<Ended>((resolve) =>
    child.once('close', (code) => resolve({ code, stdout, stderr })),
  );
  return Object.assign(ended, { pid: child.pid as number });
}

const ajv = new Ajv2020({ strict: false });
function document(name: 'launch' | 'stop', text: string): Record<string, unknown> {
  const value = JSON.parse(text) as Record<string, unknown>;
  const valid = ajv.validate(JSON.parse(readFileSync(`schemas/${name}.schema.json`, 'utf8')), value);
  expect(ajv.errorsText()).toBe('No errors');
  expect(valid).toBe(true);
  return value;
}

describe.skipIf(!ready)('launch and stop', { timeout: 180_000 }, () => {
  test('0.14.0 by its folder: running and usable, then gone', async () => {
    const launched = await cli(['launch', local('0.14.0'), '--port', '0']);
    expect(launched).toMatchObject({ code: 0, stderr: '' });
    expect(launched.stdout).toMatch(/^Dashboard\s+http:\/\/127\.0\.0\.1:\d+$/m);
    expect(launched.stdout).toContain('/api/ws opens and answers');
    const [record] = await readRecords(host, home);
    const token = (await readFile(record?.tokenFile as string, 'utf8')).trim();
    expect(launched.stdout).not.toContain(token);

    const stopped = await cli(['stop']);
    expect(stopped).toEqual({
      code: 0,
      stdout: `Ended process ${record?.pid} on port ${record?.port}.\n`,
      stderr: '',
    });
    expect(alive(record?.pid as number)).toBe(false);
    expect(await cli(['stop'])).toMatchObject({
      code: 0,
      stdout: 'Nothing that launch started is on record here.\n',
    });
  });

  test('JSON of both, with the port that was asked for; a second one is told of the first', async () => {
    const port = await freePort();
    const first = document(
      'launch',
      (await cli(['launch', local('0.16.0'), '--port', String(port), '--json'])).stdout,
    );
    expect(first).toMatchObject({
      outcome: 'started',
      ws: 'open',
      port,
      version: '0.16.0',
      home,
      exitCode: 0,
    });
    const token = (await readFile(first['tokenFile'] as string, 'utf8')).trim();
    expect(
      await tryGateway(host, { connectTo: '127.0.0.1', port }, token, AbortSignal.timeout(20_000)),
    ).toEqual({ state: 'open' });

    const again = await cli(['launch', local('0.16.0'), '--port', String(port)]);
    expect(again.code).toBe(3);
    expect(again.stderr).toContain(
      `note: process ${String(first['pid'])} already serves this home on port ${port}`,
    );
    expect(again.stderr).toContain(`Port ${port} is taken by process ${String(first['pid'])}`);
    expect(again.stdout).toBe('');

    const other = document(
      'launch',
      (await cli(['launch', local('0.16.0'), '--port', '0', '--json'])).stdout,
    );
    const which = await cli(['stop']);
    expect(which.code).toBe(2);
    expect(which.stderr).toContain('--port or --all');
    const one = document('stop', (await cli(['stop', '--port', String(port), '--json'])).stdout);
    expect(one).toMatchObject({
      stopped: [{ pid: first['pid'], port, outcome: 'stopped', log: null }],
      exitCode: 0,
    });
    expect(alive(other['pid'] as number)).toBe(true);
    const all = document('stop', (await cli(['stop', '--all', '--json'])).stdout);
    expect(all).toMatchObject({ stopped: [{ pid: other['pid'], outcome: 'stopped' }] });
  });

  test('one that died by itself: said, nothing signalled, its log kept', async () => {
    const launched = document(
      'launch',
      (await cli(['launch', local('0.14.0'), '--port', '0', '--json'])).stdout,
    );
    process.kill(launched['pid'] as number, 'SIGKILL');
    await expect.poll(() => alive(launched['pid'] as number)).toBe(false);
    const stopped = await cli(['stop']);
    expect(stopped.code).toBe(0);
    expect(stopped.stdout).toContain(
      `had ended by itself; nothing was signalled. Its log: ${String(launched['log'])}`,
    );
    expect(await readFile(launched['log'] as string, 'utf8')).toContain('Hermes Web UI');
  });

  test('0.15.2: the module is named, exit 1, nothing is left', async () => {
    const human = await cli(['launch', local('0.15.2'), '--port', '0']);
    expect(human).toMatchObject({ code: 1, stdout: '' });
    expect(human.stderr).toContain('lacks the module hermes_cli.dashboard_auth');
    expect(human.stderr).toContain("ModuleNotFoundError: No module named 'hermes_cli.dashboard_auth'");
    const json = document(
      'launch',
      (await cli(['launch', local('0.15.2'), '--port', '0', '--format', 'json'])).stdout,
    );
    expect(json).toMatchObject({
      outcome: 'failed',
      exitCode: 1,
      finding: { code: 'ENGINE_BROKEN_PACKAGE' },
    });
    expect(await readdir(home)).not.toContain('desktop-compat');
  });

  test('Ctrl-C while it starts: exit 130, nothing runs, nothing is left', async () => {
    const running = cli(['launch', local('0.16.0'), '--port', '0']);
    await expect.poll(() => readRecords(host, home), { timeout: 30_000 }).toHaveLength(1);
    const [record] = await readRecords(host, home);
    process.kill(running.pid, 'SIGINT');
    expect((await running).code).toBe(130);
    expect(alive(record?.pid as number)).toBe(false);
    expect(await readdir(home)).not.toContain('desktop-compat');
  });

  test('--print starts and writes nothing, and shows no token', async () => {
    const before = await readdir(home);
    const env = { HERMES_DASHBOARD_SESSION_TOKEN: 'canary-token-0123456789', OPENAI_API_KEY: 'canary-key' };
    const printed = await cli(['launch', local('0.16.0'), '--print', '--', '--skip-build'], { env });
    expect(printed).toMatchObject({ code: 0, stderr: '' });
    expect(printed.stdout).toContain('HERMES_DASHBOARD_SESSION_TOKEN="$(cat ');
    expect(printed.stdout).toMatch(
      /hermes dashboard --no-open --host 127\.0\.0\.1 --skip-build --port 9119$/m,
    );
    expect(printed.stdout).not.toContain('canary');
    expect(await readdir(home)).toEqual(before);
    const json = document('launch', (await cli(['launch', local('0.14.0'), '--print', '--json'])).stdout);
    expect(json).toMatchObject({
      outcome: 'printed',
      tokenFile: null,
      shell: [expect.stringContaining('HERMES_DASHBOARD_TUI=1')],
    });
  });

  test.each([
    ['cannot be read', 0o000, 'HOME_UNREADABLE'],
    ['cannot be written', 0o555, 'HOME_READ_ONLY'],
  ])('a home that %s', async (_name, mode, code) => {
    const shut = join(home, 'shut');
    await mkdir(shut, { mode });
    const env = { HERMES_HOME: shut };
    const result = await cli(['launch', local('0.16.0'), '--port', '0', '--json'], { env, as: unprivileged });
    expect(result.code).toBe(3);
    expect(document('launch', result.stdout)).toMatchObject({
      finding: { code, args: { path: expect.stringContaining(shut) } },
    });
  });

  test.each([
    [
      'a home that is not there',
      ['launch', '--home', '/nonexistent/home'],
      3,
      '/nonexistent/home does not exist',
    ],
    ["the engine's --stop", ['launch', '--', '--stop'], 2, 'ends every dashboard of this machine'],
    ['a URL', ['launch', 'http://127.0.0.1:9119'], 2, 'is only a URL'],
    ['a port that is none', ['launch', '--port', '99999'], 2, 'port'],
    ['a timeout that is none', ['launch', '--timeout', 'soon'], 2, '--timeout'],
    ['no install', ['launch', 'local:/usr/share'], 3, 'INSTALL_NOT_FOUND'],
  ])('%s', async (_name, args, code, message) => {
    const words =
      args.includes('local:/usr/share') || args[1]?.startsWith('http')
        ? args
        : [args[0] ?? '', local('0.16.0'), ...args.slice(1)];
    const result = await cli(words);
    expect(result.stderr.replaceAll(/\n +/g, ' ')).toContain(message);
    expect(result).toMatchObject({ code, stdout: '' });
  });
});
