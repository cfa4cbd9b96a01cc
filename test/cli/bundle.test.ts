import { access, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../src/simulate/index.ts';
import { document, runCli } from '../support/cli.ts';

// The file for a bug report: said what is in it before it is written, and no secret in it.

const secret = 'CANARY-bundle-0123456789';
let engine: Simulator;
let cwd: string;
beforeAll(async () => {
  engine = await startSimulator({ release: '0.14.0', token: secret });
  cwd = await mkdtemp(join(tmpdir(), 'bundle-'));
});
afterAll(async () => {
  await engine.close();
  await rm(cwd, { recursive: true, maxRetries: 5 });
});

const options = () => ({ cwd, env: { HERMES_COMPAT_TOKEN: secret, HERMES_SECRET_THING: `${secret}-2` } });
const written = (): Promise<boolean> =>
  access(join(cwd, 'hermes-compat-bundle.json')).then(
    () => true,
    () => false,
  );

test('without a terminal and without --yes it shows what it would hold and writes nothing', async () => {
  const asked = await runCli(['bundle', engine.url], options());
  expect(asked.code).toBe(4);
  expect(asked.stderr).toMatch(
    /^The bundle \(\d+ KiB\) holds no token, password or chat\. It holds:\n {2}target/,
  );
  expect(await written()).toBe(false);
});

test('with --yes it is one valid document, without secrets, that can be judged again', async () => {
  const done = await runCli(['bundle', engine.url, '--yes'], options());
  expect([done.code, done.stdout]).toEqual([0, '']);
  const text = await readFile(join(cwd, 'hermes-compat-bundle.json'), 'utf8');
  expect(text + done.stderr).not.toContain('CANARY');
  const bundle = document<{ environment: string[]; report: { findings: { code: string }[] } }>({
    ...done,
    stdout: text,
  });
  expect(bundle.environment).toEqual(['HERMES_COMPAT_TOKEN', 'HERMES_SECRET_THING', 'NO_COLOR']);
  expect(bundle.report.findings.map(({ code }) => code)).toContain('CHAT_DISABLED');
});
