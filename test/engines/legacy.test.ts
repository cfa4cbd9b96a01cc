import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Reports } from '../../src/judge/schema.ts';
import { document, runCli } from '../support/cli.ts';
import { type Engine, engineDir, freePort, requireEngines, startEngine } from '../support/engines.ts';

// Modes of a preflight against a real dashboard and the real API server of a gateway: what a client in that mode would get.

const version = '0.19.0';
const key = 'CANARY-key-of-the-gateway-0123';
const usable = await requireEngines(version);

/** `hermes gateway run` with its API server on. Ends by its pid. */
async function startGateway(folder: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const port = await freePort();
  const home = join(folder, '.hermes');
  await mkdir(home);
  const bin = join(engineDir(version), 'bin');
  const dieWithUs = existsSync('/usr/bin/setpriv') ? ['/usr/bin/setpriv', '--pdeathsig', 'KILL'] : [];
  const argv = [...dieWithUs, join(bin, 'python'), join(bin, 'hermes'), 'gateway', 'run'];
  const child = spawn(argv[0] as string, argv.slice(1), {
    env: {
      PATH: '/usr/bin:/bin',
      HOME: folder,
      HERMES_HOME: home,
      LANG: 'C.UTF-8',
      API_SERVER_ENABLED: 'true',
      API_SERVER_KEY: key,
      API_SERVER_HOST: '127.0.0.1',
      API_SERVER_PORT: String(port),
    },
    cwd: folder,
    stdio: 'ignore',
  });
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const url = `http://127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await gone;
  };
  for (let tries = 0; tries < 450 && child.exitCode === null; tries += 1) {
    const isUp = await fetch(`${url}/health`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (isUp) return { url, stop };
    await sleep(200);
  }
  await stop();
  throw new Error('the API server of the gateway did not come up');
}

describe.skipIf(!usable)('0.19.0, dashboard and API server', { timeout: 240_000 }, () => {
  let folder: string;
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  let engine: Engine;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'legacy-'));
    [gateway, engine] = await Promise.all([startGateway(folder), startEngine({ version })]);
  }, 180_000);
  afterAll(async () => {
    await Promise.all([gateway?.stop(), engine?.stop()]);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  test('each mode is judged by what answers in it', async () => {
    const targets = [
      { name: 'legacy', address: gateway.url, mode: 'legacy', tokenEnv: 'KEY' },
      { name: 'legacy-v1', address: `${gateway.url}/v1`, mode: 'legacy', tokenEnv: 'KEY' },
      { name: 'legacy-wrong-key', address: gateway.url, mode: 'legacy', tokenEnv: 'TOKEN' },
      { name: 'legacy-no-key', address: gateway.url, mode: 'legacy' },
      { name: 'legacy-at-dashboard', address: engine.url, mode: 'legacy', tokenEnv: 'KEY' },
      { name: 'dashboard-at-api-server', address: gateway.url, mode: 'dashboard', tokenEnv: 'KEY' },
      { name: 'auto-at-api-server', address: gateway.url, tokenEnv: 'KEY' },
      { name: 'dashboard', address: engine.url, mode: 'dashboard', tokenEnv: 'TOKEN' },
      { name: 'auto', address: engine.url, tokenEnv: 'TOKEN' },
    ];
    const file = join(folder, 'targets.json');
    await writeFile(file, JSON.stringify({ defaults: { client: 'minimal' }, targets }));
    const env = { KEY: key, TOKEN: engine.token ?? '' };
    const result = await runCli(['preflight', file, '--json'], { env, timeoutMs: 120_000 });
    expect(result.stdout + result.stderr).not.toContain('CANARY');
    const reports = document<Reports>(result);
    const said = reports.reports.map(({ target, verdict, findings }) => [
      target.name,
      verdict,
      findings
        .filter(({ severity }) => severity === 'error')
        .map(({ code }) => code)
        .join(),
    ]);
    expect(said).toEqual([
      ['legacy', 'compatible', ''],
      ['legacy-v1', 'compatible', ''],
      ['legacy-wrong-key', 'unknown', 'TOKEN_REJECTED'],
      ['legacy-no-key', 'unknown', 'TOKEN_MISSING'],
      ['legacy-at-dashboard', 'unknown', 'WRONG_SERVICE'],
      ['dashboard-at-api-server', 'unknown', 'API_SERVER_NOT_DASHBOARD'],
      ['auto-at-api-server', 'unknown', 'API_SERVER_NOT_DASHBOARD'],
      ['dashboard', 'compatible', ''],
      ['auto', 'compatible', ''],
    ]);
    expect(result.code).toBe(3);
    const transports = reports.reports.map(({ target, transport }) => [target.name, transport.auto.chooses]);
    expect(transports).toContainEqual(['auto', 'dashboard']);
    expect(transports).toContainEqual(['auto-at-api-server', 'legacy']);
  });

  test('people are told of the key and of the other address', async () => {
    const wrong = await runCli(['doctor', gateway.url, '--mode', 'legacy', '--token-env', 'T'], {
      env: { T: 'not-it-0123456789' },
    });
    expect(wrong.stdout).toContain('The API server refuses the key from --token-env');
    expect(wrong.stdout.replaceAll(/\s+/g, ' ')).toContain(
      'It is the API_SERVER_KEY with which the gateway runs',
    );
    const dashboard = await runCli(['doctor', gateway.url], {});
    expect(dashboard.stdout).toContain('check this one with --mode legacy');
  });
});
