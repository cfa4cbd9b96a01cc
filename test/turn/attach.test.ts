import { describe, expect, test } from 'vitest';
import { createReducer } from '../../src/turn/index.ts';
import { brief, recording } from './recording.ts';

const B = { conn: 'B' };
const resume = (more: object) => ({ session_id: 's', session_key: 'st', messages: [], ...more });
const running = (assistant: string, more = {}) =>
  resume({ running: true, inflight: { assistant, streaming: true, user: 'go' }, ...more });
const started = () => recording().submit('go').event('message.start');
const delta = (text: string, seq?: number) =>
  ['message.delta', { text }, seq === undefined ? B : { ...B, seq }] as const;

describe('the in-flight snapshot', () => {
  test('adds what was missed, once', () => {
    const r = started()
      .text('w0 ')
      .text('w1 ')
      .call('session.resume', { session_id: 'st' }, running('w0 w1 w2 w3 '), 'B');
    r.event(...delta('w4')).event('message.complete', { status: 'complete', text: 'w0 w1 w2 w3 w4' }, B);
    expect(r.turns()[0]).toMatchObject({ outcome: 'completed', degraded: false });
    expect(brief(r.turns()[0])).toEqual(['text:w0 w1 w2 w3 w4']);
  });

  test.each([
    ['inside the snapshot', 'w0 w1 w2 ', ['w2 ']],
    ['outside of it', 'w0 w1 ', ['w2 ']],
    ['half inside', 'w0 w1 w2 ', ['w2 ', 'w3 ']],
    ['alike, inside and outside', 'ha ha ha ', ['ha ', 'ha ']],
  ])('deltas that reached the new socket before the answer: %s', (_name, snapshot, early) => {
    const r = started().text(snapshot.slice(0, 3)).request('x', 'session.resume', { session_id: 'st' }, 'B');
    for (const text of early) r.event(...delta(text));
    r.answer('x', running(snapshot), 'B').event(...delta('end'));
    const text = brief(r.turns()[0])[0]!;
    const all = {
      'w0 w1 w2 ': early.length === 1 ? 'w0 w1 w2 end' : 'w0 w1 w2 w3 end',
      'w0 w1 ': 'w0 w1 w2 end',
      'ha ha ha ': 'ha ha ha end',
    };
    expect(text).toBe(`text:${all[snapshot as keyof typeof all]}`);
  });

  test('deltas that the old socket still delivers are in the snapshot already', () => {
    const r = started().text('w0 ').call('session.resume', { session_id: 'st' }, running('w0 w1 w2 '), 'B');
    r.text('w1 ')
      .text('w2 ')
      .event(...delta('w3'))
      .text('w3');
    expect(brief(r.turns()[0])).toEqual(['text:w0 w1 w2 w3']);
  });

  test('on the socket that streams already it adds nothing', () => {
    const r = started()
      .text('w0 ')
      .request('x', 'session.resume', { session_id: 'st' })
      .text('w1 ')
      .answer('x', running('w0 w1 '))
      .text('w2');
    expect(brief(r.done('w0 w1 w2').turns()[0])).toEqual(['text:w0 w1 w2']);
    const behind = started()
      .text('w0 ')
      .request('x', 'session.resume', { session_id: 'st' })
      .text('w1 ')
      .answer('x', running('w0 '))
      .text('w2');
    expect(brief(behind.done('w0 w1 w2').turns()[0])).toEqual(['text:w0 w1 w2']);
  });

  test('goes on behind a tool as a part of its own, redirects divide it', () => {
    const r = started().text('One. ').event('tool.start', { tool_id: 'c1', name: 'x' });
    r.call(
      'session.resume',
      { session_id: 'st' },
      running('One. \n\nTwo. Three.', {
        inflight: { assistant: 'One. \n\nTwo. Three.', correction_offsets: [11] },
      }),
      'B',
    );
    expect(brief(r.turns()[0])).toEqual(['text:One.', 'tool:c1 running', 'text:Two.', 'text:Three.']);
  });

  test.each([
    ['behind a tool that was seen', true, 'One. \n\nTwo.', false],
    ['behind a tool that was seen, once more', true, 'One. \n\nTwo. \n\nThree.', true],
    ['behind text', false, 'One. \n\nTwo.', true],
    ['none', false, 'One. Two.', false],
  ])('a blank line is where a tool may have run unseen: %s', (_name, tool, snapshot, degraded) => {
    const r = started().text('One. ');
    if (tool) r.tool('c1').event('reasoning.delta', { text: 'So.' });
    r.call('session.resume', { session_id: 'st' }, running(snapshot), 'B');
    r.event(...delta(' End.')).event('message.complete', { status: 'complete', text: '' }, B);
    expect(r.turns()[0]?.degraded).toBe(degraded);
  });

  test('that does not begin with what was seen is marked', () => {
    const r = started()
      .text('seen text ')
      .call('session.resume', { session_id: 'st' }, running('text and more'), 'B');
    const [turn] = r.turns();
    expect(brief(turn)).toEqual(['text:seen text and more']);
    expect(turn?.lacks).toContain('snapshot-differs');
  });

  test('events of other sessions that were held meanwhile are given up', () => {
    const r = started()
      .request('x', 'session.resume', { session_id: 'st' }, 'B')
      .event('message.delta', { text: 'foreign' }, { ...B, session: 'other' });
    r.answer('x', running(''), 'B').event(...delta('Hi.'));
    expect(brief(r.turns()[0])).toEqual(['text:Hi.']);
  });

  test('deltas without a session id reach the turn that the answer names', () => {
    const r = started().text('w0 ').request('x', 'session.resume', { session_id: 'st' }, 'B');
    r.event('message.delta', { text: 'w1 ' }, { ...B, session: null })
      .answer('x', running('w0 '), 'B')
      .event('message.delta', { text: 'w2' }, { ...B, session: null });
    expect(brief(r.turns()[0])).toEqual(['text:w0 w1 w2']);
  });

  test('a refused attach changes nothing', () => {
    const r = started()
      .text('Hi')
      .request('x', 'session.resume', { session_id: 'st' }, 'B')
      .event(...delta('copy'))
      .refuse('x', { code: 4007 }, 'B')
      .text('!');
    expect(brief(r.done('Hi!').turns()[0])).toEqual(['text:Hi!']);
  });
});

describe('an attach answer that says the session is idle', () => {
  const user = (text = 'go') => ({ role: 'user', text });
  const said = (text: string, more = {}) => ({ role: 'assistant', text, ...more });
  const idle = (messages: unknown[], more = {}) => resume({ running: false, messages, ...more });
  const attach = (r: ReturnType<typeof recording>, answer: unknown) =>
    r.call('session.resume', { session_id: 'st' }, answer, 'B').turns();

  test('an answer to the prompt: completed, degraded', () => {
    const [turn] = attach(started().text('w0 '), idle([user(), said('w0 w1 w2')]));
    expect(turn).toMatchObject({
      outcome: 'completed',
      final: 'w0 w1 w2',
      degraded: true,
      confidence: 'possible',
    });
    expect(brief(turn)).toEqual(['text:w0 w1 w2']);
  });

  test.each([
    ['no row of the prompt', [user('another'), said('Hi.')]],
    ['no answer', [user()]],
    ['only what was said before a tool', [user(), said('I look.'), { role: 'tool', name: 'terminal' }]],
    ['only what was said before a tool that is not stored', [user(), said('Starting.')]],
    ['a call without a result', [user(), said('Hm.', { tool_calls: [{ id: 'c1' }] })]],
    ['a placeholder', [user(), said('(empty)')]],
    ['a stop sentence', [user(), said('Operation interrupted.')]],
    [
      'the notice of a failed turn',
      [user(), said('Your request was not processed. Send it again if you still want me to carry it out.')],
    ],
    ['the answer of an earlier prompt', [user('first'), said('Hi.'), user()]],
    ['a summary', [user(), said('[CONTEXT COMPACTION — REFERENCE ONLY] …')]],
  ])('%s: interrupted', (_name, messages) => {
    const r = started().text('Starting. ').event('tool.start', { tool_id: 'c1', name: 'terminal' });
    expect(attach(r, idle(messages))[0]).toMatchObject({
      outcome: 'interrupted',
      final: null,
      degraded: true,
    });
  });

  test('the same words once more after the tool are an answer', () => {
    const r = started().text('Started it.').event('tool.start', { tool_id: 'c1', name: 'terminal' });
    const messages = [user(), said('Started it.'), { role: 'tool', name: 'terminal' }, said('Started it.')];
    expect(attach(r, idle(messages))[0]).toMatchObject({ outcome: 'completed', final: 'Started it.' });
  });

  test('an error of the turn', () => {
    const inflight = {
      user: 'go',
      assistant: '',
      status: 'error',
      error: 'HTTP 401: no',
      error_surface: { code: 'auth' },
    };
    expect(brief(attach(started(), idle([user()], { inflight }))[0])).toEqual(['error:HTTP 401: no']);
    const overflow = { ...inflight, error: 'Too long.', error_surface: { code: 'context_overflow' } };
    expect(attach(started(), idle([user()], { inflight: overflow }))[0]?.outcome).toBe(
      'compression_exhausted',
    );
    const kept = said('Your request was not processed.', {
      display_kind: 'failed_turn',
      display_metadata: { error: 'HTTP 500' },
    });
    expect(attach(started(), idle([user(), kept]))[0]).toMatchObject({ outcome: 'error', degraded: true });
  });

  test('cancelled when the engine had confirmed the interrupt', () => {
    const r = started().call('session.interrupt', { session_id: 's' }, { status: 'interrupted' });
    expect(attach(r, idle([user()]))[0]?.outcome).toBe('cancelled');
  });

  test('another runtime id of the same conversation settles the turn too', () => {
    const answer = { session_id: 's2', resumed: 'st', running: false, messages: [user(), said('Whole.')] };
    expect(attach(started().text('Who'), answer)[0]).toMatchObject({
      session: 's',
      outcome: 'completed',
      degraded: true,
    });
  });

  test('an engine that does not say whether it runs (0.14): only an answer counts', () => {
    const answer = (messages: unknown[]) => ({ session_id: 's2', resumed: 'st', messages });
    expect(attach(started().text('Who'), answer([user(), said('Whole.')]))[0]?.outcome).toBe('completed');
    const going = started()
      .text('Who')
      .call('session.resume', { session_id: 'st' }, answer([]), 'B')
      .text('le.')
      .done('Whole.');
    expect(going.turns()[0]).toMatchObject({ outcome: 'completed', degraded: false });
  });

  test('equal prompts: the answer of the first is not taken for that of the second', () => {
    const r = recording()
      .submit('hi')
      .event('message.start')
      .done('Hello.')
      .submit('hi')
      .event('message.start')
      .text('Hel');
    expect(attach(r, idle([user('hi'), said('Hello.')]))[1]?.outcome).toBe('interrupted');
    const both = idle([user('hi'), said('Hello.'), user('hi'), said('Hello again.')]);
    const again = recording()
      .submit('hi')
      .event('message.start')
      .done('Hello.')
      .submit('hi')
      .event('message.start')
      .text('Hel');
    expect(attach(again, both)[1]).toMatchObject({ outcome: 'completed', final: 'Hello again.' });
  });

  test('a prompt that was sent after the request is not judged by it', () => {
    const r = recording()
      .request('x', 'session.activate', { session_id: 's' })
      .request('y', 'prompt.submit', { session_id: 's', text: 'go' });
    r.answer('x', idle([])).answer('y', { status: 'streaming' }).event('message.start').done('Hi.');
    expect(r.turns()[0]).toMatchObject({ outcome: 'completed', degraded: false });
  });

  test('a settled turn is left alone', () => {
    const r = started().done('HTTP 401', 'error');
    expect(attach(r, idle([user(), said('Whole.')]))[0]).toMatchObject({ outcome: 'error', degraded: false });
  });
});

describe('numbered events', () => {
  const numbered = () => {
    const r = recording().submit('go').event('message.start', null, { seq: 1 });
    return r.event('message.delta', { text: 'w0 ' }, { seq: 2 });
  };
  const event = (seq: number, type: string, payload: unknown) => ({ type, session_id: 's', payload, seq });
  const missed = [
    event(3, 'message.delta', { text: 'w1 ' }),
    event(4, 'tool.start', { tool_id: 'c1', name: 'terminal' }),
    event(5, 'tool.complete', { tool_id: 'c1', name: 'terminal', result: { exit_code: 0 } }),
    event(6, 'message.delta', { text: '\n\nw2' }),
  ];
  const whole = ['text:w0 w1', 'tool:c1 completed', 'text:w2'];
  const end = (r: ReturnType<typeof recording>, seq = 7) =>
    r.event('message.complete', { status: 'complete', text: 'w2' }, { ...B, seq });
  const since = (r: ReturnType<typeof recording>, events: unknown[] = missed, more = {}) =>
    r.call(
      'session.events.since',
      { session_id: 's', last_seen: 2 },
      { events, truncated: false, ...more },
      'B',
    );

  test('a replay before the attach answer, after it, or after later events: the same turn, not degraded', () => {
    const attach = (r: ReturnType<typeof recording>) =>
      r.call('session.resume', { session_id: 'st' }, running('w0 w1 \n\nw2'), 'B');
    const orders = [
      end(attach(since(numbered()))),
      end(since(attach(numbered()))),
      since(end(attach(numbered()))),
      since(end(numbered())),
    ];
    for (const r of orders) {
      expect(brief(r.turns()[0])).toEqual(whole);
      expect(r.turns()[0]).toMatchObject({ outcome: 'completed', degraded: false });
    }
  });

  test('a replay after an idle answer replaces what the rows gave', () => {
    const rows = [
      { role: 'user', text: 'go' },
      { role: 'assistant', text: 'w0 w1' },
      { role: 'tool', name: 'terminal' },
      { role: 'assistant', text: 'w2' },
    ];
    const r = numbered().call(
      'session.resume',
      { session_id: 'st' },
      resume({ running: false, messages: rows }),
      'B',
    );
    expect(r.turns()[0]).toMatchObject({ outcome: 'completed', degraded: true });
    since(r, [...missed, event(7, 'message.complete', { status: 'complete', text: 'w2' })]);
    expect(r.turns()[0]).toMatchObject({ outcome: 'completed', degraded: false });
    expect(brief(r.turns()[0])).toEqual(whole);
  });

  test('a replay that comes after the next prompt was sent', () => {
    const r = numbered().call(
      'session.resume',
      { session_id: 'st' },
      resume({ running: false, messages: [] }),
      'B',
    );
    r.call('prompt.submit', { session_id: 's', text: 'next' }, { status: 'streaming' }, 'B').event(
      'message.start',
      null,
      { ...B, seq: 8 },
    );
    r.event('message.complete', { status: 'complete', text: 'Next.' }, { ...B, seq: 9 });
    since(r, [...missed, event(7, 'message.complete', { status: 'complete', text: 'w2' })]);
    expect(r.turns().map(brief)).toEqual([whole, ['text:Next.']]);
    expect(r.turns().map((turn) => turn.outcome)).toEqual(['completed', 'completed']);
  });

  test('an engine turn that was missed stands before the prompt that followed it', () => {
    const r = numbered().event('message.complete', { status: 'complete', text: 'w0' }, { seq: 3 });
    r.call('session.resume', { session_id: 'st' }, resume({ running: false, messages: [] }), 'B');
    r.call('prompt.submit', { session_id: 's', text: 'next' }, { status: 'streaming' }, 'B').event(
      'message.start',
      null,
      { ...B, seq: 7 },
    );
    r.event('message.complete', { status: 'complete', text: 'Next.' }, { ...B, seq: 8 });
    since(r, [
      event(4, 'message.start', null),
      event(5, 'message.delta', { text: 'By itself.' }),
      event(6, 'message.complete', { status: 'complete', text: 'By itself.' }),
    ]);
    expect(r.turns().map(({ index, origin, final }) => [index, origin, final])).toEqual([
      [0, 'user', 'w0'],
      [1, 'engine', 'By itself.'],
      [2, 'user', 'Next.'],
    ]);
  });

  test('events that a replay holds twice, or that came twice before the answer, count once', () => {
    const twice = since(
      numbered().call('session.resume', { session_id: 'st' }, running('w0 w1 \n\nw2'), 'B'),
      [...missed, ...missed],
    );
    expect(brief(end(twice).turns()[0])).toEqual(whole);
    const held = numbered().request('x', 'session.resume', { session_id: 'st' }, 'B');
    for (const seq of [4, 4, 5, 5, 6, 6]) held.event(...delta(`w${seq - 2} `, seq));
    held.answer('x', running('w0 w1 w2 w3 '), 'B').event(...delta('w5', 7));
    expect(brief(held.turns()[0])).toEqual(['text:w0 w1 w2 w3 w4 w5']);
  });

  test('a truncated replay marks the turn', () => {
    const r = since(numbered(), missed.slice(2), { truncated: true });
    expect(end(r).turns()[0]).toMatchObject({ outcome: 'completed', degraded: true });
    expect(r.turns()[0]?.lacks).toContain('replay-truncated');
  });

  test('a replay of an unknown session says nothing', () => {
    const r = numbered().call(
      'session.events.since',
      { session_id: 'nobody' },
      { events: [], latest_seq: 0, truncated: false },
    );
    expect(end(r, 3).turns()[0]?.degraded).toBe(false);
  });

  test('events that were never missing are not kept: memory stays flat', () => {
    const reducer = createReducer();
    for (const record of numbered().records) reducer.push(record);
    const start = process.memoryUsage().heapUsed;
    for (let seq = 3; seq < 200_000; seq += 1) {
      reducer.push({
        dir: 'in',
        frame: {
          method: 'event',
          params: { type: 'message.delta', session_id: 's', seq, payload: { text: 'x' } },
        },
      });
    }
    expect(reducer.snapshot().turns[0]?.parts).toHaveLength(1);
    expect(process.memoryUsage().heapUsed - start).toBeLessThan(60_000_000);
  });
});

describe('two clients', () => {
  test("who submits last has the stream; an answer over a socket that did not ask is nobody's", () => {
    const r = recording().call('session.resume', { session_id: 'st' }, resume({ running: false }), 'B');
    r.submit('a')
      .event('message.start')
      .event(...delta('copy'))
      .text('A.')
      .done('A.');
    r.request('x', 'prompt.submit', { session_id: 's', text: 'b' }, 'B')
      .answer('x', { status: 'queued' }, 'C')
      .event('message.start', null, B);
    r.answer('x', { status: 'streaming' }, 'B')
      .text('old socket')
      .event(...delta('B.'))
      .event('message.complete', { status: 'complete', text: 'B.' }, B);
    expect(r.turns().map(brief)).toEqual([['text:A.'], ['text:B.']]);
  });

  test('a submit that is refused as busy still takes the stream; one to an unknown session does not', () => {
    const refused = (code: number) => {
      const r = recording()
        .submit('a')
        .event('message.start')
        .text('One. ')
        .request('x', 'prompt.submit', { session_id: 's', text: 'b' }, 'B');
      return r
        .refuse('x', { code, message: 'no' }, 'B')
        .event(...delta('Two.'))
        .event('message.complete', { status: 'complete', text: 'One. Two.' }, B);
    };
    expect(refused(4009).turns().map(brief)).toEqual([['text:One. Two.']]);
    expect(refused(4001).turns()[0]?.outcome).toBe('interrupted');
  });

  test('a refused submit does not forget a session that was attached meanwhile', () => {
    const r = recording(false)
      .request('x', 'prompt.submit', { session_id: 's', text: 'a' })
      .request('y', 'session.activate', { session_id: 's' });
    r.answer('y', { session_id: 's', running: false })
      .refuse('x', { code: 4009 })
      .submit('b')
      .event('message.start')
      .done('B.');
    expect(r.turns().map((turn) => [turn.prompt, turn.outcome])).toEqual([['b', 'completed']]);
  });
});

describe('a client that comes in the middle of a turn', () => {
  const records = (answer: object, ...frames: object[]): unknown[] => [
    { dir: 'out', frame: { jsonrpc: '2.0', id: 1, method: 'session.resume', params: { session_id: 'st' } } },
    { dir: 'in', frame: { jsonrpc: '2.0', id: 1, result: answer } },
    ...frames.map((params) => ({ dir: 'in', frame: { jsonrpc: '2.0', method: 'event', params } })),
  ];
  const text = { type: 'message.delta', session_id: 's', payload: { text: 'w2' } };
  const end = {
    type: 'message.complete',
    session_id: 's',
    payload: { status: 'complete', text: 'w0 w1 w2' },
  };
  const reduced = (...all: unknown[]) => {
    const reducer = createReducer();
    for (const record of all) reducer.push(record);
    return reducer.finish().turns;
  };

  test('sees it with its prompt and the text so far, and that its beginning is missing', () => {
    const turns = reduced(...records(running('w0 w1 '), text, end));
    expect(turns).toHaveLength(1);
    expect(turns[0]).toMatchObject({
      origin: 'user',
      prompt: 'go',
      outcome: 'completed',
      degraded: true,
      lacks: ['beginning'],
      final: 'w0 w1 w2',
    });
  });

  test('a second attach adds nothing, and without a running turn there is none', () => {
    const twice = [...records(running('w0 ')), ...records(running('w0 w1 '), text, end)];
    expect(reduced(...twice)).toHaveLength(1);
    expect(reduced(...records(resume({ running: false })))).toEqual([]);
  });

  test('an answer that is older than the end of the turn opens none', () => {
    const r = started().text('w0').request('x', 'session.resume', { session_id: 'st' });
    r.done('w0').answer('x', running('w0'));
    expect(r.turns()).toHaveLength(1);
  });
});
