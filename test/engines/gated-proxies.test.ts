import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Report } from '../../src/judge/schema.ts';
import { advised, applyAll } from '../support/apply-advice.ts';
import { document, runCli } from '../support/cli.ts';
import { connectProxy } from '../support/connect-proxy.ts';
import { edgeCa, edgeConfig, edgeName, type Mistake } from '../support/edge-configs.ts';
import { type Engine, freePort, requireEngines, startEngine } from '../support/engines.ts';
import { haveWebProxies, type ProxyKind, proxyKinds, startWebProxy } from '../support/web-proxies.ts';
import { isFull } from '../support/full.ts';

// Real proxies in front of a real engine that asks for a login: what they do to its cookie. Each engine lets ten logins a minute in.

const user = 'ann';
const password = 'CANARY-correct-horse-battery';
const host = '127.0.0.2';
const kinds: readonly ProxyKind[] = isFull ? proxyKinds : ['nginx'];
const usable = (await requireEngines('0.22.2.post1')) && haveWebProxies();

describe.skipIf(!usable).each(kinds)('a gated 0.22.2.post1 behind %s', { timeout: 240_000 }, (kind) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine({
      version: '0.22.2.post1',
      host,
      token: null,
      env: {
        HERMES_DASHBOARD_BASIC_AUTH_USERNAME: user,
        HERMES_DASHBOARD_BASIC_AUTH_PASSWORD: password,
      },
    });
  });
  afterAll(() => engine?.stop());

  test.each([
    ['none', true, null, 'compatible', null],
    [
      'cookie-dropped',
      true,
      'LOGIN_REQUIRED',
      'unknown',
      'The login passes, and its cookie does not reach the dashboard',
    ],
    ['proto-https', false, 'COOKIE_NOT_STORED', 'unknown', 'it is Secure, and the address is http'],
  ] as [Mistake, boolean, string | null, string, string | null][])(
    '%s',
    async (mistake, tls, code, verdict, says) => {
      const site = { port: await freePort(), upstream: engine.port, tls, host };
      const config = edgeConfig(kind, site, mistake);
      const edge = await startWebProxy(kind, site.port, config);
      const names = await connectProxy(() => site.port);
      const check = async (): Promise<{ report: Report; text: string }> => {
        const saved = await runCli(
          [
            'detect',
            `${tls ? 'https' : 'http'}://${edgeName}`,
            '--json',
            '--proxy',
            names.url,
            '--ca',
            edgeCa,
            '--username',
            user,
            '--password-env',
            'THE_PASSWORD',
          ],
          { env: { THE_PASSWORD: password }, timeoutMs: 90_000 },
        );
        const from = ['doctor', '--from', '-', '--client', 'minimal'];
        const [json, text] = await Promise.all(
          [[...from, '--json'], from].map((args) => runCli(args, { stdin: saved.stdout })),
        );
        expect(`${saved.stdout}${saved.stderr}${text?.stdout}`).not.toContain('CANARY');
        return {
          report: document<Report>(json ?? saved),
          text: text?.stdout ?? '',
        };
      };
      try {
        const { report, text } = await check();
        expect(report.findings.map((each) => each.code)).toEqual(code === null ? [] : [code]);
        expect(report.verdict).toBe(verdict);
        if (says === null) return;
        expect(text.replaceAll(/\s+/g, ' ')).toContain(says);
        const printed = advised(text, kind);
        expect(printed.length, text).toBeGreaterThan(0);
        await edge.restart(applyAll(kind, config, printed));
        const after = await check();
        expect([after.report.findings.map((each) => each.code), after.report.verdict]).toEqual([
          [],
          'compatible',
        ]);
      } finally {
        await Promise.all([edge.stop(), names.close()]);
      }
    },
  );
});
