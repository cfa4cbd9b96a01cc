import { afterEach, describe, expect, test } from 'vitest';
import type { Report } from '../../src/judge/schema.ts';
import { startSimulator } from '../../src/simulate/index.ts';
import type { Simulator } from '../../src/simulate/index.ts';
import { document, runCli } from '../support/cli.ts';
import { type ConnectProxy, connectProxy } from '../support/connect-proxy.ts';
import { freePort } from '../support/engines.ts';

// The HTTP proxy on our own way: from an option or the environment, never for this machine itself.

const token = 'CANARY-token-0123456789';
let simulator: Simulator | null = null;
let proxy: ConnectProxy | null = null;
afterEach(async () => {
  await Promise.all([simulator?.close(), proxy?.close()]);
  [simulator, proxy] = [null, null];
});

async function scene(refusal?: string): Promise<{ engine: Simulator; names: ConnectProxy }> {
  const engine = await startSimulator({ release: '0.19.0', token, host: '127.0.0.1' });
  simulator = engine;
  const names = await connectProxy(
    (authority) => (refusal === undefined && authority.startsWith('box.example:') ? engine.port : null),
    refusal,
  );
  proxy = names;
  return { engine, names };
}

async function doctor(args: string[], env: Record<string, string>): Promise<Report> {
  const result = await runCli(['doctor', ...args, '--client', 'minimal', '--json'], {
    env: { HERMES_COMPAT_TOKEN: token, ...env },
  });
  expect(result.stdout + result.stderr).not.toContain('CANARY');
  return document<Report>(result);
}

const said = async (args: string[], env: Record<string, string>): Promise<string> =>
  (
    await runCli(['doctor', ...args, '--client', 'minimal'], { env: { HERMES_COMPAT_TOKEN: token, ...env } })
  ).stdout.replaceAll(/\s+/g, ' ');

const codes = (report: Report): string[] =>
  report.findings.filter(({ severity }) => severity === 'error').map(({ code }) => code);

describe('the environment names one', () => {
  test('it is the way to a remote address, for requests and the WebSocket, and the password in it stays a secret', async () => {
    const { names } = await scene();
    const HTTP_PROXY = names.url.replace('http://', 'http://me:CANARY-proxy-password@');
    const report = await doctor(['http://box.example:9119'], { HTTP_PROXY });
    // The engine answers only to its own name; that it says so shows that it was reached.
    expect(codes(report)).toEqual(['HOST_REJECTED']);
    expect(new Set(names.asked)).toEqual(new Set(['box.example:9119']));
    expect(names.heads[0]).toContain(
      `Proxy-Authorization: Basic ${Buffer.from('me:CANARY-proxy-password').toString('base64')}`,
    );
  });

  test('loopback is asked directly, whatever the environment says', async () => {
    const { engine, names } = await scene();
    const env = { HTTP_PROXY: names.url, HTTPS_PROXY: names.url, ALL_PROXY: names.url, NO_PROXY: '' };
    expect((await doctor([engine.url], env)).verdict).toBe('compatible');
    expect((await doctor([engine.url, '--proxy', names.url], {})).verdict).toBe('compatible');
    expect(names.asked).toEqual([]);
  });

  test('NO_PROXY with a CIDR range goes around it', async () => {
    const { names } = await scene();
    // TEST-NET-1: nobody answers there, directly or not; what counts is who was asked.
    await doctor(['http://192.0.2.7:9119', '--timeout', '1'], {
      HTTP_PROXY: names.url,
      NO_PROXY: '10.0.0.0/8,192.0.2.0/24',
    });
    expect(names.asked).toEqual([]);
    await doctor(['http://192.0.2.7:9119', '--timeout', '5'], {
      HTTP_PROXY: names.url,
      NO_PROXY: '10.0.0.0/8',
    });
    expect(names.asked).toContain('192.0.2.7:9119');
  });
});

describe('it fails', () => {
  test.each([
    [
      '407',
      'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n',
      'PROXY_BASIC_AUTH',
      'asks for a password (HTTP 407). ',
    ],
    [
      '502',
      'HTTP/1.1 502 Bad Gateway\r\n\r\n',
      'UPSTREAM_DOWN',
      'cannot reach http://box.example (HTTP 502). ',
    ],
    [
      '403',
      'HTTP/1.1 403 Forbidden\r\n\r\n',
      'EDGE_REFUSES_HTTP',
      'refuses the way to http://box.example (HTTP 403). ',
    ],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', 'WRONG_SERVICE', ''],
    ['nothing', '', 'CONNECTION_RESET', 'was cut before an answer came. '],
  ])(
    'with %s: the proxy and its variable are named, not the address behind it',
    async (_, refusal, code, sentence) => {
      const { names } = await scene(refusal);
      const env = { http_proxy: names.url };
      const report = await doctor(['http://box.example'], env);
      expect([codes(report), report.verdict, report.exitCode]).toEqual([[code], 'unknown', 3]);
      expect(report.findings[0]?.args).toMatchObject({ proxy: names.url, proxyFrom: 'http_proxy' });
      if (sentence !== '') expect(await said(['http://box.example'], env)).toContain(sentence);
    },
  );

  test('nobody listens at it', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const text = await said(['http://box.example', '--proxy', url], {});
    expect(text).toContain(`Nothing listens at the proxy ${url} (from --proxy): the connection was refused.`);
    expect(text).toContain('except the address in NO_PROXY.');
  });

  test('of a kind that we cannot use: exit 2, and the variable', async () => {
    const result = await runCli(['doctor', 'http://box.example'], {
      env: { ALL_PROXY: 'socks5://127.0.0.1:1' },
    });
    expect([result.code, result.stderr]).toEqual([
      2,
      expect.stringContaining('ALL_PROXY names a socks5 proxy'),
    ]);
  });
});
