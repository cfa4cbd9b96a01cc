import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { document, runCli } from '../support/cli.ts';
import { type Engine, requireEngines, startEngine } from '../support/engines.ts';
import { follow, hasProxy, type ProxyKind, type Site, startProxy } from '../support/reverse-proxies.ts';

// Real proxies in front of a real engine, each common mistake: the finding names it, and its lines, followed literally, end it.

interface Report {
  verdict: string;
  findings: { code: string; severity: string; fix: string[] }[];
  remedies: { id: string; lines?: string[] }[];
}

const usable = await requireEngines('0.19.0');
const kinds = (['nginx', 'caddy', 'haproxy'] as const).filter(hasProxy);
const isFull = process.env['HERMES_COMPAT_TEST_FULL'] === '1';

const good: Record<ProxyKind, string[]> = {
  nginx: [
    'proxy_http_version 1.1;',
    'proxy_set_header Upgrade $http_upgrade;',
    'proxy_set_header Connection "upgrade";',
  ],
  caddy: ['header_up Host {upstream_hostport}'],
  haproxy: ['http-request set-header Host 127.0.0.1', 'timeout tunnel 1h'],
};

interface Mistake {
  name: string;
  kind: ProxyKind;
  listen?: string;
  lines: string[];
  code: string;
  args?: string[];
}

const mistakes: Mistake[] = [
  { name: 'no Upgrade', kind: 'nginx', lines: [], code: 'UPGRADE_DROPPED' },
  {
    name: 'Upgrade deleted',
    kind: 'caddy',
    lines: [...good.caddy, 'header_up -Upgrade', 'header_up -Connection'],
    code: 'UPGRADE_DROPPED',
  },
  {
    name: 'Upgrade deleted',
    kind: 'haproxy',
    lines: [...good.haproxy, 'http-request del-header Upgrade'],
    code: 'UPGRADE_DROPPED',
  },
  {
    name: 'Host passed on',
    kind: 'nginx',
    listen: '127.0.0.3',
    lines: [...good.nginx, 'proxy_set_header Host $host;'],
    code: 'HOST_REJECTED',
  },
  { name: 'Host passed on', kind: 'caddy', listen: '127.0.0.3', lines: [], code: 'HOST_REJECTED' },
  {
    name: 'Host passed on',
    kind: 'haproxy',
    listen: '127.0.0.3',
    lines: ['timeout tunnel 1h'],
    code: 'HOST_REJECTED',
  },
  {
    name: 'an Origin added',
    kind: 'nginx',
    lines: [...good.nginx, 'proxy_set_header Origin https://portal.example;'],
    code: 'ORIGIN_REJECTED',
  },
  {
    name: 'an Origin added',
    kind: 'caddy',
    lines: [...good.caddy, 'header_up Origin https://portal.example'],
    code: 'ORIGIN_REJECTED',
  },
  {
    name: 'an Origin added',
    kind: 'haproxy',
    lines: [...good.haproxy, 'http-request set-header Origin https://portal.example'],
    code: 'ORIGIN_REJECTED',
  },
  {
    name: 'an idle limit',
    kind: 'nginx',
    lines: [...good.nginx, 'proxy_read_timeout 2s;'],
    code: 'WS_IDLE_CUT',
    args: ['--hold', '5'],
  },
  {
    name: 'an idle limit',
    kind: 'haproxy',
    lines: [...good.haproxy.slice(0, 1), 'timeout tunnel 2s'],
    code: 'WS_IDLE_CUT',
    args: ['--hold', '5'],
  },
];

describe.skipIf(!usable)('0.19.0 behind a proxy', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine({ version: '0.19.0' });
  });
  afterAll(() => engine.stop());

  async function doctor(site: Omit<Site, 'upstream'>, args: string[] = [], path = ''): Promise<Report> {
    const proxy = await startProxy({ ...site, upstream: engine.port });
    try {
      const result = await runCli(
        ['doctor', `${proxy.url}${path}`, '--client', 'minimal', '--json', ...args],
        {
          env: { HERMES_COMPAT_TOKEN: engine.token ?? '' },
          timeoutMs: 90_000,
        },
      );
      return document<Report>(result);
    } finally {
      await proxy.stop();
    }
  }
  const errors = (report: Report): string[] =>
    report.findings.filter((each) => each.severity === 'error').map((each) => each.code);

  /** Lines of the remedy for this kind of proxy, the engine's real port in place of the usual one. */
  const linesFor = (report: Report, code: string, kind: ProxyKind): string[] => {
    const found = report.findings.find((each) => each.code === code);
    const id = found?.fix.find((each) => each.startsWith(`${kind}-`));
    const lines = report.remedies.find((each) => each.id === id)?.lines ?? [];
    return lines.map((line) => line.replace(/127\.0\.0\.1:9119\b/, `127.0.0.1:${engine.port}`));
  };

  const chosen = mistakes.filter(
    (each) => kinds.includes(each.kind) && (isFull || each.kind === 'nginx' || each.code === 'HOST_REJECTED'),
  );
  test.each(chosen.map((each) => [each.kind, each.name, each] as const))(
    '%s: %s',
    async (kind, _name, mistake) => {
      const { listen, lines, code, args } = mistake;
      const site = { kind, ...(listen === undefined ? {} : { listen }) };
      const before = await doctor({ ...site, lines }, args);
      expect(errors(before)).toContain(code);
      const advice = linesFor(before, code, kind);
      expect(advice.length, JSON.stringify(before.findings)).toBeGreaterThan(1);
      const origin = code === 'ORIGIN_REJECTED' && kind !== 'nginx';
      // A line that adds a header and one that takes it away stand for the same header.
      const cleaned = origin ? lines.filter((line) => !/Origin/.test(line)) : lines;
      const after = await doctor({ ...site, lines: follow(cleaned, advice) }, args);
      expect([errors(after), after.verdict]).toEqual([[], 'compatible']);
    },
  );

  test.skipIf(!kinds.includes('nginx'))('nginx: a prefix that is not stripped', async () => {
    const block = [
      'location /hermes/ {',
      `    proxy_pass http://127.0.0.1:${engine.port};`,
      ...good.nginx.map((line) => `    ${line}`),
      '}',
    ];
    const before = await doctor({ kind: 'nginx', lines: [], block }, [], '/hermes');
    expect(errors(before)).toEqual(['PREFIX_NOT_STRIPPED']);
    const after = await doctor(
      { kind: 'nginx', lines: [], block: linesFor(before, 'PREFIX_NOT_STRIPPED', 'nginx') },
      [],
      '/hermes',
    );
    expect([errors(after), after.verdict]).toEqual([[], 'compatible']);
    expect(after.findings.map((each) => each.code)).not.toContain('BASE_PATH_MISMATCH');
  });
  test.skipIf(!isFull || !kinds.includes('caddy'))('caddy: a prefix that is not stripped', async () => {
    const block = ['handle /hermes/* {', `    reverse_proxy 127.0.0.1:${engine.port}`, '}'];
    const before = await doctor({ kind: 'caddy', lines: [], block }, [], '/hermes');
    expect(errors(before)).toEqual(['PREFIX_NOT_STRIPPED']);
    const after = await doctor(
      { kind: 'caddy', lines: [], block: linesFor(before, 'PREFIX_NOT_STRIPPED', 'caddy') },
      [],
      '/hermes',
    );
    expect([errors(after), after.verdict]).toEqual([[], 'compatible']);
  });
  test.skipIf(!isFull || !kinds.includes('haproxy'))('haproxy: a prefix that is not stripped', async () => {
    const before = await doctor({ kind: 'haproxy', lines: good.haproxy }, [], '/hermes');
    expect(errors(before)).toContain('PREFIX_NOT_STRIPPED');
    const after = await doctor(
      { kind: 'haproxy', lines: follow(good.haproxy, linesFor(before, 'PREFIX_NOT_STRIPPED', 'haproxy')) },
      [],
      '/hermes',
    );
    expect([errors(after), after.verdict]).toEqual([[], 'compatible']);
  });
  test.skipIf(!kinds.includes('nginx'))(
    'a prefix that the page does not know is a warning, and its lines end it',
    async () => {
      const block = [
        'location /hermes/ {',
        `    proxy_pass http://127.0.0.1:${engine.port}/;`,
        ...good.nginx.map((line) => `    ${line}`),
        '}',
      ];
      const before = await doctor({ kind: 'nginx', lines: [], block }, [], '/hermes');
      expect(before.verdict).toBe('compatible');
      expect(before.findings.map((each) => each.code)).toContain('BASE_PATH_MISMATCH');
      const after = await doctor(
        { kind: 'nginx', lines: [], block: linesFor(before, 'BASE_PATH_MISMATCH', 'nginx') },
        [],
        '/hermes',
      );
      expect(after.findings.map((each) => each.code)).not.toContain('BASE_PATH_MISMATCH');
    },
  );
  test.each(kinds)('%s: set up rightly', async (kind) => {
    const report = await doctor({ kind, lines: good[kind] });
    expect([errors(report), report.verdict]).toEqual([[], 'compatible']);
  });
  test.each([
    ['nginx', ['auth_basic "Hermes";', 'auth_basic_user_file /dev/null;'], 'PROXY_BASIC_AUTH'],
    ['nginx', ['return 301 https://$host$request_uri;'], 'REDIRECT_HTTPS'],
    ['nginx', ['return 302 https://sso.example/login;'], 'EDGE_LOGIN'],
    ['nginx', ['return 403;'], 'EDGE_REFUSES_HTTP'],
    ['nginx', ['return 404;'], 'WRONG_PATH'],
    ['haproxy', ['http-request deny deny_status 429'], 'EDGE_REFUSES_HTTP'],
  ] as const)('%s: %j', async (kind, lines, code) => {
    if (!kinds.includes(kind)) return;
    const report = await doctor({ kind, lines: [...lines] });
    expect([errors(report), report.verdict]).toEqual([[code], 'unknown']);
  });
  test.each(kinds)('%s: the engine is down', async (kind) => {
    const proxy = await startProxy({ kind, lines: good[kind], upstream: 1 });
    try {
      const report = document<Report>(
        await runCli(['doctor', proxy.url, '--client', 'minimal', '--json'], { env: {} }),
      );
      expect([errors(report), report.verdict]).toEqual([['UPSTREAM_DOWN'], 'unknown']);
    } finally {
      await proxy.stop();
    }
  });
  test.skipIf(!kinds.includes('caddy'))('caddy: no site for this name', async () => {
    const report = await doctor({
      kind: 'caddy',
      lines: [],
      block: ['@never path /never', 'respond @never 200'],
    });
    expect(errors(report)).toEqual(['NO_SITE']);
  });
});
