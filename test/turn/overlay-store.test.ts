import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  openOverlayStore,
  overlayEventsOf,
  overlayFile,
  type OverlayEvent,
  type OverlayFile,
} from '../../src/turn/index.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'overlay-'));
  path = join(folder, 'desktop', 'session-overlays.json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const event = (turnId: string, more: Partial<OverlayEvent> = {}): OverlayEvent => ({
  sessionId: 's1',
  turnId,
  afterUserText: `prompt of ${turnId}`,
  error: 'HTTP 401',
  createdAt: 1,
  ...more,
});

test('what was appended is there after a restart; the file is only for its owner', async () => {
  const store = openOverlayStore(overlayFile(path));
  expect(await store.all()).toEqual([]);
  await store.append(event('t1'));
  await store.append(event('t2', { afterUserId: 'u2' }));
  expect(await openOverlayStore(overlayFile(path)).all()).toEqual([
    event('t1'),
    event('t2', { afterUserId: 'u2' }),
  ]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(folder, 'desktop'))).toEqual(['session-overlays.json']);
});

test('the first error of a turn stays, and nothing is written for the second', async () => {
  const store = openOverlayStore(overlayFile(path));
  await store.append(event('t1'));
  const before = statSync(path).mtimeMs;
  await store.append(event('t1', { error: 'another' }));
  expect(await store.all()).toEqual([event('t1')]);
  expect(statSync(path).mtimeMs).toBe(before);
});

test('the prompt that is sent after a failed turn is noted once', async () => {
  const store = openOverlayStore(overlayFile(path));
  await store.follow('s1', 'nothing failed yet');
  await store.append(event('t1'));
  await store.append(event('t1', { sessionId: 's2' }));
  await store.follow('s1', 'the next');
  await store.follow('s1', 'and another');
  expect(await openOverlayStore(overlayFile(path)).all()).toEqual([
    event('t1', { nextUserText: 'the next' }),
    event('t1', { sessionId: 's2' }),
  ]);
});

test('appends at once do not lose each other', async () => {
  const store = openOverlayStore(overlayFile(path));
  await Promise.all(Array.from({ length: 30 }, (_, i) => store.append(event(`t${i}`))));
  expect((await store.all()).map((one) => one.turnId)).toEqual(Array.from({ length: 30 }, (_, i) => `t${i}`));
});

test('pruned when its session is deleted', async () => {
  const store = openOverlayStore(overlayFile(path));
  await store.append(event('t1'));
  await store.append(event('t2', { sessionId: 's2' }));
  await store.append(event('t3', { sessionId: 's3' }));
  await store.removeSession('s2');
  expect((await store.all()).map((one) => one.sessionId)).toEqual(['s1', 's3']);
  await store.prune(['s3']);
  expect((await store.all()).map((one) => one.sessionId)).toEqual(['s3']);
});

test('the size is capped: the oldest make room, and one huge error is shortened', async () => {
  const store = openOverlayStore(overlayFile(path), { maxSize: 20_000 });
  for (let i = 0; i < 60; i += 1) await store.append(event(`t${i}`, { error: 'x'.repeat(1000) }));
  await store.append(event('huge', { error: 'y'.repeat(1_000_000) }));
  expect(statSync(path).size).toBeLessThanOrEqual(20_000);
  const kept = await store.all();
  expect(kept.at(-1)?.turnId).toBe('huge');
  expect(kept.at(-2)?.turnId).toBe('t59');
});

describe('a file that cannot be read', () => {
  test.each([
    ['cut JSON', '[{"sessionId":"s1","tur'],
    ['not JSON', 'hello'],
    ['another shape', '{"version":3}'],
    ['a number', '7'],
    ['far too large', `[${'1,'.repeat(200_000)}1]`],
  ])('%s: no events, the next write keeps the old file under another name', async (_name, text) => {
    writeFileSync(join(folder, 'o.json'), text);
    const store = openOverlayStore(overlayFile(join(folder, 'o.json')), { maxSize: 10_000 });
    expect(await store.all()).toEqual([]);
    await store.append(event('t1'));
    expect(await store.all()).toEqual([event('t1')]);
    expect(readFileSync(join(folder, 'o.json.unreadable'), 'utf8')).toBe(text);
  });

  test('entries that are no events are left out, the others stay', () => {
    const list = [
      null,
      5,
      { sessionId: 's1' },
      { ...event('t1') },
      { ...event('t2'), error: 7 },
      JSON.parse('{"__proto__":{"sessionId":"s"}}'),
    ];
    expect(overlayEventsOf(list)).toEqual([event('t1')]);
  });
});

test('both shapes of the plan are read, the list is written', async () => {
  const nested = [
    {
      sessionId: 's1',
      localEvents: [
        { id: 'e1', turnId: 't1', afterUserContent: 'hello', role: 'agent', error: 'HTTP 401', createdAt: 5 },
      ],
    },
  ];
  const flat = [
    { id: 'e1', sessionId: 's1', turnId: 't1', afterUserContent: 'hello', error: 'HTTP 401', createdAt: 5 },
  ];
  const wanted = [event('t1', { afterUserText: 'hello', createdAt: 5 })];
  expect(overlayEventsOf(nested)).toEqual(wanted);
  expect(overlayEventsOf(flat)).toEqual(wanted);
  writeFileSync(join(folder, 'o.json'), JSON.stringify(nested));
  const store = openOverlayStore(overlayFile(join(folder, 'o.json')));
  await store.append(event('t2'));
  expect(JSON.parse(readFileSync(join(folder, 'o.json'), 'utf8'))).toEqual([...wanted, event('t2')]);
});

test('a write that fails leaves the old file, and the error reaches the caller', async () => {
  let text = '[]';
  let full = false;
  const file: OverlayFile = {
    read: async () => text,
    write: async (next) => {
      if (full) throw new Error('ENOSPC');
      text = next;
    },
    setAside: async () => undefined,
  };
  const store = openOverlayStore(file);
  await store.append(event('t1'));
  full = true;
  await expect(store.append(event('t2'))).rejects.toThrow('ENOSPC');
  full = false;
  await store.append(event('t3'));
  expect((await store.all()).map((one) => one.turnId)).toEqual(['t1', 't3']);
});
