import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Chat } from '../../src/live/chat.ts';
import { type Provider, startProvider } from '../../src/simulate/index.ts';
import {
  openOverlayStore,
  overlayFile,
  reconcileAfterRefresh,
  restoreOverlay,
  rowsOfStoredTurn,
  rowsOfTurn,
  type Row,
  shouldSendToAgent,
  type Turn,
  turnsOfRows,
} from '../../src/turn/index.ts';
import { requireEngines } from '../support/engines.ts';
import { chatOf, later, turnScene } from '../support/turn-scene.ts';
import { isFull } from '../support/full.ts';

// A turn fails at one provider and the next works at another: the error stays on its turn, and no model ever reads it.

const versions = ['0.14.0', '0.16.0', '0.19.0', '0.21.4.post1', '0.22.2.post1'];
const ready = isFull && (await requireEngines(...versions));

const sentence = 'Incorrect API key';

/** The prompt, and below it what the turn showed: answers, and errors in brackets. */
const lines = (rows: readonly Row[]): string[] =>
  rows
    .filter((row) => row.kind === undefined)
    .map((row) => (row.error === undefined ? row.content : `[${row.error.includes(sentence)}]`));

const rowsOf = (turns: readonly Turn[]): Row[] => turns.flatMap((turn) => rowsOfTurn(turn, `t${turn.index}`));

async function storedRows(chat: Chat, id: string): Promise<Row[]> {
  const { sessions } = await chat.stored([id]);
  return turnsOfRows(sessions[0]?.answer.messages ?? []).turns.flatMap((turn) => rowsOfStoredTurn(turn));
}

const never = (...providers: Provider[]): void => {
  for (const provider of providers) expect(provider.wasSent(sentence)).toBe(false);
};

describe.skipIf(!ready).each(versions)('%s', { timeout: 400_000 }, (version) => {
  it('fails, switches the provider, works: after refresh and restart the error stays at its prompt', async () => {
    const second = await startProvider();
    later(() => second.close());
    const { folder, provider, start } = await turnScene(
      version,
      () =>
        `custom_providers: [{name: second, base_url: "${second.url}", api_key: sk-second, model: scripted-2, context_length: 64000}]\n`,
    );
    const engine = await start();
    const chat = await chatOf(engine);
    const session = await chat.gateway.create();
    await chat.gateway.submit(session, 'SCN:http code=401 fails');
    await chat.settled(session, 1);
    await pause(300);
    await chat.gateway.switchModel(session, 'scripted-2', 'custom:second');
    await chat.gateway.submit(session, 'SCN:plain works');
    await chat.settled(session, 2);

    const [failed, works] = chat.turns();
    expect(failed).toMatchObject({ outcome: 'error' });
    expect(works).toMatchObject({ outcome: 'completed' });
    expect(second.promptCount('SCN:plain works')).toBe(1);
    expect(provider.promptCount('SCN:plain works')).toBe(0);
    expect(second.requests.find(({ purpose }) => purpose === 'turn')?.model).toBe('scripted-2');
    never(provider, second);

    const id = session.storedId ?? '';
    const shown = rowsOf(chat.turns());
    const errorRow = shown.find((row) => row.error !== undefined);
    expect(shouldSendToAgent(errorRow as Row)).toBe(false);
    const path = join(folder, 'desktop', 'session-overlays.json');
    const store = openOverlayStore(overlayFile(path));
    await store.append({
      sessionId: id,
      turnId: 't0',
      afterUserText: failed?.prompt ?? '',
      error: errorRow?.error ?? '',
      createdAt: 1,
    });
    await store.follow(id, works?.prompt ?? '');
    const wanted = ['SCN:http code=401 fails', '[true]', 'SCN:plain works', 'Hello from the scripted model.'];
    expect(lines(shown)).toEqual(wanted);
    const refreshed = reconcileAfterRefresh(shown, await storedRows(chat, id));
    expect(lines(refreshed)).toEqual(wanted);

    await engine.stop();
    const again = await chatOf(await start());
    const overlay = await openOverlayStore(overlayFile(path)).all();
    const restored = restoreOverlay(await storedRows(again, id), overlay, id);
    // Up to 0.16 the engine never stored the second prompt, and its answer stands under the first.
    expect(lines(restored)).toEqual(wanted);

    const { session: known } = await again.gateway.resume(id);
    await again.gateway.submit(known, 'SCN:plain after the restart');
    await again.settled(known, 1);
    expect(again.turns().at(-1)).toMatchObject({ outcome: 'completed' });
    never(provider, second);
  });
});
