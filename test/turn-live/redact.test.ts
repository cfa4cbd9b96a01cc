import { describe, expect, test } from 'vitest';
import { findingsOf } from '../../src/live/judge.ts';
import { secretsOf } from '../../src/cli/live-target.ts';
import { maskKeys } from '../../src/live/mask-keys.ts';
import { redactRecord } from '../../src/live/redact-frames.ts';
import { expectedCells } from '../../src/live/expected.ts';
import { scenarios } from '../../src/live/scenarios.ts';
import { takesStream } from '../../src/live/takes-stream.ts';

test('a frame log holds no system prompt and no credential, but the chat', () => {
  const frame = {
    method: 'event',
    params: {
      type: 'session.info',
      session_id: 'rt-1',
      payload: {
        system_prompt: 'You are secret',
        tools: { web: ['search'] },
        api_key: 'sk-12345',
        nested: [{ session_token: 'abc', note: 'see tok-canary-1 here' }],
        usage: { total_tokens: 12 },
      },
    },
  };
  const clean = redactRecord({ t: 1, dir: 'in', conn: '1', frame }, ['tok-canary-1']);
  expect(JSON.stringify(clean)).not.toMatch(/You are secret|sk-12345|abc|tok-canary|search/);
  expect(clean).toMatchObject({
    t: 1,
    dir: 'in',
    conn: '1',
    frame: { params: { session_id: 'rt-1', payload: { usage: { total_tokens: 12 } } } },
  });
  const chat = redactRecord(
    { dir: 'out', frame: { method: 'prompt.submit', params: { text: 'my question' } } },
    [],
  );
  expect(JSON.stringify(chat)).toContain('my question');
  const upload = redactRecord(
    { dir: 'out', frame: { params: { data_url: `data:;base64,${'A'.repeat(999)}` } } },
    [],
  );
  expect(JSON.stringify(upload)).not.toContain('AAAA');
});

describe('what looks like a key', () => {
  test.each([
    'Incorrect API key provided: sk-canary-provider-key',
    'Incorrect API key provided: canary-provider-key. You can find yours at https://example.com',
    "{'error': {'message': 'Incorrect API key provided: sk-proj-********************cana'}}",
    'HTTP 401 for https://api.example.com/v1/models?key=canary0123&alt=json',
    'Authorization: Bearer canary',
    '{"Authorization":"Bearer canary-provider"}',
    'sent bearer canary0123456789abc',
    'api_key=canary0123 was refused',
    "{'x-api-key': 'canary0123456'}",
    'bad token: canary0123456',
    'AIzaSyCANARY0123456789abcdefghijklmno is not enabled',
    'ghp_CANARY0123456789abcdefghij expired',
    'xoxb-123456789012-canary',
    'eyJCANARYhbGciOi.eyJzdWIiOiIx.canary-signature',
  ])('is masked in an error: %s', (text) => {
    expect(maskKeys(text)).toContain('[redacted]');
    expect(maskKeys(text)).not.toMatch(/cana/i);
  });

  test.each([
    'HTTP 401: Incorrect API key provided: stub',
    'Missing API key: set it in Settings → Providers, or run `hermes setup`',
    'Bearer authentication is required; the bearer credentials were wrong',
    'The bearer token is missing. Authorization: none',
    'session 20261130_140118_13d9d2, key: 20261130_140118_13d9d2',
    'commit 3f786850e387550fdab836ed7e6dc881de23001b, sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'request id req_011CSHoEeqs5C35K2UUqR7Fy, call_601353_0, chatcmpl-9x8y7z6w5v',
    'sorted(rows, key=lambda row: row.id), max(d, key=itemgetter(1)), api_key=os.environ["K1"]',
    'model scripted-1 has a context of 64000 tokens; max_tokens: 4096, tokens=1234567890',
    'a task-manager-of-the-desk-sk, scikit-learn, sk-learn, risk-averse-behaviour-pattern',
    'from hf_hub_download, pk_something_of_a_table, gh-pages-of-the-project',
    'Keyboard: QWERTY1234, monkey=business99',
  ])('is not seen in prose, ids, hashes and code: %s', (text) => {
    expect(maskKeys(text)).toBe(text);
  });

  const key = 'sk-canary-provider-key';
  const event = (type: string, payload: object): object => ({ method: 'event', params: { type, payload } });
  const redacted = (frame: object): string => JSON.stringify(redactRecord({ dir: 'in', frame }, []));

  test.each([
    ['an error event', event('error', { message: `refused ${key}` })],
    ['a status', event('status.update', { kind: 'lifecycle', text: `retry: ${key}` })],
    ['a notice', event('notification.show', { text: key })],
    ['a failed end', event('message.complete', { status: 'error', text: `custom rejected it: ${key}` })],
    [
      'an end that only reads like a failure',
      event('message.complete', { status: 'complete', text: `HTTP 401: Incorrect ${key}` }),
    ],
    ['a refused request', { id: '1', error: { code: 5000, message: `agent init failed: ${key}` } }],
    ['a resumed turn', { id: '1', result: { inflight: { status: 'error', error: key } } }],
    [
      'a row of a failed turn',
      { id: '1', result: { messages: [{ display_kind: 'failed_turn', text: key }] } },
    ],
    ['missed events', { id: '1', result: { events: [{ type: 'error', payload: { message: key } }] } }],
  ])('goes from %s', (_what, frame) => {
    expect(redacted(frame)).not.toContain('canary');
  });

  test.each([
    ['an answer', event('message.complete', { status: 'complete', text: `Keys look like ${key}.` })],
    ['its pieces', event('message.delta', { text: key })],
    ['what a tool read', event('tool.complete', { result: { content: key } })],
    ['a resumed chat', { id: '1', result: { messages: [{ role: 'user', text: key }] } }],
  ])('stays in the text of the chat: %s', (_what, frame) => {
    expect(redacted(frame)).toContain(key);
  });
});

test('each cookie of a login is a secret of its own', () => {
  const cookie = 'hermes_session=canary-one-0123456789; csrf="canary-two-0123456789"; mode=basic';
  const way = { url: '', used: { kind: 'cookie', cookie }, origin: null, connection: {} } as const;
  const frame = { text: 'canary-one-0123456789 and canary-two-0123456789 in basic' };
  const clean = JSON.stringify(redactRecord({ dir: 'in', frame }, secretsOf(way)));
  expect(clean).not.toContain('canary');
  expect(clean).toContain('in basic');
});

describe('the table of expected cells', () => {
  test('has every scenario for every release, and outcomes that a clean engine gives, but for named faults', () => {
    for (const [version, cells] of Object.entries(expectedCells)) {
      expect(Object.keys(cells), version).toEqual(scenarios.map(({ id }) => id));
      for (const { id, outcomes } of scenarios) {
        const [seen] = (cells[id] ?? '').split(' · ');
        if (seen !== outcomes.join(', '))
          expect(cells[id], `${version} ${id}`).toContain('running-turn-not-attached');
      }
    }
  });
});

test.each([
  ['0.14.0', /second runtime/],
  ['0.16.0', /only one client/],
  ['0.19.0', /only one client/],
  ['0.20.0.post2', /only one client/],
  [null, /does not tell its version/],
])('joining a session on %s is said to disturb', (version, says) => {
  expect(takesStream(version)).toMatch(says);
});

test('joining disturbs nobody where all sockets get the frames', () => {
  expect(takesStream('0.22.2.post1')).toBeNull();
});

test.each([
  ['completed · prompt-ran-twice', 'completed', 'TURN_RAN_TWICE'],
  ['interrupted · degraded 0', 'completed', 'TURN_OUTCOME_WRONG'],
  ['completed · 0 missing-user', 'completed', 'TURN_LOST'],
  ['completed · 0 split-differs', 'completed', 'TURN_DIFFERS'],
  // Better than the table is a finding too.
  ['completed', 'completed · 0 split-differs', 'TURN_DIFFERS'],
])('%s where %s was expected is %s', (got, expected, code) => {
  const base = { id: 'plain', from: 'table', why: null, ms: 1, got, expected } as const;
  expect(findingsOf([{ ...base, status: 'fail' }]).map((finding) => finding.code)).toEqual([code]);
  expect(findingsOf([{ ...base, status: 'error' }])).toEqual([]);
});
