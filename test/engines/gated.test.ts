import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { document, runCli } from '../support/cli.ts';
import { type Engine, requireEngines, startEngine } from '../support/engines.ts';

// Real engines behind their own login: the basic provider, bound to an address that is not loopback for them.

interface Report {
  verdict: string;
  exitCode: number;
  findings: { code: string; severity: string; args: Record<string, unknown> }[];
  capabilities: { id: string; state: string }[];
}

const user = 'ann';
const password = 'correct-horse-battery-0123';
const versions =
  process.env['HERMES_COMPAT_TEST_FULL'] === '1'
    ? ['0.16.0', '0.19.0', '0.21.4.post1', '0.22.2.post1']
    : ['0.19.0', '0.22.2.post1'];
const usable = await requireEngines(...versions);

async function doctor(url: string, args: string[], env: Record<string, string>): Promise<Report> {
  const result = await runCli(['doctor', url, '--client', 'minimal', '--json', ...args], {
    env,
    timeoutMs: 90_000,
  });
  expect(`${result.stdout}${result.stderr}`).not.toContain(password);
  return document<Report>(result);
}

const errors = (report: Report): string[] =>
  report.findings.filter((each) => each.severity === 'error').map((each) => each.code);

describe.skipIf(!usable).each(versions)('%s', (version) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine({
      version,
      host: '127.0.0.2',
      token: null,
      env: {
        HERMES_DASHBOARD_BASIC_AUTH_USERNAME: user,
        HERMES_DASHBOARD_BASIC_AUTH_PASSWORD: password,
        HERMES_DASHBOARD_BASIC_AUTH_SECRET: 'a-secret-of-the-test-0123456789',
      },
    });
  });
  afterAll(() => engine.stop());
  const login = ['--username', user, '--password-env', 'THE_PASSWORD'];

  test('the right password opens the WebSocket with a ticket', async () => {
    const report = await doctor(engine.url, login, { THE_PASSWORD: password });
    expect([errors(report), report.verdict, report.exitCode]).toEqual([[], 'compatible', 0]);
    expect(report.capabilities.find((each) => each.id === 'ticket-auth')?.state).toBe('yes');
  });
  test('nothing given', async () => {
    const report = await doctor(engine.url, [], {});
    expect([errors(report), report.verdict]).toEqual([['LOGIN_REQUIRED'], 'unknown']);
    expect(report.findings[0]?.args['providers']).toEqual(['basic']);
  });
  test('a session token where a login is wanted', async () => {
    const report = await doctor(engine.url, [], { HERMES_COMPAT_TOKEN: 'some-session-token-0123' });
    expect(errors(report)).toEqual(['AUTH_MODE_MISMATCH']);
  });
  test('a wrong password, and then too many of them', async () => {
    const wrong = await doctor(engine.url, login, { THE_PASSWORD: 'not-it' });
    expect(errors(wrong)).toEqual(['LOGIN_REJECTED']);
    for (let attempt = 0; attempt < 10; attempt++)
      await fetch(`${engine.url}/auth/password-login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ provider: 'basic', username: user, password: 'not-it', next: '' }),
      });
    const limited = await doctor(engine.url, login, { THE_PASSWORD: password });
    expect(errors(limited)).toEqual(['LOGIN_RATE_LIMITED']);
    expect(limited.exitCode).toBe(3);
  });
});
