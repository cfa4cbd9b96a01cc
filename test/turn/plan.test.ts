// The tables of the reconciliation plan ("Unit Tests", "Phase 0", "Phase 6"), under their names.
import { describe, expect, test } from 'vitest';
import {
  markTurnFailed,
  preserveLocalErrors,
  reconcileAfterRefresh,
  rowsOfTurn,
  reduce,
  shouldCopyToTranscript,
  shouldSendToAgent,
  transcriptText,
  type ActiveTurn,
  type Row,
} from '../../src/turn/index.ts';

const user = (id: string, content: string, turnId?: string): Row => ({
  id,
  role: 'user',
  content,
  ...(turnId && { turnId }),
});
const agent = (id: string, content: string, turnId?: string): Row => ({
  id,
  role: 'agent',
  content,
  ...(turnId && { turnId }),
});
const failure = (id: string, error: string, turnId?: string): Row => ({
  ...agent(id, '', turnId),
  error,
  localOnly: true,
});
const artifact = (id: string, kind: 'reasoning' | 'tool_call' | 'tool_result', content: string): Row => ({
  id,
  role: 'agent',
  kind,
  content,
});
const running = (turnId: string, userId: string): ActiveTurn => ({ turnId, userId, status: 'running' });
const shown = (rows: readonly Row[]) => rows.map((row) => row.error ?? row.content);

describe('Unit Tests: Message Helpers', () => {
  test('shouldSendToAgent() includes normal user/assistant content.', () => {
    expect([user('1', 'hi'), agent('2', 'Hello.')].every(shouldSendToAgent)).toBe(true);
  });
  test('shouldSendToAgent() excludes local assistant error.', () => {
    expect(shouldSendToAgent(failure('1', 'HTTP 401'))).toBe(false);
    expect(shouldSendToAgent({ ...agent('1', 'Half an ans'), error: 'cut' })).toBe(false);
  });
  test('shouldSendToAgent() excludes empty pending assistant.', () => {
    expect(shouldSendToAgent({ ...agent('1', ''), pending: true })).toBe(false);
  });
  test('shouldSendToAgent() excludes reasoning/tool rows.', () => {
    const kinds = ['reasoning', 'tool_call', 'tool_result'] as const;
    expect(kinds.some((kind) => shouldSendToAgent(artifact('1', kind, 'text')))).toBe(false);
  });
  test('transcript copying includes a readable error line if desired.', () => {
    const row: Row = { ...agent('1', 'Half an ans'), error: 'stream cut' };
    expect(shouldCopyToTranscript(row)).toBe(true);
    expect(transcriptText(row)).toBe('Half an ans\nError: stream cut');
    expect(shouldCopyToTranscript({ ...agent('2', ''), pending: true })).toBe(false);
  });
});

describe('Unit Tests: Error Preservation', () => {
  test('1. Local failed turn before later successful DB turn', () => {
    const current = [
      user('1', 'bad', 't1'),
      failure('2', 'bad error', 't1'),
      user('3', 'good', 't2'),
      agent('4', 'good answer', 't2'),
    ];
    const db = [user('41', 'good'), agent('42', 'good answer')];
    const rows = reconcileAfterRefresh(current, db, {
      activeTurn: { turnId: 't2', userId: '3', status: 'completed' },
    });
    expect(shown(rows)).toEqual(['bad', 'bad error', 'good', 'good answer']);
    expect(rows.map((row) => row.id)).toEqual(['1', '2', '3', '4']);
  });
  test('2. Local failed turn where DB has the user but no assistant', () => {
    expect(
      shown(reconcileAfterRefresh([user('1', 'bad'), failure('2', 'bad error')], [user('41', 'bad')])),
    ).toEqual(['bad', 'bad error']);
  });
  test('3. Repeated prompt text', () => {
    const current = [
      user('1', 'hi', 't1'),
      failure('2', 'error', 't1'),
      user('3', 'hi', 't2'),
      agent('4', 'ok', 't2'),
    ];
    const rows = reconcileAfterRefresh(current, [user('41', 'hi'), agent('42', 'ok')]);
    expect(rows.map((row) => row.id)).toEqual(['1', '2', '3', '4']);
  });
  test('4. Existing DB artifacts still insert', () => {
    const current = [user('1', 'run', 't1'), agent('2', 'done', 't1')];
    const db = [
      user('41', 'run'),
      artifact('42', 'reasoning', 'hm'),
      artifact('43', 'tool_call', 'ls'),
      artifact('44', 'tool_result', 'a.txt'),
      agent('45', 'done'),
    ];
    const rows = reconcileAfterRefresh(current, db);
    expect(rows.map((row) => row.id)).toEqual(['1', '42', '43', '44', '2']);
  });
  test('5. Local error is not dropped by split artifact logic.', () => {
    const current = [user('1', 'run'), agent('2', 'Look. Done.'), user('3', 'again'), failure('4', 'Look.')];
    const db = [
      user('41', 'run'),
      agent('42', 'Look.'),
      artifact('43', 'tool_call', 'ls'),
      agent('44', 'Done.'),
    ];
    expect(shown(reconcileAfterRefresh(current, db))).toEqual([
      'run',
      'Look.',
      'ls',
      'Done.',
      'again',
      'Look.',
    ]);
  });
  test('6. Local error is not appended at the tail after unrelated later DB rows.', () => {
    const current = [user('1', 'one'), agent('2', 'first'), user('3', 'bad'), failure('4', 'bad error')];
    const db = [user('41', 'one'), agent('42', 'first'), user('43', 'elsewhere'), agent('44', 'fine')];
    expect(shown(reconcileAfterRefresh(current, db))).toEqual([
      'one',
      'first',
      'bad',
      'bad error',
      'elsewhere',
      'fine',
    ]);
  });
});

describe('Unit Tests: IPC/Error Flow', () => {
  const current = [user('1', 'one', 't1'), agent('2', 'first', 't1'), user('3', 'two', 't2')];
  test('onChatError marks current active turn failed and inserts error after user.', () => {
    const rows = markTurnFailed(current, running('t2', '3'), 'HTTP 500');
    expect(rows.at(-1)).toEqual({
      id: 'error-t2',
      role: 'agent',
      content: '',
      error: 'HTTP 500',
      localOnly: true,
      turnId: 't2',
    });
    expect(rows.slice(0, 3)).toEqual(current);
  });
  test('onChatDone skips DB reconciliation if active turn failed.', () => {
    const rows = markTurnFailed(current, running('t2', '3'), 'HTTP 500');
    const db = [
      user('41', 'one'),
      artifact('42', 'reasoning', 'hm'),
      agent('43', 'first'),
      user('44', 'two'),
    ];
    expect(
      reconcileAfterRefresh(rows, db, { activeTurn: { turnId: 't2', userId: '3', status: 'failed' } }),
    ).toEqual(rows);
  });
  test('onChatDone still reconciles if active turn succeeded.', () => {
    const rows = [...current, agent('4', 'second', 't2')];
    const db = [
      user('41', 'one'),
      agent('42', 'first'),
      user('43', 'two'),
      artifact('44', 'reasoning', 'hm'),
      agent('45', 'second'),
    ];
    const joined = reconcileAfterRefresh(rows, db, {
      activeTurn: { turnId: 't2', userId: '3', status: 'completed' },
    });
    expect(joined.map((row) => row.id)).toEqual(['1', '2', '3', '44', '4']);
  });
});

describe('Phase 0: Baseline Audit And Repro Tests', () => {
  test('the known bad-key-then-good-provider ordering bug', () => {
    const first = markTurnFailed([user('1', 'bad', 't1')], running('t1', '1'), 'HTTP 401');
    const second = [...first, user('3', 'good', 't2'), agent('4', 'Hello.', 't2')];
    const rows = reconcileAfterRefresh(second, [user('41', 'good'), agent('42', 'Hello.')], {
      activeTurn: { turnId: 't2', userId: '3', status: 'completed' },
    });
    expect(shown(rows)).toEqual(['bad', 'HTTP 401', 'good', 'Hello.']);
    expect(rows.filter(shouldSendToAgent).map((row) => row.content)).toEqual(['bad', 'good', 'Hello.']);
  });
  test('user "hi", local error, user "hi", good: error remains attached to the first "hi"', () => {
    const current = [
      user('1', 'hi', 't1'),
      failure('2', 'local error', 't1'),
      user('3', 'hi', 't2'),
      agent('4', 'good', 't2'),
    ];
    expect(shown(reconcileAfterRefresh(current, [user('41', 'hi'), agent('42', 'good')]))).toEqual([
      'hi',
      'local error',
      'hi',
      'good',
    ]);
  });
  test('the repeated prompt stays repeated when the store has both', () => {
    const current = [
      user('1', 'hi', 't1'),
      agent('2', 'ok', 't1'),
      user('3', 'hi', 't2'),
      agent('4', 'ok', 't2'),
    ];
    const db = [user('41', 'hi'), agent('42', 'ok'), user('43', 'hi'), agent('44', 'ok')];
    expect(reconcileAfterRefresh(current, db).map((row) => row.id)).toEqual(['1', '2', '3', '4']);
  });
  test('existing successful DB artifact insertion still works: reasoning, tool calls, tool results, and split assistant dedupe', () => {
    const current = [user('1', 'run', 't1'), agent('2', 'Let me look. It said hi.', 't1')];
    const db = [
      user('41', 'run'),
      artifact('42', 'reasoning', 'hm'),
      agent('43', 'Let me look.'),
      artifact('44', 'tool_call', 'ls'),
      artifact('45', 'tool_result', 'hi'),
      agent('46', 'It said hi.'),
    ];
    expect(shown(reconcileAfterRefresh(current, db))).toEqual([
      'run',
      'hm',
      'Let me look.',
      'ls',
      'hi',
      'It said hi.',
    ]);
  });
});

describe('Phase 6: markActiveTurnFailed()', () => {
  test('no assistant yet -> insert after active user', () => {
    const rows = markTurnFailed([user('1', 'a', 't1'), user('2', 'b', 't2')], running('t1', '1'), 'x');
    expect(rows.map((row) => row.id)).toEqual(['1', 'error-t1', '2']);
  });
  test('partial assistant exists -> mark partial assistant as errored', () => {
    const rows = markTurnFailed(
      [user('1', 'a', 't1'), { ...agent('2', 'Half', 't1'), pending: true }],
      running('t1', '1'),
      'cut',
    );
    expect(rows[1]).toEqual({
      id: '2',
      role: 'agent',
      content: 'Half',
      turnId: 't1',
      error: 'cut',
      localOnly: true,
    });
  });
  test('active user missing -> append fallback', () => {
    expect(markTurnFailed([user('1', 'a')], running('t9', '9'), 'x').at(-1)?.id).toBe('error-t9');
  });
  test('repeated user text -> use ID/turnId rather than text', () => {
    const rows = markTurnFailed(
      [user('1', 'hi', 't1'), agent('2', 'ok', 't1'), user('3', 'hi', 't2')],
      running('t2', '3'),
      'x',
    );
    expect(rows.map((row) => row.id)).toEqual(['1', '2', '3', 'error-t2']);
  });
  test('the first error of a turn stays', () => {
    const once = markTurnFailed([user('1', 'hi', 't1')], running('t1', '1'), 'first');
    expect(markTurnFailed(once, running('t1', '1'), 'second')).toEqual(once);
  });
});

describe('partial output, then an error', () => {
  const frames = [
    { dir: 'out', frame: { id: 1, method: 'session.create', params: {} } },
    { dir: 'in', frame: { id: 1, result: { session_id: 's' } } },
    { dir: 'out', frame: { id: 2, method: 'prompt.submit', params: { session_id: 's', text: 'write' } } },
    event('message.start'),
    event('message.delta', { text: 'Half an ans' }),
    event('message.complete', { status: 'error', text: 'HTTP 500: overloaded' }),
  ];
  function event(type: string, payload?: unknown) {
    return { dir: 'in', frame: { method: 'event', params: { type, session_id: 's', payload } } };
  }
  test('the text stays, the error is a part of its own and no text of the model', () => {
    const [turn] = reduce(frames).turns;
    expect(turn?.parts).toMatchObject([
      { type: 'text', text: 'Half an ans', role: 'process' },
      { type: 'error', error: 'HTTP 500: overloaded' },
    ]);
    expect(turn?.outcome).toBe('error');
    const rows = rowsOfTurn(turn!, 't1');
    expect(shown(rows)).toEqual(['write', 'Half an ans', 'HTTP 500: overloaded']);
    expect(rows.filter(shouldSendToAgent).map((row) => row.content)).toEqual(['write', 'Half an ans']);
  });
  test('a next successful turn does not move it', () => {
    const rows = [
      ...rowsOfTurn(reduce(frames).turns[0]!, 't1'),
      user('5', 'again', 't2'),
      agent('6', 'Whole answer', 't2'),
    ];
    const joined = reconcileAfterRefresh(rows, [
      user('41', 'write'),
      user('42', 'again'),
      agent('43', 'Whole answer'),
    ]);
    expect(shown(joined)).toEqual(['write', 'Half an ans', 'HTTP 500: overloaded', 'again', 'Whole answer']);
  });
});

describe('preserveLocalErrors()', () => {
  test('carries the errors of shown turns into stored rows and nothing else', () => {
    const current = [
      user('1', 'bad', 't1'),
      failure('2', 'HTTP 401', 't1'),
      user('3', 'good', 't2'),
      agent('4', 'Hello.', 't2'),
      user('5', 'not sent', 't3'),
    ];
    const rows = preserveLocalErrors([user('41', 'good'), agent('42', 'Hello.')], current);
    expect(shown(rows)).toEqual(['bad', 'HTTP 401', 'good', 'Hello.']);
  });
});

describe('engines that do not store the prompt after a failed turn (up to 0.16)', () => {
  test('the error keeps its prompt, and the answer its own', () => {
    const current = [
      user('1', 'two', 't1'),
      failure('2', 'HTTP 401', 't1'),
      user('3', 'three', 't2'),
      agent('4', 'Hello.', 't2'),
    ];
    const rows = reconcileAfterRefresh(current, [user('41', 'two'), agent('42', 'Hello.')]);
    expect(rows.map((row) => row.id)).toEqual(['1', '2', '3', '4']);
  });
});

describe('a refresh while a turn runs', () => {
  test('the answer that is being written is not lost to a store that has only the prompt', () => {
    const current = [
      user('1', 'go', 't1'),
      artifact('2', 'tool_call', 'ls'),
      { ...agent('3', 'Hel', 't1'), pending: true },
    ];
    const rows = reconcileAfterRefresh(current, [user('41', 'go')], { activeTurn: running('t1', '1') });
    expect(rows.map((row) => row.id)).toEqual(['1', '2', '3']);
  });
  test('it keeps its id when the store has the whole of it', () => {
    const current = [user('1', 'go', 't1'), { ...agent('3', 'Hel', 't1'), pending: true }];
    const rows = reconcileAfterRefresh(current, [user('41', 'go'), agent('42', 'Hello.')], {
      activeTurn: running('t1', '1'),
    });
    expect(rows).toEqual([user('1', 'go', 't1'), agent('3', 'Hello.', 't1')]);
  });
});

describe('attachments', () => {
  test('come from the store, and tell prompts of one text apart', () => {
    const picture = [{ name: 'a.png' }];
    const current = [
      { ...user('1', 'see', 't1'), attachments: [{ name: 'b.png' }] },
      agent('2', 'B.', 't1'),
      { ...user('3', 'see', 't2'), attachments: picture },
      agent('4', 'A.', 't2'),
    ];
    const rows = reconcileAfterRefresh(current, [
      { ...user('41', 'see'), attachments: picture },
      agent('42', 'A.'),
    ]);
    expect(rows.map((row) => row.id)).toEqual(['1', '2', '3', '4']);
    expect(rows[2]?.attachments).toEqual(picture);
  });
});
