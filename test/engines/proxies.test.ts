import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { advised, applyAll } from '../support/apply-advice.ts';
import { type CliResult, document, runCli } from '../support/cli.ts';
import { type ConnectProxy, connectProxy } from '../support/connect-proxy.ts';
import {
  edgeCa,
  edgeConfig,
  edgeLogin,
  edgeName,
  type EdgeSite,
  type Mistake,
} from '../support/edge-configs.ts';
import { type Engine, engineDir, freePort, requireEngines, startEngine } from '../support/engines.ts';
import {
  haveWebProxies,
  type ProxyKind,
  proxyKinds,
  startWebProxy,
  type WebProxy,
} from '../support/web-proxies.ts';
import { isFull } from '../support/full.ts';

// Real nginx, Caddy and HAProxy in front of a real engine: each common mistake is named, and what the report prints for it,
// done literally, makes the next check green.

interface Report {
  verdict: string;
  findings: { code: string; severity: string }[];
}

/** What is done about a finding besides the printed lines of a configuration. */
type Advice = 'lines' | 'header-file' | 'https' | 'prefix' | 'none';

interface Row {
  mistake: Mistake;
  /** What the report must say; null for nothing. */
  code: string | null;
  /** What it may say beside that, where two causes cannot be told apart, or one has two effects. */
  also?: string[];
  verdict: string;
  advice: Advice[];
  args?: string[];
  prefix?: string;
  /** Only without TLS. */
  plain?: true;
}

const hold = ['--hold', '4'];
const origin = ['--origin', 'https://app.example'];

const rows: readonly Row[] = [
  { mistake: 'none', code: null, verdict: 'compatible', advice: ['none'] },
  {
    mistake: 'no-upgrade',
    code: 'UPGRADE_DROPPED',
    also: ['WS_LIB_MISSING'],
    verdict: 'incompatible',
    advice: ['lines'],
  },
  { mistake: 'host', code: 'HOST_REJECTED', verdict: 'incompatible', advice: ['lines'] },
  { mistake: 'host-ws', code: 'HOST_REJECTED', verdict: 'incompatible', advice: ['lines'] },
  { mistake: 'none', code: 'ORIGIN_REJECTED', verdict: 'incompatible', advice: ['lines'], args: origin },
  {
    mistake: 'origin-added',
    code: 'ORIGIN_REJECTED',
    also: ['PEER_NOT_LOOPBACK'],
    verdict: 'incompatible',
    advice: ['lines'],
  },
  { mistake: 'prefix', code: null, verdict: 'compatible', advice: ['none'], prefix: '/hermes' },
  { mistake: 'prefix', code: 'WRONG_PATH', verdict: 'unknown', advice: ['prefix'] },
  {
    mistake: 'prefix-kept',
    code: 'PREFIX_NOT_STRIPPED',
    verdict: 'unknown',
    advice: ['lines'],
    prefix: '/hermes',
  },
  {
    mistake: 'prefix-unsaid',
    code: 'BASE_PATH_MISMATCH',
    also: ['WEB_ASSETS_BROKEN'],
    verdict: 'compatible',
    advice: ['lines'],
    prefix: '/hermes',
  },
  { mistake: 'buffering', code: null, verdict: 'compatible', advice: ['none'], args: hold },
  { mistake: 'idle', code: 'WS_IDLE_CUT', verdict: 'unknown', advice: ['lines'], args: hold },
  { mistake: 'login-redirect', code: 'EDGE_LOGIN', verdict: 'unknown', advice: ['header-file', 'lines'] },
  { mistake: 'login-page', code: 'EDGE_LOGIN', verdict: 'unknown', advice: ['header-file', 'lines'] },
  { mistake: 'basic-auth', code: 'PROXY_BASIC_AUTH', verdict: 'unknown', advice: ['header-file', 'lines'] },
  { mistake: 'to-https', code: 'REDIRECT_HTTPS', verdict: 'unknown', advice: ['https'], plain: true },
  { mistake: 'ws-denied', code: 'EDGE_REFUSES_WS', verdict: 'incompatible', advice: ['lines'] },
  { mistake: 'ws-path', code: 'WS_PATH_MAPPED_WRONG', verdict: 'incompatible', advice: ['lines'] },
  { mistake: 'forbidden', code: 'EDGE_REFUSES_HTTP', verdict: 'unknown', advice: ['none'] },
  { mistake: 'limited', code: 'EDGE_REFUSES_HTTP', verdict: 'unknown', advice: ['none'] },
];

type Case = Row & { kind: ProxyKind; tls: boolean; name: string };

const all: readonly Case[] = rows.flatMap((row) =>
  proxyKinds.flatMap((kind) =>
    [false, true]
      .filter((tls) => !(tls && row.plain === true))
      .map((tls) => ({
        ...row,
        kind,
        tls,
        name: `${kind}, ${tls ? 'https' : 'http'}, ${row.mistake} ${row.code ?? 'right'} ${row.args?.join(' ') ?? ''}`,
      })),
  ),
);

/** Without the full run, each mistake once: at one of the three, on one of the two schemes. */
const cases = isFull
  ? all
  : rows.flatMap((row, index) => {
      const own = all.filter(
        (each) =>
          each.mistake === row.mistake && each.code === row.code && each.kind === proxyKinds[index % 3],
      );
      return own.slice(index % 2 === 0 ? 0 : -1).slice(0, 1);
    });

const usable = (await requireEngines('0.19.0')) && haveWebProxies();

describe.skipIf(!usable)('in front of a real 0.19.0', () => {
  let engine: Engine;
  let folder: string;
  beforeAll(async () => {
    engine = await startEngine({ version: '0.19.0' });
    folder = await mkdtemp(join(tmpdir(), 'edge-test-'));
  });
  afterAll(async () => {
    await engine?.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  /** A proxy with this configuration under a public name, and how it is checked. */
  async function scene(each: Case): Promise<{
    site: EdgeSite;
    edge: WebProxy;
    names: ConnectProxy;
    check: Check;
    close: () => Promise<void>;
  }> {
    const site = { port: await freePort(), upstream: engine.port, tls: each.tls };
    const edge = await startWebProxy(each.kind, site.port, edgeConfig(each.kind, site, each.mistake));
    const names = await connectProxy(() => site.port);
    const check: Check = (url, args = [], format = '--json') =>
      runCli(
        [
          'doctor',
          url,
          '--client',
          'minimal',
          '--proxy',
          names.url,
          '--ca',
          edgeCa,
          ...(each.args ?? []),
          ...args,
          format,
        ],
        {
          env: { HERMES_COMPAT_TOKEN: engine.token ?? '' },
          timeoutMs: 90_000,
        },
      );
    return {
      site,
      edge,
      names,
      check,
      close: async () => void (await Promise.all([edge.stop(), names.close()])),
    };
  }
  type Check = (url: string, args?: string[], format?: string) => Promise<CliResult>;

  /** `hermes-compat launch` on the machine of the engine, where the proxy looks for it. */
  const launched = async (args: string[], home: string): Promise<CliResult> =>
    runCli(args, {
      env: {
        PATH: `${engineDir('0.19.0')}/bin:/usr/local/bin:/usr/bin:/bin`,
        HOME: home,
        HERMES_HOME: join(home, '.hermes'),
      },
      timeoutMs: 120_000,
    });

  test.each(isFull ? proxyKinds : ['haproxy' as const])(
    '%s, http, the engine is down',
    { timeout: 240_000 },
    async (kind) => {
      const home = await mkdtemp(join(folder, 'home-'));
      await mkdir(join(home, '.hermes'));
      const site = { port: await freePort(), upstream: await freePort(), tls: false };
      const edge = await startWebProxy(kind, site.port, edgeConfig(kind, site, 'none'));
      const names = await connectProxy(() => site.port);
      const check = (format: string, token: string[] = []): Promise<CliResult> =>
        runCli(
          ['doctor', `http://${edgeName}`, '--client', 'minimal', '--proxy', names.url, format, ...token],
          { timeoutMs: 90_000 },
        );
      try {
        const report = document<Report>(await check('--json'));
        expect(report.findings.map(({ code }) => code)).toEqual(['UPSTREAM_DOWN']);
        expect(report.verdict).toBe('unknown');
        const said = (await check('-v')).stdout;
        expect(said).toContain('    $ hermes-compat launch\n');
        expect(advised(said, kind)[0]?.join('\n')).toContain('127.0.0.1:9119');
        const started = document<{ tokenFile: string }>(
          await launched(['launch', '--port', String(site.upstream), '--json'], home),
        );
        isGreen(await check('--json', ['--token-file', started.tokenFile]));
      } finally {
        await launched(['stop', '--json'], home);
        await Promise.all([edge.stop(), names.close()]);
      }
    },
  );

  const isGreen = (result: CliResult): void => {
    const report = document<Report>(result);
    expect(report.findings.map(({ code }) => code)).toEqual([]);
    expect(report.verdict).toBe('compatible');
    expect(result.code).toBe(0);
  };

  test.concurrent.each(cases)('$name', { timeout: 240_000 }, async (each) => {
    const { site, edge, check, close } = await scene(each);
    try {
      const url = `${each.tls ? 'https' : 'http'}://${edgeName}${each.prefix ?? ''}`;
      const found = await check(url);
      const report = document<Report>(found);
      const codes = report.findings.filter(({ severity }) => severity !== 'info').map(({ code }) => code);
      // Caddy answers a path that it has no site for with nothing.
      const code = each.kind === 'caddy' && each.code === 'WRONG_PATH' ? 'NO_SITE' : each.code;
      if (code !== null) expect(codes).toContain(code);
      expect(codes.filter((other) => other !== code && each.also?.includes(other) !== true)).toEqual([]);
      expect(report.verdict).toBe(each.verdict);
      for (const advice of each.advice) await follow(advice, each, url, { site, edge, check, found });
    } finally {
      await close();
    }
  });

  async function follow(
    advice: Advice,
    each: Case,
    url: string,
    { site, edge, check, found }: { site: EdgeSite; edge: WebProxy; check: Check; found: CliResult },
  ): Promise<void> {
    switch (advice) {
      case 'none':
        return;
      case 'lines': {
        const said = (await check(url, ['-v'], '--no-color')).stdout;
        const blocks = advised(said, each.kind);
        expect(blocks.length, said).toBeGreaterThan(0);
        const applied = applyAll(each.kind, edgeConfig(each.kind, site, each.mistake), blocks);
        // The one thing that only the person knows: the port of the dashboard.
        await edge.restart(applied.replaceAll('127.0.0.1:9119', `127.0.0.1:${engine.port}`));
        return isGreen(await check(url));
      }
      case 'header-file': {
        expect(found.stdout).toContain('--header-file');
        const file = join(folder, `headers-${each.kind}`);
        const basic = `Authorization: Basic ${Buffer.from(edgeLogin).toString('base64')}`;
        await writeFile(file, `${each.code === 'PROXY_BASIC_AUTH' ? basic : 'X-Pass: let-me-through'}\n`);
        return isGreen(await check(url, ['--header-file', file]));
      }
      case 'https': {
        const said = (await check(url, [], '--no-color')).stdout;
        const use = /^ {2}Use (https:\S+) in the client\.$/m.exec(said)?.[1] ?? '';
        await edge.restart(edgeConfig(each.kind, { ...site, tls: true }, 'none'));
        return isGreen(await check(use));
      }
      case 'prefix': {
        const said = (await check(url, [], '--no-color')).stdout;
        expect(said).toMatch(/base URL with the prefix|host name and path that the proxy is configured for/);
        return isGreen(await check(`${url}/hermes`));
      }
      default: {
        const never: never = advice;
        return never;
      }
    }
  }
});
