import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bendingProxy } from '../support/bending-proxy.ts';
import { document, runCli } from '../support/cli.ts';
import { type Engine, requireEngines, startEngine } from '../support/engines.ts';
import { ticketProxy } from '../support/ticket-proxy.ts';
import { isFull } from '../support/full.ts';

// Real engines behind their own login: the basic provider, bound to an address that is not loopback for them.

interface Report {
  verdict: string;
  exitCode: number;
  engine: { version: string; contract: { value: number | null; from: string | null } };
  findings: { code: string; severity: string; args: Record<string, unknown>; fix: string[] }[];
  capabilities: { id: string; state: string }[];
}

const user = 'ann';
const password = 'correct-horse-battery-0123';
const all = ['0.16.0', '0.19.0', '0.21.4.post1', '0.22.2.post1'];
/** Each wrong step on these; the right one on all. */
const versions = isFull ? all : ['0.19.0', '0.22.2.post1'];
const contracts: Record<string, number> = { '0.16.0': 1, '0.19.0': 4, '0.21.4.post1': 7, '0.22.2.post1': 8 };
const usable = await requireEngines(...all);

async function doctor(
  url: string,
  args: string[],
  env: Record<string, string>,
  client = 'minimal',
): Promise<Report> {
  const result = await runCli(['doctor', url, '--client', client, '--json', ...args], {
    env,
    timeoutMs: 90_000,
  });
  expect(`${result.stdout}${result.stderr}`).not.toContain(password);
  return document<Report>(result);
}

const errors = (report: Report): string[] =>
  report.findings.filter((each) => each.severity === 'error').map((each) => each.code);

const host = '127.0.0.2';
const gated = (version: string): Promise<Engine> =>
  startEngine({
    version,
    host,
    token: null,
    env: {
      HERMES_DASHBOARD_BASIC_AUTH_USERNAME: user,
      HERMES_DASHBOARD_BASIC_AUTH_PASSWORD: password,
      HERMES_DASHBOARD_BASIC_AUTH_SECRET: 'a-secret-of-the-test-0123456789',
    },
  });
const login = ['--username', user, '--password-env', 'THE_PASSWORD'];

describe.skipIf(!usable).each(all)('%s, the right way', { timeout: 240_000 }, (version) => {
  test('login, ticket, WebSocket, and the contract over it', async () => {
    const engine = await gated(version);
    try {
      const report = await doctor(engine.url, login, { THE_PASSWORD: password }, 'hermes-desktop');
      expect([errors(report), report.verdict, report.exitCode]).toEqual([[], 'compatible', 0]);
      const { contract } = report.engine;
      expect([report.engine.version, contract.value, contract.from]).toEqual([
        version,
        contracts[version],
        'rpc',
      ]);
      expect(report.capabilities.find((each) => each.id === 'ticket-auth')?.state).toBe('yes');
    } finally {
      await engine.stop();
    }
  });
});

describe.skipIf(!usable).each(versions)('%s', (version) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await gated(version);
  });
  afterAll(() => engine.stop());

  test('nothing given', async () => {
    const report = await doctor(engine.url, [], {});
    expect([errors(report), report.verdict]).toEqual([['LOGIN_REQUIRED'], 'unknown']);
    expect(report.findings[0]?.args['providers']).toEqual(['basic']);
  });
  test('a session token where a login is wanted', async () => {
    const report = await doctor(engine.url, [], { HERMES_COMPAT_TOKEN: 'some-session-token-0123' });
    expect(errors(report)).toEqual(['AUTH_MODE_MISMATCH']);
  });
  test('a ticket that somebody else was faster with', async () => {
    const proxy = await ticketProxy(host, engine.port, 'used');
    const report = await doctor(`http://${host}:${proxy.port}`, login, { THE_PASSWORD: password });
    proxy.close();
    expect([errors(report), report.verdict]).toEqual([['TICKET_USED_OR_EXPIRED'], 'unknown']);
    expect(proxy.upgrades()).toBeGreaterThan(1);
  });
  test.skipIf(!isFull)('a ticket that arrives after its 30 s', { timeout: 150_000 }, async () => {
    const proxy = await ticketProxy(host, engine.port, { lateMs: 31_500 });
    const report = await doctor(`http://${host}:${proxy.port}`, [...login, '--patience', 'cold'], {
      THE_PASSWORD: password,
    });
    proxy.close();
    expect([errors(report), report.verdict]).toEqual([['TICKET_USED_OR_EXPIRED'], 'unknown']);
  });
  test('a cookie that does not arrive, and one that no browser would keep', async () => {
    const noCookie = await bendingProxy(engine.port, (head) => head.replace(/^cookie:.*\r\n/im, ''), {
      listen: host,
      to: host,
    });
    const lost = await doctor(`http://${host}:${noCookie.port}`, login, { THE_PASSWORD: password });
    noCookie.close();
    expect([errors(lost), lost.findings[0]?.args['reason']]).toEqual([['LOGIN_REQUIRED'], 'no_cookie']);
    expect(lost.findings[0]?.fix).toContain('nginx-cookie');

    const elsewhere = await bendingProxy(
      engine.port,
      (head) => head.replace('\r\n', '\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Prefix: /other\r\n'),
      { listen: host, to: host },
    );
    const unkept = await doctor(`http://${host}:${elsewhere.port}`, login, { THE_PASSWORD: password });
    elsewhere.close();
    expect(errors(unkept)).toEqual(['COOKIE_NOT_STORED']);
    expect(unkept.findings.find((each) => each.code === 'COOKIE_NOT_STORED')?.args['why']).toBe(
      'its Path /other does not cover the address',
    );
  });
  test('a wrong password, and then too many of them', async () => {
    const wrong = await doctor(engine.url, login, { THE_PASSWORD: 'not-it' });
    expect(errors(wrong)).toEqual(['LOGIN_REJECTED']);
    // Logins of the tests before count too and are forgotten after a minute each: whoever is let in again is one of these.
    const attempts = setInterval(() => void attempt(engine.url), 100);
    for (let count = 0; count < 10; count++) await attempt(engine.url);
    const limited = await doctor(engine.url, login, { THE_PASSWORD: password });
    clearInterval(attempts);
    expect(errors(limited)).toEqual(['LOGIN_RATE_LIMITED']);
    expect(limited.exitCode).toBe(3);
  });
});

const attempt = (url: string): Promise<unknown> =>
  fetch(`${url}/auth/password-login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ provider: 'basic', username: user, password: 'not-it', next: '' }),
  }).catch(() => null);
