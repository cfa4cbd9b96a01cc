import { describe, expect, test } from 'vitest';

import { readClients } from '../../src/judge/client.ts';
import { type Judgement, judge } from '../../src/judge/judge.ts';
import { examine, type ExamineInput } from '../../src/lifecycle/examine.ts';
import { faults, startSimulator } from '../../src/simulate/index.ts';
import { login, needs, token } from '../probe/servers.ts';

/** Every fault of the stand-in, and what hermes-compat says about it: the table of refusal causes, end to end over real sockets. */

interface Row {
  fault: string;
  verdict: 'compatible' | 'needs-remedy' | 'incompatible' | 'unknown';
  /** All findings but CONTRACT_TOO_OLD, which the release brings. */
  codes: string[];
  /** What was seen before it broke decides which others come. */
  amongOthers?: true;
  contract?: number | null;
  gated?: true;
  /** No token given: the page's is used. */
  fromPage?: true;
}

const unknown = (fault: string, ...codes: string[]): Row => ({ fault, verdict: 'unknown', codes });
const broken = (fault: string, ...codes: string[]): Row => ({ fault, verdict: 'incompatible', codes });
const works = (fault: string, ...codes: string[]): Row => ({ fault, verdict: 'compatible', codes });
const noContract = (fault: string): Row => ({ ...works(fault, 'CONTRACT_UNKNOWN'), contract: null });

const table: readonly Row[] = [
  unknown('edge-401', 'EDGE_REFUSES_HTTP'),
  unknown('edge-403', 'EDGE_REFUSES_HTTP'),
  unknown('edge-429', 'EDGE_REFUSES_HTTP'),
  unknown('basic-auth', 'PROXY_BASIC_AUTH'),
  unknown('bad-gateway', 'UPSTREAM_DOWN'),
  unknown('unavailable', 'UPSTREAM_DOWN'),
  unknown('no-site', 'NO_SITE'),
  unknown('wrong-path', 'WRONG_PATH'),
  unknown('plain-to-tls', 'HTTP_TO_TLS'),
  unknown('client-certificate', 'MTLS_REQUIRED'),
  unknown('redirect-https', 'REDIRECT_HTTPS'),
  unknown('redirect', 'EDGE_LOGIN'),
  unknown('redirect-inside', 'EDGE_LOGIN', 'WRONG_PATH'),
  unknown('redirect-loop', 'WRONG_PATH'),
  unknown('login-page', 'EDGE_LOGIN'),
  unknown('html-everywhere', 'WRONG_SERVICE'),
  unknown('other-service', 'WRONG_SERVICE'),
  unknown('api-server', 'API_SERVER_NOT_DASHBOARD'),
  unknown('http2-only', 'HTTP2_ONLY_PORT'),
  unknown('not-http', 'WRONG_SERVICE'),
  broken('drop-upgrade', 'UPGRADE_DROPPED', 'WS_LIB_MISSING'),
  broken('no-ws-library', 'UPGRADE_DROPPED', 'WS_LIB_MISSING'),
  broken('edge-403-ws', 'EDGE_REFUSES_WS'),
  broken('upgrade-426', 'UPGRADE_DROPPED', 'EDGE_REFUSES_WS'),
  broken('upgrade-page', 'EDGE_REFUSES_WS', 'UPGRADE_DROPPED'),
  unknown('prefix-not-stripped', 'PREFIX_NOT_STRIPPED'),
  broken('foreign-host', 'HOST_REJECTED'),
  // On loopback another Host proves nothing, so these three look the same.
  broken('foreign-host-ws', 'PEER_NOT_LOOPBACK', 'ORIGIN_REJECTED'),
  broken('foreign-origin', 'PEER_NOT_LOOPBACK', 'ORIGIN_REJECTED'),
  broken('foreign-peer', 'PEER_NOT_LOOPBACK', 'ORIGIN_REJECTED'),
  broken('ws-path-wrong', 'WS_PATH_MAPPED_WRONG'),
  unknown('silent', 'RESPONSE_TIMEOUT'),
  unknown('reset', 'CONNECTION_RESET'),
  unknown('silent-upgrade', 'RESPONSE_TIMEOUT'),
  works('slow-start', 'SLOW_START'),
  { ...unknown('flapping', 'BACKEND_FLAPPING'), amongOthers: true },
  unknown('engine-error', 'ENGINE_ERROR'),
  unknown('idle-cut', 'WS_IDLE_CUT'),
  unknown('not-json', 'RESPONSE_INVALID'),
  unknown('json-list', 'WRONG_SERVICE'),
  unknown('deep-json', 'WRONG_SERVICE'),
  unknown('invalid-utf8', 'RESPONSE_INVALID'),
  unknown('gzip-bomb', 'RESPONSE_INVALID'),
  unknown('huge-body', 'RESPONSE_INVALID'),
  unknown('endless-body', 'RESPONSE_INVALID'),
  unknown('close-mid-answer', 'RESPONSE_INVALID'),
  unknown('stalled-body', 'RESPONSE_INVALID'),
  broken('bad-accept', 'WS_HANDSHAKE_INVALID'),
  broken('bad-protocol', 'WS_HANDSHAKE_INVALID'),
  unknown('silent-after-101', 'WS_SILENT'),
  unknown('close-early', 'WS_CLOSED_EARLY'),
  unknown('cut-early', 'WS_CLOSED_EARLY'),
  unknown('huge-frame', 'RESPONSE_INVALID'),
  works('no-ready'),
  works('ready-not-json'),
  unknown('binary-frames', 'RPC_FAILED'),
  unknown('rpc-silent', 'RPC_FAILED'),
  noContract('rpc-error'),
  unknown('foreign-frames', 'RPC_FAILED'),
  works('version-junk', 'RESPONSE_INVALID'),
  unknown('version-missing', 'RESPONSE_INVALID'),
  unknown('version-long', 'RESPONSE_INVALID'),
  works('version-escapes', 'RESPONSE_INVALID'),
  unknown('wrong-types', 'RESPONSE_INVALID'),
  works('proto-keys'),
  noContract('contract-text'),
  noContract('contract-null'),
  noContract('contract-true'),
  noContract('contract-list'),
  noContract('contract-fraction'),
  noContract('contract-infinite'),
  noContract('contract-negative'),
  noContract('contract-enormous'),
  { ...works('contract-newer', 'CONTRACT_TOO_NEW'), contract: 99 },
  noContract('contract-missing'),
  { ...unknown('stale-token', 'TOKEN_REJECTED'), fromPage: true },
  { ...unknown('no-token-in-page', 'TOKEN_UNREADABLE'), fromPage: true },
  works('broken-script', 'WEB_ASSETS_BROKEN'),
  works('wrong-base-path', 'BASE_PATH_MISMATCH'),
  works('open-reads', 'TOKEN_NOT_PROVED'),
  // A browser keeps a Secure cookie of a loopback address.
  { ...works('secure-cookie'), gated: true },
  { ...unknown('cookie-elsewhere', 'COOKIE_NOT_STORED'), gated: true },
  { ...unknown('login-limited', 'LOGIN_RATE_LIMITED'), gated: true },
  { ...unknown('login-in-browser', 'LOGIN_NEEDS_BROWSER'), gated: true },
  { ...unknown('session-rejected', 'SESSION_REJECTED'), gated: true },
  { ...unknown('spent-ticket', 'TICKET_USED_OR_EXPIRED'), gated: true },
  { ...unknown('dead-tickets', 'WS_REFUSED'), gated: true },
];

const clients = await readClients();
const secret = 'CANARY-fault-0123456789';

const input = (url: string, { fault, gated, fromPage }: Row): ExamineInput => ({
  target: { kind: 'http', name: url, url },
  refinements: { url: null, port: null, home: null, profile: null, origin: null, mode: 'auto' },
  credential: gated === true ? login(secret) : fromPage === true ? null : token(secret),
  openHost: () => Promise.reject(new Error('an http target has no host')),
  env: {},
  client: 'hermes-desktop',
  needs: { ...needs, sessionProbe: 'always' },
  patience: 'normal',
  timeoutMs: fault === 'slow-start' ? 20_000 : 6000,
  connection: { holdSeconds: fault === 'idle-cut' ? 5 : 0 },
  signal: new AbortController().signal,
  started: null,
});

const judged = async (row: Row): Promise<Judgement> => {
  const gated = row.gated === true ? { username: 'someone', password: secret } : false;
  const standIn = await startSimulator({ release: '0.19.0', token: secret, faults: [row.fault], gated });
  try {
    const { facts } = await examine(input(standIn.url, row));
    return judge(facts, { client: 'hermes-desktop', clients, only: [], skip: [] });
  } finally {
    await standIn.close();
  }
};

test('every fault has its row', () => {
  expect(table.map(({ fault }) => fault)).toEqual(faults.map(({ name }) => name));
});

describe.concurrent('what is said about each fault', () => {
  test.each(table)('$fault: $verdict', { timeout: 40_000 }, async (row) => {
    const report = await judged(row);
    const codes = report.findings.map(({ code }) => code).filter((code) => code !== 'CONTRACT_TOO_OLD');
    const said = JSON.stringify(report.findings, null, 1);
    expect(report.verdict, said).toBe(row.verdict);
    if (row.amongOthers === true) expect(codes).toEqual(expect.arrayContaining(row.codes));
    else expect(codes.toSorted()).toEqual(row.codes.toSorted());
    if (row.contract !== undefined) expect(report.engine.contract.value).toBe(row.contract);
    const text = JSON.stringify(report);
    expect(text).not.toContain(secret);
    // Control characters, as JSON writes them, and one that turns the direction of writing.
    expect(text).not.toMatch(/\\u00[01]|\u007f|\u202e/);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});
