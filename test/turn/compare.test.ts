import { describe, expect, test } from 'vitest';
import { compare, reduce, storedSessionsOf } from '../../src/turn/index.ts';
import { turnCases } from './cases.ts';

describe('every recorded case gives the expected differences from its stored rows', () => {
  for (const one of turnCases().filter((c) => c.stored !== null)) {
    test(one.name, () => {
      expect(compare(reduce(one.records).turns, storedSessionsOf(one.stored))).toEqual(
        one.expected.comparison,
      );
    });
  }
});

describe('stored sessions as they come', () => {
  const one = turnCases().find(({ name }) => name === 'v0.19.0/busy-tool');
  const { turns } = reduce(one?.records ?? []);
  const { sessions } = storedSessionsOf(one?.stored);
  const { session_id, messages } = sessions[0]?.answer ?? { session_id: null, messages: [] };
  const wanted = compare(turns, { sessions });

  test.each([
    ['of a dashboard', { session_id, messages, pagination: {} }],
    ['of an API server', { object: 'list', session_id, data: messages }],
    ['whose rows alone name the session', { messages }],
  ])('an answer %s is compared', (_what, answer) => {
    expect(messages.length).toBeGreaterThan(2);
    expect(compare(turns, storedSessionsOf(answer))).toEqual(wanted);
    const lacking = JSON.parse(JSON.stringify(answer).replaceAll('"role":"user"', '"role":"tool"')) as object;
    expect(compare(turns, storedSessionsOf(lacking)).equal).toBe(false);
  });

  test.each([
    ['no rows', { session_id: 'x' }],
    ['a list of sessions', { sessions: [{ id: 'x', title: 'y' }] }],
    ['rows of no session', { messages: [{ role: 'user', content: 'hello' }] }],
    ['nothing', null],
  ])('%s is refused instead of called equal', (_what, value) => {
    expect(() => storedSessionsOf(value)).toThrow(TypeError);
  });
});
