import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createReducer, reduce, type LogRecord, type Part, type Turn } from '../../src/turn/index.ts';
import { plain, turnCases } from './cases.ts';
import { againAtTheEnd, singleCharacters, twice } from './variants.ts';

/** Frames that look like the protocol in places, and are anything in others. */
const words = fc.constantFrom(
  'message.start',
  'message.delta',
  'message.complete',
  'message.interim',
  'reasoning.delta',
  'tool.start',
  'tool.complete',
  'tool.generating',
  'status.update',
  'error',
  'session.info',
  'approval.request',
  'request.cancel',
  'subagent.tool',
  'constructor',
  '__proto__',
);
const methods = fc.constantFrom(
  'event',
  'session.create',
  'session.resume',
  'session.activate',
  'session.events.since',
  'session.interrupt',
  'session.title',
  'session.compress',
  'prompt.submit',
  'approval.respond',
  'approval',
  'clarify',
  'toString',
);
const ids = fc.constantFrom('s1', 's2', 'st1', '__proto__', '');
const small = fc.oneof(
  fc.constantFrom('complete', 'error', 'interrupted', 'queued', 'redirected', 'streaming'),
  fc.string({ maxLength: 6 }),
  fc.jsonValue({ maxDepth: 2 }),
);
const payload = fc.dictionary(
  fc.constantFrom(
    'text',
    'status',
    'tool_id',
    'name',
    'result',
    'error',
    'message',
    'running',
    'reasoning',
    'kind',
    'args',
    'context',
    'id',
    'choice',
  ),
  small,
  { maxKeys: 5 },
);
const params = fc.record(
  {
    type: fc.oneof(words, fc.jsonValue({ maxDepth: 1 })),
    session_id: fc.oneof(ids, fc.jsonValue({ maxDepth: 1 })),
    seq: fc.oneof(fc.integer({ min: -2, max: 40 }), fc.jsonValue({ maxDepth: 1 })),
    payload: fc.oneof(payload, fc.jsonValue({ maxDepth: 2 })),
    text: small,
    choice: small,
    request_id: small,
  },
  { requiredKeys: [] },
);
const result = fc.record(
  {
    session_id: ids,
    stored_session_id: ids,
    status: small,
    running: fc.oneof(fc.boolean(), small),
    messages: fc.oneof(fc.array(payload, { maxLength: 3 }), small),
    inflight: fc.oneof(fc.record({ assistant: small, error: small }, { requiredKeys: [] }), small),
    events: fc.oneof(fc.array(params, { maxLength: 5 }), small),
    truncated: fc.oneof(fc.boolean(), small),
  },
  { requiredKeys: [] },
);
const requestId = fc.oneof(fc.constantFrom('c1', 'c2', 'c3', 1, 2), fc.jsonValue({ maxDepth: 1 }));
const frame = fc.oneof(
  { weight: 6, arbitrary: fc.record({ method: fc.constant('event'), params }) },
  {
    weight: 3,
    arbitrary: fc.record({
      id: requestId,
      method: methods,
      params: fc.oneof(params, fc.jsonValue({ maxDepth: 1 })),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ id: requestId, result: fc.oneof(result, fc.jsonValue({ maxDepth: 2 })) }),
  },
  { weight: 1, arbitrary: fc.record({ id: requestId, error: fc.jsonValue({ maxDepth: 1 }) }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);
const record = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      t: fc.oneof(fc.nat(), fc.jsonValue({ maxDepth: 1 })),
      dir: fc.constantFrom('in', 'out'),
      conn: fc.constantFrom(undefined, 'A', 'B'),
      frame,
    }),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);
const opening = [
  { dir: 'out', frame: { id: 'k1', method: 'session.create', params: {} } },
  { dir: 'in', frame: { id: 'k1', result: { session_id: 's1', stored_session_id: 'st1' } } },
] as LogRecord[];

test('total: no frame makes it throw, and what it keeps stays below what it read', () => {
  fc.assert(
    fc.property(fc.array(record, { maxLength: 60 }), (records) => {
      const all = [...opening, ...records];
      const reducer = createReducer();
      for (const one of all) {
        reducer.push(one);
        reducer.snapshot();
      }
      const { turns } = reducer.finish();
      const read = JSON.stringify(all).length;
      const kept = turns.reduce(
        (sum, turn) => sum + turn.parts.length + JSON.stringify(turn.parts).length,
        0,
      );
      expect(turns.length).toBeLessThanOrEqual(
        all.length + JSON.stringify(all).split('message.start').length,
      );
      expect(kept).toBeLessThan(20 * read + 1000);
      for (const turn of turns) {
        expect(turn.outcome).not.toBeNull();
        expect(turn.outcome === 'completed').toBe(turn.final !== null);
      }
    }),
    { numRuns: 2000 },
  );
});

test('frame by frame is the same as the whole, at every place', () => {
  fc.assert(
    fc.property(fc.array(record, { maxLength: 40 }), fc.nat(40), (records, at) => {
      const all = [...opening, ...records];
      const reducer = createReducer();
      for (const one of all.slice(0, at)) {
        reducer.push(one);
        reducer.finish();
        reducer.snapshot();
      }
      expect(plain(reducer.finish())).toEqual(plain(reduce(all.slice(0, at))));
    }),
    { numRuns: 500 },
  );
});

/** One thing a model or a tool does in a turn. */
type Step =
  | { kind: 'text' | 'reasoning'; text: string }
  | { kind: 'tool'; id: number }
  | { kind: 'noise'; type: string };

const visible = fc
  .string({ minLength: 1, maxLength: 8, unit: fc.constantFrom('a', 'b', ' ', '\n', '漢', '🙂') })
  .map((text) => `${text}.`);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('text' as const), text: visible }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('reasoning' as const), text: visible }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('tool' as const), id: fc.nat(3) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('noise' as const),
      type: fc.constantFrom(
        'thinking.delta',
        'reasoning.available',
        'status.update',
        'plan.new',
        'tool.generating',
      ),
    }),
  },
);

/** A well-formed turn as frames, and the parts that must come of it. */
function turnOf(
  steps: readonly Step[],
  numbered: boolean,
  name: string,
): { records: LogRecord[]; parts: unknown[] } {
  let seq = 0;
  const event = (type: string, payload: unknown): LogRecord => {
    seq += 1;
    return {
      dir: 'in',
      frame: {
        jsonrpc: '2.0',
        method: 'event',
        params: { type, session_id: 's1', payload, ...(numbered ? { seq } : {}) },
      },
    };
  };
  const records: LogRecord[] = [
    ...opening,
    { dir: 'out', frame: { id: 'p', method: 'prompt.submit', params: { session_id: 's1', text: name } } },
    { dir: 'in', frame: { id: 'p', result: { status: 'streaming' } } },
    event('message.start', null),
  ];
  const parts: { type: string; text?: string; callId?: string }[] = [];
  let open = null as { type: string; text: string } | null;
  let calls = 0;
  for (const one of steps) {
    if (one.kind === 'noise') {
      records.push(event(one.type, { text: 'noise', name: 'terminal' }));
    } else if (one.kind === 'tool') {
      calls += 1;
      const id = `call_${calls}`;
      records.push(event('tool.start', { tool_id: id, name: 'terminal' }));
      records.push(
        event('tool.complete', {
          tool_id: id,
          name: 'terminal',
          result: { exit_code: one.id === 3 ? 1 : 0 },
        }),
      );
      parts.push({ type: 'tool', callId: id });
      open = null;
    } else {
      records.push(event(one.kind === 'text' ? 'message.delta' : 'reasoning.delta', { text: one.text }));
      if (open?.type === one.kind) open.text += one.text;
      else parts.push((open = { type: one.kind, text: one.text }));
    }
  }
  const last = parts.at(-1);
  const text = last?.type === 'text' ? last.text! : 'The end.';
  if (last?.type !== 'text') parts.push({ type: 'text', text });
  records.push(event('message.complete', { text: text.trim(), status: 'complete' }));
  return {
    records,
    parts: parts.map((part) => (part.text === undefined ? part : { ...part, text: part.text.trim() })),
  };
}

const shown = (turn: Turn) =>
  turn.parts.map((part) =>
    part.type === 'tool'
      ? { type: 'tool', callId: part.callId }
      : { type: part.type, text: part.type === 'error' ? part.error : part.text },
  );

describe('well-formed turns', () => {
  test('order is preserved: parts stand as they were streamed', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), fc.boolean(), (steps, numbered) => {
        const { records, parts } = turnOf(steps, numbered, 'go');
        expect(shown(reduce(records).turns[0]!)).toEqual(parts);
      }),
      { numRuns: 500 },
    );
  });

  test('idempotent: copies and replays change nothing', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), fc.boolean(), (steps, numbered) => {
        const { records } = turnOf(steps, numbered, 'go');
        const once = plain(reduce(records));
        expect(plain(reduce(twice(records)))).toEqual(once);
        expect(plain(reduce(againAtTheEnd(records)))).toEqual(once);
        expect(plain(reduce(singleCharacters(records)))).toEqual(once);
      }),
      { numRuns: 300 },
    );
  });

  test('numbered events in any order over two sockets give the same turn', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), fc.nat(), (steps, seed) => {
        const { records } = turnOf(steps, true, 'go');
        const head = records.slice(0, 5);
        const tail = records.slice(5);
        const swapped = tail
          .map((one, i) => [one, (i * 31 + seed) % 7] as const)
          .sort((a, b) => tail.indexOf(a[0]) + a[1] - tail.indexOf(b[0]) - b[1]);
        const ended = swapped.map(([one]) => one);
        expect(plain(reduce([...head, ...ended]))[0]).toEqual(plain(reduce(records))[0]);
      }),
      { numRuns: 300 },
    );
  });

  test('prefix-monotone: only the open part changes', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), fc.boolean(), (steps, numbered) => {
        expectMonotone(turnOf(steps, numbered, 'go').records);
      }),
      { numRuns: 300 },
    );
  });
});

describe('prefix-monotone on the recordings', () => {
  test.each(
    turnCases()
      .filter((one) => one.records.length < 2000)
      .map((one) => [one.name, one] as const),
  )('%s', (_name, one) => {
    expectMonotone(one.records);
  });
});

/** A sealed part never moves or changes; a terminal frame may split the open one, or put its late reasoning before it. */
function expectMonotone(records: readonly LogRecord[]): void {
  const reducer = createReducer();
  let before: readonly Turn[] = [];
  for (const record of records) {
    reducer.push(record);
    const now = reducer.snapshot().turns;
    for (const old of before) {
      const same = now.find((turn) => turn.index === old.index && turn.prompt === old.prompt);
      if (same !== undefined)
        expectGrown(old.parts, same.parts, same.outcome !== null && old.outcome === null);
    }
    before = now;
  }
}

function expectGrown(old: readonly Part[], now: readonly Part[], ended: boolean): void {
  old.slice(0, -1).forEach((part, i) => expect(sealed(now[i])).toEqual(sealed(part)));
  const open = old.at(-1);
  if (open === undefined) return;
  const at = now[old.length - 1];
  if (ended && open.type === 'text') {
    const rest = now.slice(old.length - 1).flatMap((part) => (part.type === 'text' ? [part.text] : []));
    expect(
      squeeze(rest.join('')).startsWith(squeeze(open.text).slice(0, squeeze(rest[0] ?? '').length)),
    ).toBe(true);
  } else if (open.type === 'text' || open.type === 'reasoning') {
    expect(at?.type).toBe(open.type);
    expect((at as { text: string }).text.startsWith(open.text)).toBe(true);
  } else {
    expect(sealed(at)).toEqual(sealed(open));
  }
}

const squeeze = (text: string) => text.replace(/\s+/g, '');

/** Of a tool its status and result may still change. */
function sealed(part: Part | undefined): unknown {
  return part?.type === 'tool'
    ? { type: 'tool', callId: part.callId, name: part.name }
    : part?.type === 'text'
      ? { type: 'text', text: part.text }
      : part;
}
