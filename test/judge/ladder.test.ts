import { describe, expect, test } from 'vitest';
import { readClients } from '../../src/judge/client.ts';
import type { Judgement } from '../../src/judge/judge.ts';
import { judge } from '../../src/judge/judge.ts';
import type { Facts } from '../../src/probe/schema.ts';
import {
  e403,
  engineProcess,
  error,
  healthy,
  html,
  http,
  page,
  release,
  withHttp,
  withWs,
  withoutHttp,
} from './facts.ts';

/** Acceptance table 1 of the main job, with hand-made facts of each row. */

const clients = await readClients();
const judged = (facts: Facts, client: string): Judgement => judge(facts, { client, clients });
const errors = (report: Judgement): string[] =>
  report.findings.filter((each) => each.severity === 'error').map((each) => each.code);
const warnings = (report: Judgement): string[] =>
  report.findings.filter((each) => each.severity === 'warn').map((each) => each.code);

const noContract = { contract: { value: null, state: 'none' as const, raw: null } };
const G0 = { generation: 'G0' as const, chatAssignment: 'from-parameter' as const, ...noContract };

const plain014 = (): Facts => {
  const facts = release(healthy(), '0.14.0', G0);
  return withWs(
    withHttp(
      { ...facts, contract: { value: null, from: 'source', state: 'none', raw: null, why: null } },
      http('page', 200, page(false)),
      http('model-library', 200, page(false)),
    ),
    e403(),
  );
};

const tui014 = (): Facts => ({
  ...withHttp(plain014(), http('page', 200, page(true))),
  ws: healthy().ws,
  rpc: healthy().rpc,
  processes: [engineProcess({ env: { tui: '1', webDist: null, sessionToken: null, readable: true } })],
});

const withContract = (version: string, contract: number, generation: 'G1' | 'G2'): Facts => ({
  ...release(healthy(), version, {
    generation,
    contract: { value: contract, state: 'known', raw: String(contract) },
  }),
  contract: { value: contract, from: 'source', state: 'known', raw: String(contract), why: null },
});

const noWebBuild = (facts: Facts): Facts =>
  withWs(
    withHttp(
      withoutHttp(
        {
          ...facts,
          credential: { kind: 'none', source: null, fingerprint: null, unreadable: 'web-build', login: null },
        },
        'sessions',
        'session-messages',
        'model-options',
        'model-library',
      ),
      http('page', 404, error('Frontend not built. Run: cd web && npm run build')),
    ),
    e403('main', { credential: 'none' }),
  );

describe('0.14.0 plain', () => {
  test('minimal', () => {
    const report = judged(plain014(), 'minimal');
    expect(report.verdict).toBe('needs-remedy');
    expect(report.findings.map((each) => [each.code, each.confidence])).toEqual([
      ['CHAT_DISABLED', 'certain'],
    ]);
    expect(report.exitCode).toBe(1);
  });
  test('hermes-one', () => {
    const report = judged(plain014(), 'hermes-one');
    expect(report.verdict).toBe('needs-remedy');
    expect(errors(report)).toEqual(['CHAT_DISABLED', 'MODEL_LIBRARY_MISSING']);
  });
  test('hermes-desktop', () => {
    const report = judged(plain014(), 'hermes-desktop');
    expect(report.verdict).toBe('needs-remedy');
    expect(warnings(report)).toEqual(['CONTRACT_NONE']);
  });
});

describe('0.14.0 with HERMES_DASHBOARD_TUI=1', () => {
  test('minimal', () => {
    const report = judged(tui014(), 'minimal');
    expect([report.verdict, report.findings, report.exitCode]).toEqual(['compatible', [], 0]);
  });
  test('hermes-one', () => {
    const report = judged(tui014(), 'hermes-one');
    expect([report.verdict, errors(report)]).toEqual(['needs-remedy', ['MODEL_LIBRARY_MISSING']]);
  });
  test('hermes-desktop', () => {
    const report = judged(tui014(), 'hermes-desktop');
    expect([report.verdict, errors(report), warnings(report)]).toEqual(['compatible', [], ['CONTRACT_NONE']]);
    expect(judge(tui014(), { client: 'hermes-desktop', clients, failOn: 'warn' }).exitCode).toBe(1);
  });
});

describe.each([
  ['0.16.0', 1, 'G1'],
  ['0.17.0', 2, 'G1'],
  ['0.18.2', 2, 'G1'],
  ['0.19.0', 4, 'G1'],
  ['0.20.0.post2', 5, 'G1'],
  ['0.21.0.post1', 6, 'G1'],
  ['0.21.4.post1', 7, 'G2'],
] as const)('%s', (version, contract, generation) => {
  const facts = withContract(version, contract, generation);
  test('minimal', () => {
    const report = judged(facts, 'minimal');
    expect([report.verdict, report.findings, report.exitCode]).toEqual(['compatible', [], 0]);
    expect(report.engine).toEqual({
      version,
      generation,
      contract: { value: contract, from: 'source', state: 'known' },
      install: '/home/ann/venv',
    });
  });
  test('hermes-one', () => {
    const report = judged(facts, 'hermes-one');
    expect([report.verdict, report.findings.map((each) => each.code)]).toEqual([
      'needs-remedy',
      ['MODEL_LIBRARY_MISSING'],
    ]);
    expect(report.clients).toEqual({
      minimal: 'compatible',
      'hermes-one': 'needs-remedy',
      'hermes-desktop': 'compatible',
    });
  });
  test('hermes-desktop', () => {
    const report = judged(facts, 'hermes-desktop');
    expect([report.verdict, errors(report), warnings(report)]).toEqual([
      'compatible',
      [],
      ['CONTRACT_TOO_OLD'],
    ]);
  });
});

test('0.22.2 is what the desktop wants', () => {
  const facts = withContract('0.22.2.post1', 8, 'G2');
  expect(judged(facts, 'hermes-desktop').findings).toEqual([]);
  expect(judged(facts, 'hermes-desktop').verdict).toBe('compatible');
  expect(errors(judged(facts, 'hermes-one'))).toEqual(['MODEL_LIBRARY_MISSING']);
});

describe('0.16 or newer without web build, no token given', () => {
  const facts = noWebBuild(withContract('0.19.0', 4, 'G1'));
  test.each(['minimal', 'hermes-desktop'])('%s', (client) => {
    const report = judged(facts, client);
    expect([report.verdict, errors(report), report.exitCode]).toEqual(['unknown', ['TOKEN_UNREADABLE'], 3]);
  });
  test('hermes-one', () => {
    const report = judged(facts, 'hermes-one');
    expect([report.verdict, errors(report), report.exitCode]).toEqual([
      'needs-remedy',
      ['TOKEN_UNREADABLE', 'MODEL_LIBRARY_MISSING'],
      1,
    ]);
  });
});

describe('0.13.0 running plain, no token', () => {
  const facts = noWebBuild(release(healthy(), '0.13.0', { ...G0, webBuild: 'missing' }));
  test.each([
    ['minimal', ['TOKEN_UNREADABLE', 'CHAT_DISABLED']],
    ['hermes-one', ['TOKEN_UNREADABLE', 'CHAT_DISABLED', 'MODEL_LIBRARY_MISSING']],
    ['hermes-desktop', ['TOKEN_UNREADABLE', 'CHAT_DISABLED']],
  ])('%s', (client, codes) => {
    const report = judged(facts, client);
    expect([report.verdict, errors(report), report.exitCode]).toEqual(['needs-remedy', codes, 1]);
    expect(report.findings.find((each) => each.code === 'CHAT_DISABLED')?.confidence).toBe('likely');
  });
});

test('0.15.2 on disk cannot start a dashboard', () => {
  const broken = release(healthy(), '0.15.2', { ...G0, missingModules: ['hermes_cli.dashboard_auth'] });
  const report = judged(
    {
      ...broken,
      target: { ...broken.target, url: null },
      service: null,
      processes: [],
      status: null,
      http: [],
      ws: [],
    },
    'hermes-one',
  );
  expect([report.verdict, errors(report), warnings(report), report.exitCode]).toEqual([
    'incompatible',
    ['ENGINE_BROKEN_PACKAGE'],
    ['DASHBOARD_NOT_RUNNING'],
    1,
  ]);
  expect(report.findings.find((each) => each.code === 'ENGINE_BROKEN_PACKAGE')?.args['module']).toBe(
    'hermes_cli.dashboard_auth',
  );
  expect(report.remedies.find((each) => each.id === 'update-0.16.0')?.commands[0]?.at(-1)).toBe(
    'hermes-agent>=0.16.0',
  );
});

test('HTML where the library should be is not a library', () => {
  const report = judged(withHttp(healthy(), http('model-library', 200, html('Hermes'))), 'hermes-one');
  expect(errors(report)).toEqual(['MODEL_LIBRARY_MISSING']);
});
