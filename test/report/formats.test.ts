import { describe, expect, test } from 'vitest';
import { readClients } from '../../src/judge/client.ts';
import { judge } from '../../src/judge/judge.ts';
import type { Report, Reports } from '../../src/judge/schema.ts';
import { reportSchema } from '../../src/judge/schema.ts';
import type { Facts } from '../../src/probe/schema.ts';
import { explain, explanation, similarCodes } from '../../src/report/explain.ts';
import { github, githubSummary } from '../../src/report/github.ts';
import { html } from '../../src/report/html.ts';
import { json, ndjson } from '../../src/report/json.ts';
import { junit } from '../../src/report/junit.ts';
import { shellLine } from '../../src/report/shell-line.ts';
import { shown, wrap } from '../../src/report/shown.ts';
import { checkedJunit } from '../support/junit-grammar.ts';
import { e403, error, failed, healthy, http, remote, withHttp, withWs, withoutHttp } from '../judge/facts.ts';

const clients = await readClients();
const report = (facts: Facts, client = 'hermes-one'): Report => ({
  ...judge(facts, { client, clients }),
  durationMs: 1500,
});

const evil = '::error::x\n::set-output name=a::b\r%0A,<script>alert("1")</script>&\u001b[31m\u0000\u202e|`*';
const hostile = report(
  withHttp(
    { ...remote(healthy()), target: { kind: 'http', name: evil, url: 'http://box.example' } },
    http('model-library', 404, error(evil)),
  ),
);
const closed = report(
  { ...remote(healthy()), status: null, http: [failed('status', 'ECONNREFUSED', 'tcp')], ws: [] },
  'minimal',
);
const many: Reports = {
  schemaVersion: '1.0',
  kind: 'reports',
  tool: { name: 'hermes-compat', version: '0.1.0' },
  reports: [report(healthy(), 'minimal'), hostile, closed],
  summary: {
    total: 3,
    compatible: 1,
    'needs-remedy': 1,
    incompatible: 0,
    unknown: 1,
    exitCode: 1,
    durationMs: 3,
  },
};

describe('json and ndjson', () => {
  test('the document as it is, control characters escaped', () => {
    expect(JSON.parse(json(hostile))).toEqual(hostile);
    expect(reportSchema.parse(JSON.parse(json(closed)))).toEqual(closed);
    expect(json(hostile)).not.toMatch(/[\u001b\u0000\u202e]/);
  });
  test('one line each, the summary last', () => {
    const lines = ndjson(many)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { kind: string });
    expect(lines.map((each) => each.kind)).toEqual(['report', 'report', 'report', 'summary']);
    expect(ndjson(closed).trimEnd().split('\n')).toHaveLength(1);
  });
});

describe('junit', () => {
  test('keeps to its grammar and counts rightly, whatever is in it', () => {
    expect(checkedJunit(junit(many)).children).toHaveLength(3);
    expect(checkedJunit(junit(hostile)).children).toHaveLength(1);
    const cut: Reports = { ...many, reports: [], notRun: [evil, 'b'], shard: { index: 1, count: 2 } };
    expect(checkedJunit(junit(cut)).attributes).toMatchObject({ tests: '2', errors: '2', failures: '0' });
  });
  test('what could not be checked is an error, never a pass', () => {
    const text = junit(closed);
    expect(text).toMatch(/name="verdict"[^>]*>\s*<error message="minimal: unknown" type="verdict">/);
    expect(text).toContain('CONNECTION_REFUSED (certain)');
    const sessions = junit(report(withHttp(healthy(), http('sessions', 500, error('x')))));
    expect(sessions).toMatch(/name="sessions"[^>]*>\s*<(error|failure)/);
  });
});

describe('github', () => {
  test('foreign text starts no command and ends no property', () => {
    const lines = github(many).trimEnd().split('\n');
    for (const line of lines) {
      expect(line).toMatch(/^(::(error|warning|notice) title=[^:]*::|hermes-compat )/);
      expect(line.replace(/^::\w+ title=[^:]*::/, '')).not.toMatch(/^::|##\[/);
    }
    expect(lines.filter((line) => line.startsWith('::error'))).toHaveLength(2);
  });
  test('the job summary is a table that text cannot leave', () => {
    const lines = githubSummary(many).trimEnd().split('\n');
    const rows = lines.filter((line) => line.startsWith('|'));
    expect(rows).toHaveLength(5);
    for (const row of rows) expect(row.split('|')).toHaveLength(7);
    expect(githubSummary(many)).not.toContain('<script');
  });
});

describe('html', () => {
  const text = html(many);
  test('has no script, loads nothing, and shows markup as text', () => {
    expect(text).not.toMatch(/<script/i);
    expect(text).not.toMatch(/\s(src|href|action)=/i);
    expect(text).not.toMatch(/url\(|@import/);
    expect(text).toContain("default-src 'none'");
    expect(text).toContain('&lt;script&gt;');
  });
  test('each target and verdict is there, a filter for each verdict that occurs', () => {
    expect(text.match(/<article /g)).toHaveLength(3);
    expect(text.match(/type="radio"/g)).toHaveLength(4);
    expect(text).toContain('data-verdict="unknown"');
    expect(html(closed)).not.toContain('type="radio"');
    expect(html(closed)).toContain('<details open>');
  });
});

describe('explain', () => {
  test('a code in any spelling', () => {
    expect(explanation('chat-disabled')?.code).toBe('CHAT_DISABLED');
    expect(explanation('nonsense')).toBeNull();
    expect(similarCodes('TOKEN_WRONG')).toContain('TOKEN_REJECTED');
  });
  test('says what, why, how and what to do', () => {
    const found = explanation('CHAT_DISABLED');
    expect(found).toMatchObject({ severity: 'error', verdict: 'needs-remedy', retryable: false });
    const text = found === null ? '' : explain(found);
    for (const part of ['What it means', 'How it is found', 'What to do']) expect(text).toContain(part);
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });
});

describe('words for a terminal and a shell', () => {
  test.each([
    [['a', '--b=c', '/d/e.f'], 'a --b=c /d/e.f'],
    [['rm', '--', "it's"], `rm -- 'it'\\''s'`],
    [['x', '$(y) `z` "q" ; &'], `x '$(y) \`z\` "q" ; &'`],
    [['x', ''], `x ''`],
    [['x', '~/y'], `x '~/y'`],
    [['x', 'a\nb\u001b\u202e'], `x $'a\\u000ab\\u001b\\u202e'`],
  ])('%j', (argv, line) => {
    expect(shellLine(argv)).toBe(line);
  });
  test('escape sequences and direction marks leave a sign', () => {
    expect(shown('a\u001b[31mb\u001b]0;t\u0007c\u0000\u202ed\ud800')).toBe('a·b·c··d·');
    expect(shown('x'.repeat(500))).toHaveLength(400);
    expect(shown('a\r\n\tb')).toBe('a b');
  });
  test('wrapping keeps every word', () => {
    expect(wrap('a bb ccc dddd', 6)).toEqual(['a bb', 'ccc', 'dddd']);
    expect(wrap('', 6)).toEqual([]);
  });
});

test('a login page that hides the dashboard still says so in every format', () => {
  const facts = withWs(withoutHttp(healthy(), 'sessions'), e403());
  const text = junit(
    report({
      ...facts,
      credential: { kind: 'none', source: null, fingerprint: null, unreadable: 'not-asked', login: null },
    }),
  );
  expect(text).toContain('TOKEN_MISSING');
});
