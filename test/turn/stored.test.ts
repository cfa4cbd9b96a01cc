import { describe, expect, test } from 'vitest';
import {
  compare,
  reduce,
  rowsOfStoredTurn,
  storedSessionsOf,
  turnsOfRows,
  type Part,
} from '../../src/turn/index.ts';
import { turnCase, turnCases } from './cases.ts';
import { recording } from './recording.ts';

const squeeze = (text: string) => text.replace(/\s+/g, '');

function bare(parts: readonly Part[]): string[] {
  return parts.flatMap((part) => {
    if (part.type === 'error') return [];
    return part.type === 'tool'
      ? [`tool ${part.callId} ${part.name}`]
      : [`${part.type} ${squeeze(part.text)}`];
  });
}

describe('stored rows give the same turns as the live frames, where the store holds them', () => {
  const equal = turnCases().filter(
    (one) => (one.expected.comparison as { equal?: boolean } | undefined)?.equal === true,
  );
  test.each(equal.map((one) => [one.name, one] as const))('%s', (_name, one) => {
    const live = reduce(one.records).turns;
    for (const { asked, answer } of storedSessionsOf(one.stored).sessions) {
      const mine = live.filter((turn) => turn.stored.includes(asked));
      const stored = turnsOfRows(answer.messages).turns;
      expect(stored.map((turn) => turn.origin)).toEqual(mine.map((turn) => turn.origin));
      stored.forEach((turn, i) => {
        const seen = new Set(bare(mine[i]!.parts));
        // A degraded turn may have missed tools that the store knows.
        const parts = mine[i]!.degraded
          ? bare(turn.parts).filter((part) => seen.has(part))
          : bare(turn.parts);
        expect(parts.toSorted()).toEqual(
          [...bare(mine[i]!.parts)].filter((part) => !mine[i]!.degraded || parts.includes(part)).toSorted(),
        );
        if (turn.outcome === 'completed' && mine[i]!.outcome === 'completed')
          expect(squeeze(turn.final!)).toBe(squeeze(mine[i]!.final!));
        expect(
          mine[i]!.outcome === 'completed'
            ? ['completed', null]
            : ['completed', 'error', 'interrupted', null],
        ).toContain(turn.outcome);
      });
    }
  });
});

test('the projection of session.resume and the REST rows are the same turns', () => {
  let compared = 0;
  for (const one of turnCases()) {
    for (const { frame } of one.records) {
      const { result } = (frame ?? {}) as {
        result?: { messages?: unknown[]; session_key?: string; running?: boolean };
      };
      if (!Array.isArray(result?.messages) || result.messages.length === 0 || result.running === true)
        continue;
      const rest = storedSessionsOf(one.stored).sessions.find(({ asked }) => asked === result.session_key);
      if (rest === undefined) continue;
      const texts = (rows: unknown[]) =>
        turnsOfRows(rows).turns.map((turn) => [
          squeeze(turn.prompt),
          ...turn.parts.flatMap((part) => (part.type === 'text' ? [squeeze(part.text)] : [])),
        ]);
      const resumed = texts(result.messages);
      expect(texts(rest.answer.messages).slice(0, resumed.length), one.name).toEqual(resumed);
      compared += 1;
    }
  }
  expect(compared).toBeGreaterThan(10);
});

describe("what the engine wrote is nobody's word", () => {
  const user = (content: string, more = {}) => ({ role: 'user', content, ...more });
  const said = (content: string, more = {}) => ({ role: 'assistant', content, ...more });

  test.each([
    ["You've reached the maximum number of tool-calling iterations allowed.", {}],
    ['[System: Your previous response was truncated by the output length limit.]', {}],
    ['[System note: something]', {}],
    ['[OUT-OF-BAND USER MESSAGE — x]\nplease be brief', { display_kind: 'steer' }],
    ['whatever', { display_kind: 'hidden' }],
  ])('control row: %s', (text, more) => {
    const { turns } = turnsOfRows([user('go'), said('One.'), user(text, more), said('Two.')]);
    expect(turns).toHaveLength(1);
    expect(turns[0]).toMatchObject({ prompt: 'go', controlRows: 1 });
    expect(rowsOfStoredTurn(turns[0]!).map((row) => row.content)).toEqual(['go', 'One.', 'Two.']);
  });

  test.each([
    ['[IMPORTANT: Background process proc_1 completed normally', {}],
    ['[ASYNC DELEGATION BATCH COMPLETE — deleg_1]', {}],
    ['[System note: Your previous turn was interrupted mid-run', {}],
    ['anything', { display_kind: 'process_complete', display_metadata: { display_text: 'A process ended' } }],
    ['anything', { display_kind: 'auto_continue' }],
  ])('a turn of the engine: %s', (text, more) => {
    const { turns } = turnsOfRows([user('go'), said('One.'), user(text, more), said('Two.')]);
    expect(turns.map((turn) => turn.origin)).toEqual(['user', 'engine']);
    expect(rowsOfStoredTurn(turns[1]!).map((row) => row.content)).toEqual(['Two.']);
  });

  test('a summary of compaction is neither a prompt nor an answer, whoever is said to speak', () => {
    for (const role of ['user', 'assistant']) {
      const { turns, holdsSummary } = turnsOfRows([
        user('go'),
        { role, content: '[CONTEXT COMPACTION — REFERENCE ONLY] Earlier …' },
        user('next'),
        said('Hi.'),
      ]);
      expect(holdsSummary).toBe(true);
      expect(turns.map(({ prompt, holdsSummary: here, parts }) => [prompt, here, parts.length])).toEqual([
        ['go', true, 0],
        ['next', false, 1],
      ]);
    }
  });

  test('archived copies and repeated rows count once', () => {
    const rows = [
      user('go', { id: 1, active: 0, compacted: 1 }),
      said('Hi.', { id: 2, active: 0 }),
      user('go', { id: 3, active: 1 }),
      said('Hi.', { id: 4 }),
      said('Hi.', { id: 4 }),
    ];
    expect(turnsOfRows(rows).turns.map((turn) => turn.parts.length)).toEqual([1]);
  });
});

describe('rows', () => {
  test('calls and results become one tool, reasoning stands before the text of its call', () => {
    const [turn] = turnsOfRows([
      { id: 1, role: 'user', content: 'go' },
      {
        id: 2,
        role: 'assistant',
        content: 'I look.',
        reasoning: 'Hm.',
        tool_calls: JSON.stringify([
          { id: 'c1', function: { name: 'write_file', arguments: '{"path":"/a.md"}' } },
        ]),
      },
      { id: 3, role: 'tool', tool_call_id: 'c1', content: '{"success": true}' },
      { id: 4, role: 'assistant', content: 'Done.' },
    ]).turns;
    expect(bare(turn!.parts)).toEqual(['reasoning Hm.', 'text Ilook.', 'tool c1 write_file', 'text Done.']);
    expect(turn).toMatchObject({
      final: 'Done.',
      outcome: 'completed',
      artifacts: ['/a.md'],
      dangling: [],
      partRows: ['2', '2', '2', '4'],
    });
    expect(rowsOfStoredTurn(turn!).map((row) => row.id)).toEqual(['1', '2:0', '2', '2:2', '2:2-result', '4']);
  });

  test('what a turn ended with', () => {
    const outcome = (...rows: object[]) =>
      turnsOfRows([{ role: 'user', content: 'go' }, ...rows]).turns[0]?.outcome;
    expect(outcome()).toBeNull();
    expect(outcome({ role: 'assistant', content: '(empty)' })).toBe('no_response');
    expect(outcome({ role: 'assistant', content: 'Operation interrupted.' })).toBe('interrupted');
    const notice =
      'This turn did not complete. Some actions may already have run; verify their effects before resending.';
    expect(outcome({ role: 'assistant', content: notice })).toBe('interrupted');
    expect(outcome({ role: 'assistant', content: `${notice} Or so.` })).toBe('completed');
    expect(outcome({ role: 'assistant', content: 'half', display_metadata: { interrupted: true } })).toBe(
      'interrupted',
    );
    expect(
      outcome({
        role: 'assistant',
        content: 'x',
        display_kind: 'failed_turn',
        display_metadata: { error: 'HTTP 401' },
      }),
    ).toBe('error');
    expect(
      outcome(
        { role: 'user', content: "You've reached the maximum number of tool-calling iterations" },
        { role: 'assistant', content: 'Summary.' },
      ),
    ).toBe('tool_limit_reached');
    expect(
      outcome({ role: 'assistant', content: '', tool_calls: [{ id: 'c1', function: { name: 'x' } }] }),
    ).toBeNull();
  });

  test('multimodal content and prompts that were expanded', () => {
    const shown = (content: unknown) => turnsOfRows([{ role: 'user', content }]).turns[0]?.shown;
    expect(
      shown([
        { type: 'text', text: 'see this' },
        { type: 'image_url', image_url: { url: 'data:…' } },
      ]),
    ).toBe('see this');
    expect(
      shown('look at please\n\n--- Attached Context ---\n\n📄 @file:note.txt (3 tokens)\n```\nalpha\n```'),
    ).toBe('look at please');
    expect(shown('with image\n@image:/home/user/a.png')).toBe('with image');
    expect(
      shown(
        '[The user attached an image:\nA cat.]\n[You can examine it with vision_analyze using image_url: /p.png]\n\nwhat is it',
      ),
    ).toBe('what is it');
  });

  test('rows of any shape make nothing throw', () => {
    const odd = [
      null,
      5,
      'x',
      [],
      {},
      { role: 5 },
      { role: 'tool' },
      { role: 'assistant', tool_calls: [null, { function: 5 }], content: 7 },
      { role: 'user', content: null },
      { role: 'assistant', tool_calls: '{' },
    ];
    expect(turnsOfRows(odd).turns).toHaveLength(1);
    const none = { asked: 'x', answer: { session_id: 'x', messages: [] } };
    expect(compare([], storedSessionsOf({ sessions: [null, none] })).equal).toBe(true);
    // What holds no rows at all is not the same as no rows.
    expect(() => storedSessionsOf({ sessions: [null, { asked: 'x', answer: null }] })).toThrow(TypeError);
  });
});

describe('differences that no recording has', () => {
  const rows = (...messages: object[]) =>
    storedSessionsOf({ sessions: [{ asked: 'st', answer: { session_id: 'st', messages } }] });
  const user = (content: string) => ({ role: 'user', content });
  const said = (content: string, more = {}) => ({ role: 'assistant', content, ...more });
  const turn = (r = recording()) =>
    r.submit('go').event('message.start').text('One.').tool('c1').done('Two.').turns();
  const codes = (live: ReturnType<typeof turn>, stored: ReturnType<typeof rows>) =>
    compare(live, stored).differences.map(({ turn: index, code }) => `${index} ${code}`);
  const call = { tool_calls: [{ id: 'c1', function: { name: 'terminal', arguments: '{}' } }] };
  const result = { role: 'tool', tool_call_id: 'c1', content: '{"exit_code": 0}' };

  test('equal', () => {
    expect(codes(turn(), rows(user('go'), said('One.', call), result, said('Two.')))).toEqual([]);
  });
  test('a stored turn that is not in the recording', () => {
    expect(
      codes(turn(), rows(user('before'), said('Hi.'), user('go'), said('One.', call), result, said('Two.'))),
    ).toEqual(['null unseen-turn']);
  });
  test('an answer that came from another id than asked', () => {
    const moved = storedSessionsOf({
      sessions: [
        {
          asked: 'st',
          answer: { session_id: 'st2', messages: [user('go'), said('One.', call), result, said('Two.')] },
        },
      ],
    });
    expect(codes(turn(), moved)).toEqual(['null ids-rotated']);
  });
  test('a turn that several asked sessions hold is compared once', () => {
    const old = {
      asked: 'st',
      answer: { session_id: 'st', messages: [user('go'), said('One.', call), result, said('Two.')] },
    };
    const both = recording();
    const live = turn(both.call('session.title', { session_id: 's' }, { session_key: 'st2' }));
    const copy = {
      asked: 'st2',
      answer: { session_id: 'st2', messages: [said('[CONTEXT COMPACTION — x]'), user('go'), said('One.')] },
    };
    expect(codes(live, storedSessionsOf({ sessions: [old, copy] }))).toEqual([]);
  });
  test('only turns of asked sessions are compared', () => {
    expect(
      codes(
        turn(),
        storedSessionsOf({ sessions: [{ asked: 'else', answer: { session_id: null, messages: [] } }] }),
      ),
    ).toEqual([]);
  });
  test('a tool result that was blanked, a call without result, another order, a cut answer', () => {
    const blank = { ...result, content: '[Old tool output cleared to save context space]' };
    expect(codes(turn(), rows(user('go'), said('One.', call), blank, said('Two.')))).toEqual([
      '0 truncated-result',
    ]);
    expect(codes(turn(), rows(user('go'), said('One.', call), said('Two.')))).toEqual([
      '0 dangling-tool-call',
    ]);
    expect(codes(turn(), rows(user('go'), said('One.', call), result, said('Tw')))).toEqual([
      '0 store-shorter',
    ]);
    expect(codes(turn(), rows(user('go'), said('One.', call), result, said('Other.')))).toEqual([
      '0 extra-assistant-row',
      '0 missing-assistant',
    ]);
  });
  test('two redirects that the engine stores in one row', () => {
    const r = recording().submit('go').event('message.start').text('One.');
    for (const text of ['rather this', 'and that'])
      r.call('prompt.submit', { session_id: 's', text }, { status: 'redirected' });
    const live = r.text('Two.').done('Two.').turns();
    const row = user('rather this\n\n[Additional user correction]\nand that');
    expect(codes(live, rows(user('go'), said('One.'), row, said('Two.')))).toEqual(['0 redirect-row']);
    const other = user('rather this and that');
    expect(codes(live, rows(user('go'), said('One.'), other, said('Two.')))).toContain('null unseen-turn');
  });
  test('equal prompts are told apart by order', () => {
    const live = recording()
      .submit('hi')
      .event('message.start')
      .done('A.')
      .submit('hi')
      .event('message.start')
      .done('B.')
      .turns();
    expect(codes(live, rows(user('hi'), said('A.'), user('hi'), said('B.')))).toEqual([]);
    expect(
      codes(live, rows(user('hi'), said('B.'))).filter((code) => code.includes('missing-user')),
    ).toHaveLength(1);
  });
  test('a prompt that another one contains is not taken for it', () => {
    const live = recording()
      .submit('hello')
      .event('message.start')
      .done('A.')
      .submit('hello world')
      .event('message.start')
      .done('B.')
      .turns();
    expect(codes(live, rows(user('hello world'), said('B.')))).toEqual([
      '0 missing-assistant',
      '0 missing-user',
    ]);
  });
});

test('the recordings of one engine cover rotated, rewritten and reordered stores', () => {
  const codes = (name: string) => JSON.stringify(turnCase(name).expected.comparison);
  expect(codes('v0.16.0/ctx-exhausted')).toContain('ids-rotated');
  expect(codes('v0.19.0/compress')).toContain('rewritten-by-compaction');
  expect(codes('v0.14.0/disconnect-tool')).toContain('order-differs');
});
