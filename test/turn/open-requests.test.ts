import { expect, test } from 'vitest';
import { createReducer, type Turn } from '../../src/turn/index.ts';
import { recording, type Recording } from './recording.ts';

// `open_requests` of an attach or a replay (0.22.2): what the engine asked while no socket of this client was there.

const request = (id: string) => ({ id, method: 'approval', params: { session_id: 's', command: 'rm x' } });
const resumed = (open: object[]) => ({ session_id: 's', resumed: 'st', running: true, open_requests: open });

function last({ records }: Recording): Turn | undefined {
  const reducer = createReducer();
  for (const record of records) reducer.push(record);
  return reducer.snapshot().turns.at(-1);
}

const running = (): Recording => recording().submit('go').event('message.start', {}, { seq: 1 });
const resume = (r: Recording, open: object[], conn = '2'): Recording =>
  r.call('session.resume', { session_id: 'st' }, resumed(open), conn);
const reply = (r: Recording, id: string, conn?: string): Recording =>
  r.frame('out', { jsonrpc: '2.0', id, result: { choice: 'once' } }, conn);

test('a request that only an attach or a replay tells makes the turn wait, once', () => {
  const r = running().event('tool.start', { tool_id: 'c1', name: 'terminal', context: 'rm x' }, { seq: 2 });
  resume(r, [request('srq-1')]);
  const since = { events: [], latest_seq: 2, open_requests: [request('srq-1'), request('srq-2')] };
  r.call('session.events.since', { session_id: 's', last_seen: 2 }, since, '2');
  expect(last(r)?.questions).toEqual([
    { kind: 'approval', id: 'srq-1', text: 'rm x', callId: 'c1' },
    { kind: 'approval', id: 'srq-2', text: 'rm x', callId: 'c1' },
  ]);
  reply(reply(r, 'srq-1', '2'), 'srq-2', '2');
  expect(last(r)?.questions).toEqual([]);
});

test('one that was asked here before is the same question', () => {
  const r = running().frame('in', { jsonrpc: '2.0', ...request('srq-1') });
  expect(last(resume(r, [request('srq-1')]))?.questions).toHaveLength(1);
});

test('an answer that was given while the list was on its way counts', () => {
  const r = running().frame('in', { jsonrpc: '2.0', ...request('srq-1') });
  r.request('late', 'session.resume', { session_id: 'st' }, '2');
  reply(r, 'srq-1').answer('late', resumed([request('srq-1')]), '2');
  expect(last(r)?.questions).toEqual([]);
});

test('an answer that was lost with its socket does not', () => {
  const r = reply(running().frame('in', { jsonrpc: '2.0', ...request('srq-1') }), 'srq-1');
  expect(last(resume(r, [request('srq-1')]))?.questions).toHaveLength(1);
});

test('what has no shape, asks no person or runs nowhere is left out', () => {
  const odd = [null, 'x', { id: 'srq-3' }, { id: 'srq-4', method: 'preview.read', params: {} }];
  expect(last(resume(running(), odd as object[]))?.questions).toEqual([]);
});
