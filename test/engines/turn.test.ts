import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scenarios } from '../../src/live/scenarios.ts';
import { document, runCli, type CliResult } from '../support/cli.ts';
import { startProvider } from '../../src/simulate/index.ts';
import { engineDir, requireEngines, startEngine } from '../support/engines.ts';
import { isFull } from '../support/full.ts';

// `turn --suite full` on real engines with the scripted model: exactly the committed cells, and nothing left behind.

const versions = isFull
  ? ['0.14.0', '0.16.0', '0.19.0', '0.21.4.post1', '0.22.2.post1']
  : ['0.19.0', '0.22.2.post1'];
const few = ['plain', 'tools', 'interrupt', 'lost-socket'];
const bin = fileURLToPath(new URL('../../bin/hermes-compat.js', import.meta.url));
const ready = await requireEngines(...versions);

interface Turns {
  kind: 'turns';
  suite: string;
  target: { url: string };
  engine: { version: string };
  scenarios: { id: string; status: string; got: string; expected: string; from: string }[];
  findings: unknown[];
  exitCode: number;
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'turn-suite-'));
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

const turn = (args: string[], tmp: string): Promise<CliResult> =>
  runCli(['turn', ...args], { env: { TMPDIR: tmp }, timeoutMs: 580_000 });

describe.skipIf(!ready)('turn --suite full', { timeout: 600_000 }, () => {
  it.each(versions)('%s gives the committed cells', async (version) => {
    const args = [`local:${engineDir(version)}`, '--suite', 'full', '--json'];
    const tmp = await mkdtemp(join(folder, 'tmp-'));
    const result = await turn(isFull ? args : [...args, '--only', few.join(',')], tmp);
    const turns = document<Turns>(result);
    const wanted = isFull ? scenarios.map(({ id }) => id) : few;
    expect(turns.scenarios.map(({ id }) => id)).toEqual(wanted);
    const cells = (which: 'got' | 'expected'): string[] =>
      turns.scenarios.map((scenario) => `${scenario.id}: ${scenario[which]}`);
    expect(cells('got')).toEqual(cells('expected'));
    expect(turns.scenarios.every(({ from }) => from === 'table')).toBe(true);
    expect(turns).toMatchObject({ engine: { version }, findings: [], exitCode: 0 });
    expect(result.code).toBe(0);
    expect(await readdir(tmp)).toEqual([]);
    await expect(fetch(turns.target.url)).rejects.toThrow();
  });
});

describe.skipIf(!ready || !isFull)('turn --suite full, interrupted', { timeout: 200_000 }, () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    '%s in mid-turn leaves no engine, no model and no home',
    async (signal) => {
      const tmp = await mkdtemp(join(folder, 'tmp-'));
      const child = spawn(
        process.execPath,
        [bin, 'turn', `local:${engineDir('0.19.0')}`, '--suite', 'full', '--only', 'interrupt', '--json'],
        {
          env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent', TMPDIR: tmp },
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      );
      const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
      try {
        const rows = async (): Promise<string> => {
          const [home = ''] = await readdir(tmp);
          return readFile(join(tmp, home, '.hermes', 'logs', 'agent.log'), 'utf8').catch(() => '');
        };
        await expect
          .poll(rows, { timeout: 120_000, interval: 300 })
          .toMatch(/chat_completion_stream_request/);
        const [home = ''] = await readdir(tmp);
        child.kill(signal);
        expect(await ended).toBe(130);
        expect(await readdir(tmp)).toEqual([]);
        const left = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
        expect(left).not.toContain(home);
      } finally {
        child.kill('SIGKILL');
      }
    },
  );
});

describe.skipIf(!ready)('record', { timeout: 300_000 }, () => {
  it('writes no frame and asks no model without consent', async () => {
    const prompt = join(folder, 'prompt.txt');
    const output = join(folder, 'never.jsonl');
    await writeFile(prompt, 'hello');
    const result = await runCli([
      'record',
      'http://127.0.0.1:1',
      '--prompt-file',
      prompt,
      '--output',
      output,
    ]);
    expect(result).toMatchObject({ code: 3, stderr: expect.stringContaining('nothing was sent') });
    await expect(readFile(output)).rejects.toThrow('ENOENT');
    await rm(prompt);
  });
});

describe.skipIf(!ready || !isFull)(
  'over http, with a model that is scripted elsewhere',
  { timeout: 400_000 },
  () => {
    it.each(['0.19.0', '0.22.2.post1'])('%s', async (version) => {
      const provider = await startProvider();
      const home = await mkdtemp(join(tmpdir(), 'turn-http-'));
      const engine = await startEngine({ version, home, ...(await configured(home, provider.url)) });
      try {
        const ids = ['plain', 'interrupt', 'lost-socket'];
        const args = ['turn', engine.url, '--suite', 'full', '--scripted', '--only', ids.join(','), '--json'];
        const env = { HERMES_COMPAT_TOKEN: engine.token ?? '' };
        const refused = await runCli(args, { env, timeoutMs: 100_000 });
        expect(refused.code).toBe(4);
        expect(provider.requests).toEqual([]);
        const result = await runCli([...args, '--yes'], { env, timeoutMs: 300_000 });
        const turns = document<Turns>(result);
        expect(turns.scenarios.map(({ id, status, from }) => [id, status, from])).toEqual(
          ids.map((id) => [id, 'pass', 'table']),
        );
        const rows = (await fetch(`${engine.url}/api/sessions?limit=50`, {
          headers: { 'X-Hermes-Session-Token': engine.token ?? '' },
        }).then((answer) => answer.json())) as { sessions: unknown[] };
        expect(rows.sessions).toEqual([]);
      } finally {
        await engine.stop();
        await provider.close();
        await rm(home, { recursive: true, force: true, maxRetries: 5 });
      }
    });

    it('record and the basic suite', async () => {
      const provider = await startProvider();
      const home = await mkdtemp(join(tmpdir(), 'turn-basic-'));
      const engine = await startEngine({
        version: '0.19.0',
        home,
        ...(await configured(home, provider.url)),
      });
      const env = { HERMES_COMPAT_TOKEN: engine.token ?? '' };
      try {
        const basic = await runCli(['turn', engine.url, '--yes', '--json'], { env, timeoutMs: 200_000 });
        expect(document<Turns>(basic)).toMatchObject({
          suite: 'basic',
          exitCode: 0,
          scenarios: [{ status: 'pass' }],
        });
        const prompt = join(home, 'prompt.txt');
        const output = join(home, 'log.jsonl');
        await writeFile(prompt, 'SCN:two-tools first\n---\nSCN:plain second\n');
        const args = ['record', engine.url, '--prompt-file', prompt, '--output', output, '--yes', '--json'];
        const recorded = await runCli(args, { env, timeoutMs: 200_000 });
        expect(document(recorded)).toMatchObject({
          turns: 2,
          removed: true,
          exitCode: 0,
        });
        const log = await readFile(output, 'utf8');
        expect(log).toContain('SCN:plain second');
        expect(log).not.toContain(engine.token);
        expect(log).not.toMatch(/"system_prompt":"(?!\[left out\])/);
        const replayed = await runCli(['replay', output, '--json']);
        expect(
          document<{ turns: { outcome: string }[] }>(replayed).turns.map(({ outcome }) => outcome),
        ).toEqual(['completed', 'completed']);
        const again = await runCli(args, { env, timeoutMs: 60_000 });
        expect(again).toMatchObject({ code: 2 });
      } finally {
        await engine.stop();
        await provider.close();
        await rm(home, { recursive: true, force: true, maxRetries: 5 });
      }
    });
  },
);

/** Writes the config of a scripted model; gives nothing more to the start. */
async function configured(home: string, url: string): Promise<object> {
  await writeFile(
    join(home, 'config.yaml'),
    `model: {default: scripted-1, provider: custom, base_url: "${url}", api_key: sk-scripted, context_length: 64000}\n`,
  );
  return {};
}
