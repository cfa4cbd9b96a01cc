import { expect, test } from 'vitest';
import { codes } from '../../src/judge/codes.ts';
import type { Args } from '../../src/report/message.ts';
import { advice, messages } from '../../src/report/messages.ts';

test('every finding code has words, and no words are left over', () => {
  expect([...messages.keys()].sort()).toEqual([...codes.keys()].sort());
});

test.each([...messages])('%s says something with no, foreign and hostile values', (code, message) => {
  for (const args of [{}, JSON.parse('{"__proto__":"x","constructor":"y"}') as object, hostile]) {
    const said = message.says(args as Parameters<typeof message.says>[0]);
    expect(said.length, code).toBeGreaterThan(10);
    expect(said, code).not.toMatch(/undefined|null|\[object|function /);
  }
  const cases: Args[] = [{}, { env: '0' }, { openToNetwork: true }, { reason: 'guard' }];
  for (const args of cases) expect(advice({ code, args }), code).toMatch(/[.]$/);
  for (const text of [message.means, message.seen, message.todo]) expect(text, code).toMatch(/[.]$/);
});

const hostile = Object.fromEntries(
  ['url', 'error', 'status', 'title', 'host', 'files', 'places', 'value', 'wanted', 'pid'].map((key) => [
    key,
    null,
  ]),
);
