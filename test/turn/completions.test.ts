import { describe, expect, test } from 'vitest';
import {
  afterDashboardFailure,
  createReducer,
  readCompletion,
  rowsOfTurn,
  shouldSendToAgent,
  type CompletionTurn,
  type Row,
  type Turn,
} from '../../src/turn/index.ts';
import { brief } from './recording.ts';

// Streams of /v1/chat/completions as the API servers of 0.14, 0.19 and 0.21.4 send them.

const chunk = (delta: object, finish: string | null = null, more: object = {}): string =>
  `data: ${JSON.stringify({ object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`;
const text = (content: string): string => chunk({ content });
const tool = (status: string, more = {}): string =>
  `event: hermes.tool.progress\ndata: ${JSON.stringify({ tool: 'terminal', toolCallId: 'c1', status, ...more })}\n\n`;
const done = 'data: [DONE]\n\n';
const stop = `${chunk({}, 'stop', { usage: {} })}${done}`;

function turnOf(drive: (turn: CompletionTurn) => void): Turn {
  const reducer = createReducer();
  let now = 0;
  const turn = readCompletion({
    session: 'legacy',
    prompt: 'go',
    stored: 'st',
    now: () => (now += 1),
    record: (record) => reducer.push(record),
  });
  drive(turn);
  return reducer.finish().turns[0] as Turn;
}
const read = (...pieces: string[]): Turn =>
  turnOf((turn) => {
    for (const piece of pieces) turn.push(piece);
    turn.end();
  });

describe('a stream', () => {
  const whole = `${chunk({ role: 'assistant' })}: keepalive\n\n${text('First. ')}${tool('running', { label: 'echo A' })}${tool('completed')}${text('\n\nAll ')}${text('done.')}${stop}`;

  test('gives the parts in their order, whatever pieces it comes in', () => {
    const turn = read(whole);
    expect(turn).toMatchObject({ prompt: 'go', stored: ['st'], outcome: 'completed', final: 'All done.' });
    expect(brief(turn)).toEqual(['text:First.', 'tool:c1 completed', 'text:All done.']);
    expect(turn.parts[1]).toMatchObject({ name: 'terminal', context: 'echo A', result: null });
    for (const size of [1, 7, 64]) {
      const pieces = whole.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      expect(brief(read(...pieces))).toEqual(brief(turn));
    }
    expect(brief(read(whole.replaceAll('\n', '\r\n')))).toEqual(brief(turn));
  });

  test('of newer engines has reasoning, limits and the wish for an approval', () => {
    const status =
      'event: hermes.status\ndata: {"kind":"lifecycle","text":"⚠️ Iteration budget exhausted (8/8) — asking"}\n\n';
    const turn = read(chunk({ reasoning_content: 'Hm. ' }), text('Until here.'), status, stop);
    expect(brief(turn)).toEqual(['think:Hm.', 'text:Until here.']);
    expect(turn.outcome).toBe('tool_limit_reached');
    const asked = 'event: approval.request\ndata: {"command":"rm -rf x","description":"dangerous"}\n\n';
    const reducer = createReducer();
    readCompletion({
      session: 's',
      prompt: 'p',
      stored: null,
      now: () => 1,
      record: (r) => reducer.push(r),
    }).push(asked);
    expect(reducer.snapshot().turns[0]).toMatchObject({
      phase: 'waiting',
      questions: [{ text: 'rm -rf x' }],
    });
  });

  test.each([
    ['nothing but its end', [stop], 'no_response', []],
    [
      'a failure',
      [`${chunk({}, 'error', { error: { message: 'HTTP 401' } })}${done}`],
      'error',
      ['error:HTTP 401'],
    ],
    [
      'a failure in its own words',
      [chunk({}, 'error', { hermes: { error: 'cut' } }), done],
      'error',
      ['error:cut'],
    ],
    [
      'a failure after text',
      [text('Half'), chunk({}, 'length'), done],
      'error',
      ['text:Half', 'error:The engine ended the turn with "length".'],
    ],
    ['no end', [text('Half')], 'interrupted', ['text:Half']],
    ['no end behind its last chunk', [text('All'), chunk({}, 'stop')], 'completed', ['text:All']],
    [
      'garbage',
      ['data: {"choices": 7}\n\n', 'data: [\n\n', 'event: x\ndata: {}\n\n', text('ok'), stop],
      'completed',
      ['text:ok'],
    ],
  ])('with %s', (_name, pieces, outcome, parts) => {
    const turn = read(...pieces);
    expect(turn.outcome).toBe(outcome);
    expect(brief(turn)).toEqual(parts);
    expect(turn.degraded).toBe(outcome === 'interrupted');
  });

  test('what comes after the end changes nothing; a stop is a cancel; a refusal is an error', () => {
    expect(brief(read(text('ok'), stop, text('late'), stop))).toEqual(['text:ok']);
    const stopped = turnOf((turn) => {
      turn.push(text('w0 '));
      turn.stop();
      turn.push(text('w1'));
      turn.end();
    });
    expect(stopped).toMatchObject({ outcome: 'cancelled' });
    expect(brief(stopped)).toEqual(['text:w0']);
    const refused = turnOf((turn) =>
      turn.refuse(429, { error: { message: 'Too many concurrent runs (max 8)' } }),
    );
    expect(brief(refused)).toEqual(['error:Too many concurrent runs (max 8)']);
    expect(brief(turnOf((turn) => turn.refuse(502, undefined)))).toEqual([
      'error:The API server answered with HTTP 502.',
    ]);
  });

  test('an error is not among what goes back to the model', () => {
    const turn = read(text('Half'), chunk({}, 'error', { error: { message: 'HTTP 500' } }), done);
    const sent = rowsOfTurn(turn, 't').filter((row) => shouldSendToAgent(row));
    expect(sent.map(({ content }) => content)).toEqual(['go', 'Half']);
  });
});

describe('a dashboard that fails', () => {
  const rows: Row[] = [
    { id: 'u1', role: 'user', content: 'one', turnId: 't1' },
    { id: 'a1', role: 'agent', content: 'Half', turnId: 't1', pending: true },
    { id: 'u2', role: 'user', content: 'two', turnId: 't2' },
  ];
  const active = { turnId: 't1', userId: 'u1', status: 'running' as const };

  test.each([[null], [{ status: 'busy' as const, recovered: false }]])(
    'before the prompt was taken (%j) it leaves the API server',
    (submitted) => {
      const failure = afterDashboardFailure(new Error('closed'), submitted, active, rows);
      expect(failure).toEqual({ when: 'before-submit', legacy: true, why: 'closed', rows });
    },
  );

  test.each([
    [{ status: 'unknown' as const }],
    [{ status: 'started' as const, recovered: false, answer: {} }],
  ])('afterwards (%j) its error is that turn’s', (submitted) => {
    const failure = afterDashboardFailure('closed with 1006', submitted, active, rows);
    expect(failure).toMatchObject({ when: 'in-turn', legacy: false });
    expect(failure.rows[1]).toMatchObject({ content: 'Half', error: expect.stringContaining('1006') });
    expect(failure.rows[2]).toBe(rows[2]);
  });
});
