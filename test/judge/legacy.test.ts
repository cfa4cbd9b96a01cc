import { expect, test } from 'vitest';
import { readClients } from '../../src/judge/client.ts';
import type { Judgement } from '../../src/judge/judge.ts';
import { judge } from '../../src/judge/judge.ts';
import type { Facts } from '../../src/probe/schema.ts';
import { error, failed, healthy, http, json, remote, statusBody, statusFact, text, withWs } from './facts.ts';

const clients = await readClients();
const judged = (facts: Facts, more: { skip?: string[] } = {}): Judgement =>
  judge(facts, { client: 'hermes-one', clients, ...more });

const legacy = (...probes: Facts['http']): Facts => {
  const facts = remote({ ...healthy(), status: null, http: probes }, 'http://box.example:8642');
  return withWs({ ...facts, asked: { ...facts.asked, mode: 'legacy' } });
};
const health = http('api-server-health', 200, json(['status', 'platform', 'version']));
const models = http('api-server-models', 200, json(['data'], { count: 3 }));
const codes = (report: Judgement): string[] => report.findings.map((each) => each.code);

test('an API server that takes the key is all that a client in legacy mode needs', () => {
  const report = judged(legacy(health, models));
  expect([report.verdict, report.exitCode, codes(report)]).toEqual(['compatible', 0, []]);
  expect(report.transport).toMatchObject({
    legacy: { usable: 'yes' },
    dashboard: { usable: 'unknown' },
    auto: { chooses: 'legacy' },
  });
});

test('a refused key, and none at all', () => {
  const refused = judged(legacy(health, http('api-server-models', 401, error('invalid_api_key'))));
  expect([refused.verdict, codes(refused)]).toEqual(['unknown', ['TOKEN_REJECTED']]);
  const none = judged(legacy(health, http('api-server-models-bare', 401, error('invalid_api_key'))));
  expect([none.verdict, codes(none)]).toEqual(['unknown', ['TOKEN_MISSING']]);
});

test('a dashboard, nothing, or another service at that address', () => {
  const dashboard = judged({
    ...legacy(http('api-server-health', 404, text('x')), http('status', 200, statusBody)),
    status: statusFact(),
  });
  expect([dashboard.verdict, codes(dashboard)]).toEqual(['unknown', ['WRONG_SERVICE']]);
  const closed = judged(legacy(failed('api-server-health', 'ECONNREFUSED', 'tcp')));
  expect([closed.verdict, codes(closed), closed.exitCode]).toEqual(['unknown', ['CONNECTION_REFUSED'], 3]);
  const other = judged(legacy(http('api-server-health', 200, json(['ok']))));
  expect([other.verdict, codes(other)]).toEqual(['unknown', ['WRONG_SERVICE']]);
});

test('could not be checked is never success', () => {
  expect(judged(legacy(health)).verdict).toBe('unknown');
  expect(judged(legacy(health, http('api-server-models', 500, text('x')))).verdict).toBe('unknown');
  expect(judged(legacy(health, models), { skip: ['api-server'] }).verdict).toBe('unknown');
  expect(judged(legacy()).verdict).toBe('unknown');
});
