import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bend, bendingProxy, htmlAnswer, isUpgrade } from '../support/bending-proxy.ts';
import { document, runCli } from '../support/cli.ts';
import { copyEngine } from '../support/engine-copy.ts';
import { type Engine, requireEngines, startEngine } from '../support/engines.ts';
import { isFull } from '../support/full.ts';

// Each cause of a refusal, made for real on real engines, gets its own finding.

interface Report {
  verdict: string;
  exitCode: number;
  findings: { code: string; severity: string; confidence: string; args: Record<string, unknown> }[];
}

/** The guards are the same in all three; the gate takes one. */
const versions = isFull ? ['0.16.0', '0.19.0', '0.22.2.post1'] : ['0.19.0'];

const usable = await requireEngines('0.14.0', '0.18.2', ...versions);

async function doctor(args: string[], token: string | null): Promise<Report> {
  const result = await runCli(['doctor', '--client', 'minimal', '--json', ...args], {
    env: token === null ? {} : { HERMES_COMPAT_TOKEN: token },
    timeoutMs: 90_000,
  });
  const report = document<Report>(result);
  expect(result.code).toBe(report.exitCode);
  return report;
}

const errors = (report: Report): string[] =>
  report.findings
    .filter((each) => each.severity === 'error')
    .map((each) => `${each.code} ${each.confidence}`);

/** `doctor` on an http target behind a proxy that bends requests. */
async function through(
  engine: Engine,
  bend: Bend,
  options: { listen?: string; from?: string } = {},
): Promise<Report> {
  const proxy = await bendingProxy(engine.port, bend, options);
  try {
    return await doctor([`http://${options.listen ?? '127.0.0.1'}:${proxy.port}`], engine.token);
  } finally {
    proxy.close();
  }
}

const asIs: Bend = (head) => head;
const withoutUpgrade: Bend = (head) =>
  head.replace(/^upgrade:.*\r\n/im, '').replace(/^connection:.*$/im, 'Connection: close');
const wsElsewhere: Bend = (head) => head.replace(/^GET \/api\/ws\b/, 'GET /api/wss');
const refuseWs: Bend = (head) => (isUpgrade(head) ? htmlAnswer('403 Forbidden') : head);
const addOrigin: Bend = (head) =>
  isUpgrade(head) ? head.replace('\r\n', '\r\nOrigin: https://portal.example\r\n') : head;
const publicHost: Bend = (head) => head.replace(/^host:.*$/im, 'Host: hermes.example');
const loopbackHostOffWs: Bend = (head) =>
  isUpgrade(head) ? head : head.replace(/^host:.*$/im, 'Host: 127.0.0.1');

describe.skipIf(!usable).each(versions)('%s', (version) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine({ version });
  });
  afterAll(() => engine.stop());

  test.each([
    ['nothing bent', asIs, {}, []],
    ['Upgrade dropped', withoutUpgrade, {}, ['UPGRADE_DROPPED likely', 'WS_LIB_MISSING possible']],
    ['/api/ws mapped elsewhere', wsElsewhere, {}, ['WS_PATH_MAPPED_WRONG certain']],
    ['WebSocket refused in front', refuseWs, {}, ['EDGE_REFUSES_WS certain']],
    ['a foreign Host', publicHost, {}, ['HOST_REJECTED certain']],
    [
      'a peer that is not loopback',
      asIs,
      { from: '127.0.0.2' },
      ['PEER_NOT_LOOPBACK possible', 'ORIGIN_REJECTED possible'],
    ],
    [
      'an Origin that the proxy adds',
      addOrigin,
      {},
      ['PEER_NOT_LOOPBACK possible', 'ORIGIN_REJECTED possible'],
    ],
  ] as const)('%s', async (_name, bend, options, expected) => {
    expect(errors(await through(engine, bend, options))).toEqual(expected);
  });
  test('the address of another interface', async () => {
    expect(errors(await through(engine, asIs, { listen: '127.0.0.3' }))).toEqual(['HOST_REJECTED certain']);
  });
  test('a foreign Host on the WebSocket alone', async () => {
    const report = await through(engine, loopbackHostOffWs, { listen: '127.0.0.3' });
    expect(errors(report)).toEqual(['HOST_REJECTED certain']);
    expect(report.findings[0]?.args['onlyWebSocket']).toBe(true);
  });
  test('gone in the middle of the check', async () => {
    const proxy = await bendingProxy(engine.port, (head) => {
      // The first question is answered, then nobody listens any more.
      proxy.stopListening();
      return head;
    });
    const report = await doctor([`http://127.0.0.1:${proxy.port}`], engine.token);
    proxy.close();
    expect(errors(report)).toContain('BACKEND_FLAPPING certain');
    expect(report.verdict).toBe('unknown');
  });
  test('a wrong token, and an Origin of a web page', async () => {
    const wrong = await doctor(['--url', engine.url], 'not-the-token-of-this-one');
    expect([errors(wrong), wrong.verdict, wrong.exitCode]).toEqual([
      ['TOKEN_REJECTED certain'],
      'unknown',
      3,
    ]);
    const origin = await doctor(['--url', engine.url, '--origin', 'https://evil.test'], engine.token);
    expect([errors(origin), origin.verdict]).toEqual([['ORIGIN_REJECTED certain'], 'incompatible']);
  });
  test('a path that is not there', async () => {
    const report = await doctor([`${engine.url}/hermes`], engine.token);
    expect(errors(report)[0]).toMatch(/^WRONG_PATH /);
    expect(report.findings[0]?.args['use']).toBe(engine.url);
  });
});

describe.skipIf(!usable)('a process that is gone', () => {
  test('the token of an earlier start is stale, and a stopped engine is a closed port', async () => {
    const first = await startEngine({ version: '0.14.0', env: { HERMES_DASHBOARD_TUI: '1' } });
    const { token, port } = first;
    await first.stop();
    const closed = await doctor(['--url', first.url], token);
    expect([errors(closed), closed.exitCode]).toEqual([['CONNECTION_REFUSED certain'], 3]);
    const second = await startEngine({ version: '0.14.0', env: { HERMES_DASHBOARD_TUI: '1' }, port });
    try {
      expect(errors(await doctor(['--url', second.url], token))).toEqual(['TOKEN_REJECTED certain']);
      // The engine of 0.14 has neither guard on its WebSocket.
      expect(
        errors(await doctor(['--url', second.url, '--origin', 'https://evil.test'], second.token)),
      ).toEqual([]);
    } finally {
      await second.stop();
    }
  });
  test('headless serve shows no token', async () => {
    const engine = await startEngine({
      version: '0.18.2',
      mode: 'serve',
      token: 'given-by-the-test-0123456789',
    });
    try {
      const report = await doctor(['--url', engine.url], null);
      expect([errors(report), report.exitCode]).toEqual([['TOKEN_UNREADABLE certain'], 3]);
      expect(report.findings[0]?.args['why']).toBe('headless');
      expect(report.findings.map((each) => each.code)).toContain('HEADLESS');
      expect(errors(await doctor(['--url', engine.url], 'given-by-the-test-0123456789'))).toEqual([]);
    } finally {
      await engine.stop();
    }
  });
});

describe.skipIf(!usable)('no WebSocket library in the environment', () => {
  let venv: string;
  beforeAll(async () => {
    venv = await mkdtemp(join(tmpdir(), 'hermes-compat-no-ws-'));
    const site = await copyEngine('0.19.0', venv);
    for (const name of ['websockets', 'wsproto'])
      await rm(join(site, name), { recursive: true, force: true, maxRetries: 5 });
  });
  afterAll(() => rm(venv, { recursive: true, force: true, maxRetries: 5 }));
  test('is told as such, because nothing is in between', async () => {
    const engine = await startEngine({ version: '0.19.0', venv });
    try {
      const report = await doctor(['--url', engine.url], engine.token);
      expect([errors(report), report.verdict]).toEqual([['WS_LIB_MISSING certain'], 'incompatible']);
    } finally {
      await engine.stop();
    }
  });
});
