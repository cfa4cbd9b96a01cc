import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Chat } from '../../src/live/chat.ts';
import type { Turn } from '../../src/turn/index.ts';
import { requireEngines } from '../support/engines.ts';
import { chatOf, turnScene } from '../support/turn-scene.ts';
import { isFull } from '../support/full.ts';

// What must hold when things go wrong in the middle of a turn, counted at the model: a prompt runs once.

const versions = isFull ? ['0.19.0', '0.22.2.post1'] : ['0.22.2.post1'];
const ready = await requireEngines(...versions);

const textsOf = (turn: Turn | undefined): string[] =>
  (turn?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : []));

const toolRuns = (chat: Chat): boolean =>
  chat.turns().some((turn) => turn.parts.some((part) => part.type === 'tool' && part.status === 'running'));

describe.skipIf(!ready).each(versions)('%s', { timeout: 240_000 }, (version) => {
  it('killed in the middle of a turn: interrupted, and the prompt runs once unless the engine takes it up itself', async () => {
    const { provider, start } = await turnScene(version);
    const first = await start();
    const chat = await chatOf(first);
    const session = await chat.gateway.create();
    await chat.gateway.submit(session, 'SCN:plain warm up');
    await chat.settled(session, 1);
    await chat.gateway.submit(session, 'SCN:slow-tool secs=5 the killed one');
    await chat.until('the tool to run', () => toolRuns(chat));
    process.kill(first.pid, 'SIGKILL');
    await chat.until('the socket to close', () => !chat.gateway.isOpen()).catch(() => undefined);
    expect(chat.finished().at(-1)).toMatchObject({ outcome: 'interrupted', degraded: true });
    await first.stop();

    const second = await start();
    const again = await chatOf(second);
    const { storedId } = session;
    const known = { runtimeId: session.runtimeId, storedId, running: false, lastSeq: null, ends: 0 };
    const submitted = await again.gateway.submit(known, 'SCN:plain the next one');
    // 0.22 takes the killed turn up by itself; then nothing is sent until that has ended.
    expect(submitted.status).toBe(version === '0.19.0' ? 'started' : 'held');
    await again.settled(known, 1);
    if (submitted.status === 'held') {
      await again.gateway.submit(known, 'SCN:plain the next one');
      await again.settled(known, 2);
    }
    expect(again.turns().at(-1)).toMatchObject({ outcome: 'completed', prompt: 'SCN:plain the next one' });
    expect(provider.promptCount('the next one')).toBe(1);
    const sentByUs = [...chat.log, ...again.log].filter(
      ({ dir, frame }) => dir === 'out' && JSON.stringify(frame).includes('the killed one'),
    );
    expect(sentByUs).toHaveLength(1);
    expect(provider.promptCount('the killed one')).toBe(version === '0.19.0' ? 1 : 2);
  });

  it.runIf(isFull)(
    'two sessions on one socket, and a second client on one of them: no frame lands in the wrong turn',
    async () => {
      const { start } = await turnScene(version);
      const engine = await start();
      const chat = await chatOf(engine);
      const [a, b] = [await chat.gateway.create(), await chat.gateway.create()];
      await Promise.all([
        chat.gateway.submit(a, 'SCN:two-tools in a'),
        chat.gateway.submit(b, 'SCN:slow n=12 delay=50 in b'),
      ]);
      await chat.settled(a, 2);
      await chat.settled(b, 2);
      const of = (id: string): Turn | undefined => chat.turns().find((turn) => turn.session === id);
      expect(textsOf(of(a.runtimeId))).toEqual([
        'First step. I run A.',
        'Second step. I run B.',
        'Both are done.',
      ]);
      expect(textsOf(of(b.runtimeId))).toEqual(['w0 w1 w2 w3 w4 w5 w6 w7 w8 w9 w10 w11']);

      const other = await chatOf(engine);
      await other.gateway.resume(a.storedId ?? '');
      await chat.gateway.submit(b, 'SCN:plain again in b');
      await chat.settled(b, 3);
      expect(chat.turns().at(-1)).toMatchObject({ session: b.runtimeId, outcome: 'completed' });
      expect(other.finished()).toEqual([]);
    },
  );
});

const shape = (turn: Turn | undefined): string[] =>
  (turn?.parts ?? []).map((part) => {
    if (part.type === 'tool') return `${part.name} ${part.status}`;
    return part.type === 'error' ? `error ${part.error}` : `${part.type} ${part.text}`;
  });

describe.skipIf(!ready || !isFull).each(versions)('%s', { timeout: 580_000 }, (version) => {
  it('a socket lost at twenty points of a turn with many tools: the same timeline, or said to be degraded', async () => {
    const { provider, start } = await turnScene(version);
    const chat = await chatOf(await start());
    const heavy = 'SCN:grow n=6 base=100 step=100';
    const run = async (prompt: string, lostAfterMs: number | null): Promise<Turn | undefined> => {
      const session = await chat.gateway.create();
      await chat.gateway.submit(session, prompt);
      if (lostAfterMs !== null) {
        await pause(lostAfterMs);
        chat.gateway.drop();
        await pause(Math.random() * 400);
        await chat.gateway.reconnect();
      }
      await chat.until('the turn to end', () => !session.running);
      await pause(150);
      const turn = chat.finished().findLast(({ session: id }) => id === session.runtimeId);
      await chat.gateway.closeSession(session);
      return turn;
    };
    await run('SCN:plain warm up', null);
    const began = performance.now();
    const undisturbed = await run(`${heavy} [undisturbed]`, null);
    const tookMs = performance.now() - began;
    expect(undisturbed).toMatchObject({ outcome: 'completed', degraded: false });
    expect(shape(undisturbed)).toHaveLength(13);
    for (let point = 1; point <= 20; point += 1) {
      const at = Math.round(Math.random() * tookMs);
      const turn = await run(`${heavy} [point ${point}.]`, at);
      const where = `${version}, lost after ${at} ms: ${JSON.stringify(shape(turn))}`;
      expect(provider.promptCount(`[point ${point}.]`), where).toBe(1);
      const whole = shape(undisturbed);
      const seen = shape(turn);
      if (turn?.degraded !== true) expect(seen, where).toEqual(whole);
      else expect(turn.lacks.length, where).toBeGreaterThan(0);
      for (const part of seen.filter((each) => each.startsWith('text ')))
        expect(seen.indexOf(part), where).toBe(seen.lastIndexOf(part));
      if (turn?.outcome === 'completed') expect(seen.at(-1), where).toBe('text It has grown.');
    }
  });
});
