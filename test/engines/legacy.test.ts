import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Reports } from '../../src/judge/schema.ts';
import { document, runCli } from '../support/cli.ts';
import { type Provider, startProvider } from '../../src/simulate/index.ts';
import { type Engine, requireEngines, startEngine } from '../support/engines.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';

// Modes of a preflight against a real dashboard and the real API server of a gateway: what a client in that mode would get.

const version = '0.19.0';
const key = 'CANARY-key-of-the-gateway-0123';
const usable = await requireEngines(version);

describe.skipIf(!usable)('0.19.0, dashboard and API server', { timeout: 240_000 }, () => {
  let folder: string;
  let gateway: Gateway;
  let engine: Engine;
  let provider: Provider;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'legacy-'));
    provider = await startProvider();
    await mkdir(join(folder, '.hermes'));
    await writeFile(
      join(folder, '.hermes', 'config.yaml'),
      `model: {default: scripted-1, provider: custom, base_url: "${provider.url}", api_key: sk-scripted, context_length: 64000}\n`,
    );
    [gateway, engine] = await Promise.all([startGateway(version, folder, key), startEngine({ version })]);
  }, 180_000);
  afterAll(async () => {
    await Promise.all([gateway?.stop(), engine?.stop(), provider?.close()]);
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

  interface Turns {
    kind: 'turns';
    transport: string;
    engine: { version: string | null };
    scenarios: { status: string; got: string | null }[];
    notes: string[];
  }
  const sessions = async (): Promise<string[]> => {
    const answer = await fetch(`${gateway.url}/api/sessions`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    const { data } = (await answer.json()) as { data: { id: string }[] };
    return data.map(({ id }) => id);
  };

  test('a turn in legacy mode asks, runs, is compared with its rows and leaves no session', async () => {
    const words = ['turn', gateway.url, '--mode', 'legacy', '--token-env', 'KEY'];
    const refused = await runCli(words, { env: { KEY: key } });
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain('costs one turn of the configured model');
    expect(provider.requests).toEqual([]);
    const result = await runCli([...words, '--yes', '--json'], { env: { KEY: key }, timeoutMs: 150_000 });
    expect(result.stdout + result.stderr).not.toContain('CANARY');
    const turns = document<Turns>(result);
    expect(turns).toMatchObject({
      transport: 'legacy',
      engine: { version },
      scenarios: [{ status: 'pass', got: 'completed' }],
    });
    expect(turns.notes.join()).toContain('approvals cannot be answered');
    expect(provider.promptCount('Answer with the one word: ready')).toBe(1);
    expect(await sessions()).toEqual([]);
  });

  test('a dashboard that fails before the prompt leaves the API server, and that is said', async () => {
    const env = { HERMES_COMPAT_API_KEY: key };
    const closed = 'http://127.0.0.1:1';
    const alone = await runCli(['turn', closed, '--yes'], { env });
    expect(alone).toMatchObject({ code: 3, stderr: expect.stringContaining('CONNECTION_REFUSED') });
    const args = ['turn', closed, '--api-server', gateway.url, '--yes', '--json'];
    const dashboardOnly = await runCli([...args, '--mode', 'dashboard'], { env });
    expect(dashboardOnly.code).toBe(3);
    const before = provider.promptCount('Answer with the one word: ready');
    const turns = document<Turns>(await runCli(args, { env, timeoutMs: 150_000 }));
    expect(turns).toMatchObject({ transport: 'legacy', scenarios: [{ status: 'pass' }] });
    expect(turns.notes[0]).toContain('the dashboard failed before the prompt was sent');
    expect(provider.promptCount('Answer with the one word: ready')).toBe(before + 1);
    expect(await sessions()).toEqual([]);
  });
});
