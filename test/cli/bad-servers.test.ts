import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startSimulator } from '../../src/simulate/index.ts';
import { document, runCli } from '../support/cli.ts';

// Every way in which a server can answer badly, as the built program sees it: one clear finding, the right exit code, in time,
// in little memory, never a stack trace, never the token.

interface Report {
  verdict: string;
  exitCode: number;
  durationMs: number;
  findings: { code: string; severity: string }[];
}

const canary = 'canary-b4dS3rv3rT0ken';
const preload = fileURLToPath(new URL('../support/max-rss.cjs', import.meta.url));

async function doctor(
  fault: string,
  timeout: string,
): Promise<{ report: Report; wall: number; maxRssMiB: number; text: string }> {
  const simulator = await startSimulator({ release: '0.19.0', faults: [fault], token: canary });
  const folder = await mkdtemp(join(tmpdir(), 'bad-server-'));
  try {
    const file = join(folder, 'rss');
    const began = performance.now();
    const result = await runCli(
      ['doctor', simulator.url, '--client', 'minimal', '--json', '--timeout', timeout],
      {
        env: { HERMES_COMPAT_TOKEN: canary, NODE_OPTIONS: `--require=${preload}`, MAX_RSS_FILE: file },
      },
    );
    const wall = performance.now() - began;
    const report = document<Report>(result);
    expect(result.code).toBe(report.exitCode);
    expect(result.stderr).toBe('');
    const maxRssMiB = Number(await readFile(file, 'utf8')) / 1024;
    return { report, wall, maxRssMiB, text: result.stdout };
  } finally {
    await simulator.close();
    await rm(folder, { recursive: true, maxRetries: 5 });
  }
}

const unknown = { verdict: 'unknown', exitCode: 3 };
const incompatible = { verdict: 'incompatible', exitCode: 1 };
const compatible = { verdict: 'compatible', exitCode: 0 };

const table: [fault: string, codes: string[], outcome: { verdict: string; exitCode: number }][] = [
  ['edge-401', ['EDGE_REFUSES_HTTP'], unknown],
  ['edge-403', ['EDGE_REFUSES_HTTP'], unknown],
  ['edge-429', ['EDGE_REFUSES_HTTP'], unknown],
  ['basic-auth', ['PROXY_BASIC_AUTH'], unknown],
  ['bad-gateway', ['UPSTREAM_DOWN'], unknown],
  ['unavailable', ['UPSTREAM_DOWN'], unknown],
  ['no-site', ['NO_SITE'], unknown],
  ['wrong-path', ['WRONG_PATH'], unknown],
  ['plain-to-tls', ['HTTP_TO_TLS'], unknown],
  ['client-certificate', ['MTLS_REQUIRED'], unknown],
  ['redirect-https', ['REDIRECT_HTTPS'], unknown],
  ['redirect', ['EDGE_LOGIN'], unknown],
  ['redirect-inside', ['EDGE_LOGIN', 'WRONG_PATH'], unknown],
  ['redirect-loop', ['WRONG_PATH'], unknown],
  ['login-page', ['EDGE_LOGIN'], unknown],
  ['html-everywhere', ['WRONG_SERVICE'], unknown],
  ['other-service', ['WRONG_SERVICE'], unknown],
  ['api-server', ['API_SERVER_NOT_DASHBOARD'], unknown],
  ['http2-only', ['HTTP2_ONLY_PORT'], unknown],
  ['not-http', ['WRONG_SERVICE'], unknown],
  ['prefix-not-stripped', ['PREFIX_NOT_STRIPPED'], unknown],
  ['foreign-host', ['HOST_REJECTED'], incompatible],
  ['drop-upgrade', ['UPGRADE_DROPPED', 'WS_LIB_MISSING'], incompatible],
  ['edge-403-ws', ['EDGE_REFUSES_WS'], incompatible],
  ['ws-path-wrong', ['WS_PATH_MAPPED_WRONG'], incompatible],
  ['bad-accept', ['WS_HANDSHAKE_INVALID'], incompatible],
  ['bad-protocol', ['WS_HANDSHAKE_INVALID'], incompatible],
  ['reset', ['CONNECTION_RESET'], unknown],
  ['silent', ['RESPONSE_TIMEOUT'], unknown],
  ['silent-upgrade', ['RESPONSE_TIMEOUT'], unknown],
  ['stalled-body', ['RESPONSE_INVALID'], unknown],
  ['silent-after-101', ['WS_SILENT'], unknown],
  ['rpc-silent', ['RPC_FAILED'], unknown],
  ['close-early', ['WS_CLOSED_EARLY'], unknown],
  ['cut-early', ['WS_CLOSED_EARLY'], unknown],
  ['engine-error', ['ENGINE_ERROR'], unknown],
  ['not-json', ['RESPONSE_INVALID'], unknown],
  ['json-list', ['WRONG_SERVICE'], unknown],
  ['deep-json', ['WRONG_SERVICE'], unknown],
  ['invalid-utf8', ['RESPONSE_INVALID'], unknown],
  ['gzip-bomb', ['RESPONSE_INVALID'], unknown],
  ['huge-body', ['RESPONSE_INVALID'], unknown],
  ['endless-body', ['RESPONSE_INVALID'], unknown],
  ['close-mid-answer', ['RESPONSE_INVALID'], unknown],
  ['huge-frame', ['RESPONSE_INVALID'], unknown],
  ['no-ready', [], compatible],
  ['version-junk', [], compatible],
  ['version-long', ['RESPONSE_INVALID'], unknown],
  ['version-missing', ['RESPONSE_INVALID'], unknown],
  ['wrong-types', ['RESPONSE_INVALID'], unknown],
  ['version-escapes', [], compatible],
  ['proto-keys', [], compatible],
  ['contract-enormous', [], compatible],
];

/** These answer nothing, so they last as long as they are given. */
const slow = new Set(['silent', 'silent-upgrade', 'stalled-body', 'silent-after-101', 'rpc-silent']);

describe('doctor against servers that answer badly', () => {
  it.concurrent.each(table)('%s', { timeout: 120_000 }, async (fault, codes, outcome) => {
    const { report, wall, maxRssMiB, text } = await doctor(fault, slow.has(fault) ? '3' : '30');
    const errors = report.findings.filter(({ severity }) => severity === 'error').map(({ code }) => code);
    expect([...new Set(errors)].sort()).toEqual(codes);
    expect(report).toMatchObject(outcome);
    expect(text).not.toContain(canary);
    // Control characters of the server never reach the reader raw.
    // oxlint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(maxRssMiB).toBeLessThan(200);
    // It ends when it has answered: no connection holds the program.
    expect(wall - report.durationMs).toBeLessThan(4000);
    if (slow.has(fault)) expect(report.durationMs).toBeLessThan(6000);
  });
});
