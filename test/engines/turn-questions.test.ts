import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { recordSession } from '../../src/live/record-session.ts';
import { socketOpener } from '../../src/live/way.ts';
import { openGateway, type LogRecord } from '../../src/turn/index.ts';
import { requireEngines, startEngine } from '../support/engines.ts';
import { chatOf, later, turnScene, wayOf } from '../support/turn-scene.ts';

// Questions of a real engine that asks by requests, with more than one client or a lost socket.

const version = '0.22.2.post1';
const ready = await requireEngines(version);
/** A `sudo` that asks for a password, also for root. */
const wantsPassword = `#!/bin/sh
[ "$1" = -S ] && read -r word && exit 0
exit 1
`;
const manual = (): string => 'approvals: {mode: manual}\n';

describe.skipIf(!ready)(version, { timeout: 240_000 }, () => {
  it('an approval that waits is asked again after a reconnect, and its answer counts', async () => {
    const { start } = await turnScene(version, manual);
    const asked: unknown[] = [];
    const chat = await chatOf(await start(), ({ id }) => {
      asked.push(id);
      return asked.length === 1 ? null : 'once';
    });
    const session = await chat.gateway.create();
    await chat.gateway.submit(session, 'SCN:danger');
    await expect.poll(() => asked.length, { timeout: 100_000 }).toBe(1);
    expect(chat.turns().at(-1)?.phase).toBe('waiting');
    chat.gateway.drop();
    await pause(300);
    await chat.gateway.reconnect();
    await chat.settled(session, 1);
    expect(asked).toEqual([asked[0], asked[0]]);
    expect(chat.turns().at(-1)).toMatchObject({ outcome: 'completed', phase: 'settled', questions: [] });
  });

  it('a recorder that joins leaves the password prompt to the client that shows the session', async () => {
    const { folder, home } = await turnScene(version, manual);
    const bin = join(folder, 'bin');
    await mkdir(bin);
    await writeFile(join(bin, 'sudo'), wantsPassword, { mode: 0o755 });
    const engine = await startEngine({ version, home, env: { PATH: `${bin}:/usr/local/bin:/usr/bin:/bin` } });
    later(() => engine.stop());
    const way = wayOf(engine);
    const asked: unknown[] = [];
    const chat = await chatOf(engine, () => 'once');
    const session = await chat.gateway.create();
    await chat.gateway.submit(session, 'SCN:plain warm up');
    await chat.settled(session, 1);
    chat.close();

    // One that answers `sudo`, as the desktop does: this client has no word for it.
    const opener = socketOpener(way);
    let socket: { send(text: string): void } | null = null;
    const shown = await openGateway({
      connect: async (events) => {
        const opened = await opener({
          ...events,
          onText(text) {
            const frame = JSON.parse(text) as { id?: unknown; method?: string };
            if (frame.method !== 'sudo') return events.onText(text);
            asked.push(frame.id);
            setTimeout(
              () => socket?.send(JSON.stringify({ jsonrpc: '2.0', id: frame.id, result: { value: 'word' } })),
              1500,
            );
          },
        });
        return (socket = opened);
      },
      onQuestion: () => 'once',
    });
    later(() => shown.close());
    const { storedId } = session;
    if (storedId === null) throw new Error('no stored id');
    const { session: mine } = await shown.resume(storedId);
    const stop = new AbortController();
    const recorded: LogRecord[] = [];
    const recording = recordSession({
      way,
      prompts: [],
      attach: storedId,
      limitMs: null,
      keep: true,
      signal: stop.signal,
      onRecord: (record) => recorded.push(record),
      flush: () => Promise.resolve(),
    });
    await expect.poll(() => JSON.stringify(recorded), { timeout: 20_000 }).toContain('"resumed"');
    await shown.submit(mine, 'SCN:tool cmd=sudo_true');
    await expect.poll(() => mine.running, { timeout: 60_000, interval: 100 }).toBe(false);
    stop.abort();
    await recording;
    const times = (what: string) => recorded.filter(({ frame }) => JSON.stringify(frame).includes(what));
    expect(asked).toHaveLength(1);
    const request = times('"method":"sudo"')[0]?.t ?? 0;
    const end = times('"type":"tool.complete"')[0]?.t ?? 0;
    expect(end - request).toBeGreaterThan(1400);
    expect(recorded.filter(({ dir, frame }) => dir === 'out' && 'error' in (frame as object))).toEqual([]);
  });
});
