import { describe, expect, test } from 'vitest';
import { findingsOf } from '../../src/live/judge.ts';
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
