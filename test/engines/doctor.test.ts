import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CliResult, document, runCli } from '../support/cli.ts';
import {
  type Engine,
  engineDir,
  ladder,
  requireEngines,
  sitePackages,
  startEngine,
} from '../support/engines.ts';
import { treeHashes } from '../support/tree-hashes.ts';

// The acceptance table of `doctor` on the ladder of real engines, as a person runs it.

interface Finding {
  code: string;
  severity: string;
  confidence: string;
  args: Record<string, unknown>;
}

interface Report {
  kind: 'report';
  verdict: string;
  exitCode: number;
  engine: {
    version: string;
    generation: string;
    contract: { value: number | null; state: string };
    install: string;
  };
  findings: Finding[];
}

const expectedEngine: Record<string, { generation: string; contract: number | null }> = {
  '0.13.0': { generation: 'G0', contract: null },
  '0.14.0': { generation: 'G0', contract: null },
  '0.16.0': { generation: 'G1', contract: 1 },
  '0.17.0': { generation: 'G1', contract: 2 },
  '0.18.2': { generation: 'G1', contract: 2 },
  '0.19.0': { generation: 'G1', contract: 4 },
  '0.20.0.post2': { generation: 'G1', contract: 5 },
  '0.21.0.post1': { generation: 'G1', contract: 6 },
  '0.21.4.post1': { generation: 'G2', contract: 7 },
  '0.22.2.post1': { generation: 'G2', contract: 8 },
};

const usable = await requireEngines(...ladder);

/** One run for one client against a running engine, its report checked against the schema. */
async function doctor(
  engine: Engine,
  client: string,
  env: Record<string, string>,
): Promise<Report & { raw: CliResult }> {
  const raw = await runCli(['doctor', '--url', engine.url, '--client', client, '--json'], {
    env,
    timeoutMs: 120_000,
  });
  const report = document<Report>(raw);
  expect(raw.code).toBe(report.exitCode);
  expect(raw.stderr).toBe('');
  return { ...report, raw };
}

const errors = (report: Report): string[] =>
  report.findings
    .filter(({ severity }) => severity === 'error')
    .map(({ code }) => code)
    .sort();
const warnings = (report: Report): string[] =>
  report.findings.filter(({ severity }) => severity === 'warn').map(({ code }) => code);
const finding = (report: Report, code: string): Finding | undefined =>
  report.findings.find((each) => each.code === code);

/** The forks ship no web build: the page gives no token. */
const withoutWebBuild = ladder.filter((version) => version.includes('post'));

const canary = 'canary-Zq7Kp2Xw9Lm4Tn6R';

describe.skipIf(!usable)('doctor on running engines', () => {
  const modern = ladder.filter((version) => !['0.13.0', '0.14.0', '0.15.2'].includes(version));

  describe.each(modern)('%s with its token', (version) => {
    let engine: Engine;
    let before: Map<string, string>;
    beforeAll(async () => {
      engine = await startEngine({ version, token: canary });
      before = await treeHashes(await sitePackages(engineDir(version)), engine.home);
    });
    afterAll(() => engine?.stop());
    const env = { HERMES_COMPAT_TOKEN: canary };

    it.each([
      ['minimal', 'compatible', [], 0],
      ['hermes-one', 'needs-remedy', ['MODEL_LIBRARY_MISSING'], 1],
      ['hermes-desktop', 'compatible', [], 0],
    ])('%s: %s', async (client, verdict, codes, exitCode) => {
      const report = await doctor(engine, client, env);
      expect(errors(report)).toEqual(codes);
      expect(report).toMatchObject({ verdict, exitCode });
      expect(report.engine).toMatchObject({
        version,
        generation: expectedEngine[version]?.generation,
        contract: { value: expectedEngine[version]?.contract, state: 'known' },
      });
      const tooOld = client === 'hermes-desktop' && version !== '0.22.2.post1';
      expect(warnings(report).includes('CONTRACT_TOO_OLD')).toBe(tooOld);
      expect(report.raw.stdout).not.toContain(canary);
    });

    it('leaves the engine and its home as they were', async () => {
      const after = await treeHashes(await sitePackages(engineDir(version)), engine.home);
      expect(after).toEqual(before);
      const sessions = await fetch(`${engine.url}/api/sessions?limit=5`, {
        headers: { 'x-hermes-session-token': canary },
      });
      expect(await sessions.json()).toMatchObject({ sessions: [] });
    });
  });

  describe('0.14.0', () => {
    let plain: Engine;
    let chat: Engine;
    beforeAll(async () => {
      [plain, chat] = await Promise.all([
        startEngine({ version: '0.14.0' }),
        startEngine({ version: '0.14.0', env: { HERMES_DASHBOARD_TUI: '1' } }),
      ]);
    });
    afterAll(() => Promise.all([plain?.stop(), chat?.stop()]));

    it.each([
      ['minimal', ['CHAT_DISABLED'], []],
      ['hermes-one', ['CHAT_DISABLED', 'MODEL_LIBRARY_MISSING'], []],
      ['hermes-desktop', ['CHAT_DISABLED'], ['CONTRACT_NONE']],
    ])('plain, %s', async (client, codes, warned) => {
      const report = await doctor(plain, client, {});
      expect(errors(report)).toEqual(codes);
      expect(report).toMatchObject({ verdict: 'needs-remedy', exitCode: 1 });
      expect(finding(report, 'CHAT_DISABLED')?.confidence).toBe('certain');
      expect(warnings(report)).toEqual(expect.arrayContaining(warned));
      expect(report.engine).toMatchObject({
        version: '0.14.0',
        generation: 'G0',
        contract: { value: null, state: 'none' },
      });
      expect(report.raw.stdout).not.toContain(plain.token);
    });

    it.each([
      ['minimal', 'compatible', [], []],
      ['hermes-one', 'needs-remedy', ['MODEL_LIBRARY_MISSING'], []],
      ['hermes-desktop', 'compatible', [], ['CONTRACT_NONE']],
    ])('with HERMES_DASHBOARD_TUI=1, %s: %s', async (client, verdict, codes, warned) => {
      const report = await doctor(chat, client, {});
      expect(errors(report)).toEqual(codes);
      expect(report.verdict).toBe(verdict);
      expect(warnings(report)).toEqual(expect.arrayContaining(warned));
    });
  });

  describe.each(withoutWebBuild)('%s without a web build, no token given', (version) => {
    let engine: Engine;
    beforeAll(async () => {
      engine = await startEngine({ version, token: canary });
    });
    afterAll(() => engine?.stop());

    it.each([
      ['minimal', 'unknown', ['TOKEN_UNREADABLE'], 3],
      ['hermes-one', 'needs-remedy', ['MODEL_LIBRARY_MISSING', 'TOKEN_UNREADABLE'], 1],
      ['hermes-desktop', 'unknown', ['TOKEN_UNREADABLE'], 3],
    ])('%s: %s', async (client, verdict, codes, exitCode) => {
      const report = await doctor(engine, client, {});
      expect(errors(report)).toEqual(codes);
      expect(report).toMatchObject({ verdict, exitCode });
    });
  });

  describe('0.13.0 plain, without a token', () => {
    let engine: Engine;
    beforeAll(async () => {
      engine = await startEngine({ version: '0.13.0', token: null });
    });
    afterAll(() => engine?.stop());

    it.each([
      ['minimal', ['CHAT_DISABLED', 'TOKEN_UNREADABLE']],
      ['hermes-one', ['CHAT_DISABLED', 'MODEL_LIBRARY_MISSING', 'TOKEN_UNREADABLE']],
      ['hermes-desktop', ['CHAT_DISABLED', 'TOKEN_UNREADABLE']],
    ])('%s', async (client, codes) => {
      const report = await doctor(engine, client, {});
      expect(errors(report)).toEqual(codes);
      expect(report.verdict).toBe('needs-remedy');
      expect(finding(report, 'CHAT_DISABLED')?.confidence).toBe('likely');
    });
  });

  it('0.15.2 on disk is incompatible, and the missing module is named', async () => {
    const raw = await runCli(['doctor', `local:${engineDir('0.15.2')}`, '--json']);
    const report = document<Report>(raw);
    expect(report).toMatchObject({ verdict: 'incompatible', exitCode: 1 });
    expect(finding(report, 'ENGINE_BROKEN_PACKAGE')).toMatchObject({
      severity: 'error',
      args: expect.objectContaining({ module: 'hermes_cli.dashboard_auth' }),
    });
    const text = await runCli(['doctor', `local:${engineDir('0.15.2')}`]);
    expect(text.stdout).toMatch(/0\.16/);
  });

  it('judges an install on disk when nothing runs', async () => {
    const home = join(process.cwd(), 'node_modules', '.empty-home');
    await mkdir(home, { recursive: true });
    await writeFile(join(home, 'keep'), '');
    const raw = await runCli([
      'doctor',
      `local:${engineDir('0.19.0')}`,
      '--home',
      home,
      '--client',
      'minimal',
      '--json',
    ]);
    const report = document<Report>(raw);
    expect(report).toMatchObject({ verdict: 'compatible', exitCode: 0 });
    expect(warnings(report)).toContain('DASHBOARD_NOT_RUNNING');
  });
});
