import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Report } from '../../src/judge/schema.ts';
import type { StatusDocument } from '../../src/patch/schema.ts';
import { type CliResult, document, runCli } from '../support/cli.ts';
import { requireEngines, startEngine, engineDir } from '../support/engines.ts';
import { forgeEngine, threeNews } from '../support/forged-engine.ts';
import { isFull } from '../support/full.ts';

// `npm run lab -- --add PATH`: the first look at an engine that nobody knows.

const newest = '0.22.2.post1';
const usable = isFull && (await requireEngines(newest, '0.19.0'));
const lab = fileURLToPath(new URL('../../lab/index.ts', import.meta.url));
const tsx = fileURLToPath(import.meta.resolve('tsx'));

const add = (path: string): Promise<CliResult> =>
  new Promise((resolve) => {
    const argv = ['--import', tsx, lab, '--add', path];
    execFile(process.execPath, argv, { timeout: 500_000 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
    );
  });

describe.skipIf(!usable)('a forged engine', { timeout: 600_000 }, () => {
  let folder: string;
  let venv: string;
  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'hermes-forged-')));
    venv = join(folder, 'venv');
    await forgeEngine(newest, venv, threeNews);
    await mkdir(join(folder, 'home'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

  test('is reported as exactly the three differences that it has', async () => {
    const { stdout, stderr, code } = await add(venv);
    const news = stdout.split('\n').filter((line) => /^[a-z-]+: /.test(line));
    expect(news, stdout + stderr).toEqual([
      'anchor: call _mount_plugin_api_routes: web_server.py, in _mount_everything, was: web_server.py, module level',
      'contract: contract: 9, was: 8',
      'status-field: new field in /api/status: forecast',
    ]);
    expect(stdout).toContain('hence patch model-library: unknown, was: absent');
    expect(stdout).toContain('hence overlay: unknown, was: is mounted');
    expect(stdout).toContain('3 differences\n');
    expect(code).toBe(1);
  });

  const at = (): string[] => ['--home', join(folder, 'home')];

  test('doctor on its disk: the patch is unknown, and nothing is offered that would be refused', async () => {
    const args = ['doctor', `local:${venv}`, ...at(), '--json'];
    const report = document<Report>(await runCli(args, { timeoutMs: 240_000 }));
    const codes = report.findings.map(({ code }) => code);
    expect(codes).toEqual(expect.arrayContaining(['MODEL_LIBRARY_MISSING', 'STRUCTURE_UNKNOWN']));
    expect(codes).not.toContain('INSTALL_EDITED');
    expect(report.remedies.filter(({ carrier }) => carrier === 'overlay' || carrier === 'source')).toEqual(
      [],
    );
    expect(report.engine.contract).toEqual({ value: 9, from: 'source', state: 'known' });
    const words = await runCli(['doctor', `local:${venv}`, ...at()], { timeoutMs: 240_000 });
    expect(words.stdout.replaceAll(/\s+/g, ' ')).toContain(
      'nothing of ours would be placed: report its version',
    );
    expect(words.stdout).not.toContain('--fix');
    const status = await runCli(['patch', 'status', '--target', `local:${venv}`, ...at(), '--json']);
    expect(document<StatusDocument>(status).patches.map(({ id, state }) => [id, state])).toEqual([
      ['embedded-chat', 'not-needed'],
      ['model-library', 'unknown'],
    ]);
    const fix = await runCli(['doctor', `local:${venv}`, ...at(), '--fix', '--yes'], { timeoutMs: 240_000 });
    expect([fix.code, await readdir(join(folder, 'home'))]).toEqual([1, []]);
    const applyWords = ['patch', 'apply', '--yes', '--target', `local:${venv}`, ...at()];
    const apply = await runCli(applyWords, { timeoutMs: 240_000 });
    expect([apply.code, await readdir(join(folder, 'home'))]).toEqual([4, []]);
    expect(apply.stderr).toContain('STRUCTURE_UNKNOWN');
  });

  test('doctor on it running: too new for the desktop, and still compatible where nothing is missing', async () => {
    const engine = await startEngine({ version: newest, venv });
    try {
      const args = ['doctor', `local:${venv}`, '--home', engine.home, '--url', engine.url, '--json'];
      const env = { HERMES_COMPAT_TOKEN: engine.token ?? '' };
      const run = await runCli([...args, '--client', 'hermes-desktop'], { env, timeoutMs: 240_000 });
      const report = document<Report>(run);
      expect(report.verdict).toBe('compatible');
      expect(report.findings.map(({ code }) => code)).toContain('CONTRACT_TOO_NEW');
      expect(run.stdout).not.toContain('rain');
    } finally {
      await engine.stop();
    }
  });
});

describe.skipIf(!usable)('an engine of the ladder', { timeout: 600_000 }, () => {
  test('has nothing new', async () => {
    const { stdout, stderr, code } = await add(engineDir('0.19.0'));
    expect(stdout + stderr).toContain('nothing new');
    expect(code).toBe(0);
  });
});
