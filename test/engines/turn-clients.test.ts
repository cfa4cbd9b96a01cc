import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Turn } from '../../src/turn/index.ts';
import { startApiServer } from '../support/api-server.ts';
import { document, runCli } from '../support/cli.ts';
import { requireEngines } from '../support/engines.ts';
import { chatOf, later, turnScene } from '../support/turn-scene.ts';
import { isFull } from '../support/full.ts';

// More than one client on a session, `record --attach`, and what `turn --suite basic` answers to questions and leaves behind.

const versions = ['0.19.0', '0.22.2.post1'];
const ready = isFull && (await requireEngines(...versions));

const bin = fileURLToPath(new URL('../../bin/hermes-compat.js', import.meta.url));
const words = 'w0 w1 w2 w3 w4 w5 w6 w7 w8 w9 w10 w11 w12 w13 w14 w15 w16 w17 w18 w19';
const slow = 'SCN:slow n=20 delay=300';
const textsOf = (turn: Turn | undefined): string[] =>
  (turn?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : []));

interface Recording {
  kind: 'recording';
  turns: number;
  removed: boolean;
  session: string;
}

describe.skipIf(!ready).each(versions)('%s', { timeout: 300_000 }, (version) => {
  // Up to 0.20 the last that attaches gets the frames; from 0.21 on all that are attached do.
  const takes = version === '0.19.0';

  it('a second client in mid-turn: what each sees belongs to that turn, and the first gets it back', async () => {
    const { provider, start } = await turnScene(version);
    const engine = await start();
    const [first, second] = [await chatOf(engine), await chatOf(engine)];
    const session = await first.gateway.create();
    await first.gateway.submit(session, 'SCN:plain warm up');
    await first.settled(session, 1);
    await first.gateway.submit(session, `${slow} taken over`);
    await first.until('text', () => textsOf(first.turns()[1]).length > 0);
    const { session: same, running } = await second.gateway.resume(session.storedId ?? '');
    expect(running).toBe(true);
    await second.settled(same, 1);
    const [joined] = second.turns();
    expect(joined).toMatchObject({ prompt: `${slow} taken over`, outcome: 'completed' });
    expect(joined).toMatchObject({ degraded: true, lacks: ['beginning'] });
    expect(textsOf(joined)).toEqual([words]);
    if (takes) {
      expect(first.turns()[1]).toMatchObject({ outcome: null });
      await first.gateway.resume(session.storedId ?? '', session);
    }
    await first.settled(session, 2, 20_000);
    const turn = first.turns()[1];
    expect(turn).toMatchObject({ outcome: 'completed', degraded: takes });
    expect(textsOf(turn)).toEqual([words]);
    expect(first.turns()).toHaveLength(2);
    // The stream comes back with the next prompt.
    await first.gateway.submit(session, 'SCN:plain afterwards');
    await first.settled(session, 3);
    expect(first.turns()[2]).toMatchObject({ prompt: 'SCN:plain afterwards', outcome: 'completed' });
    expect(second.turns().filter(({ prompt }) => prompt === 'SCN:plain afterwards')).toEqual([]);
    expect(provider.promptCount('taken over')).toBe(1);
  });

  it('record --attach asks where it takes the stream, joins, and leaves the session alone', async () => {
    const { folder, provider, start } = await turnScene(version);
    const engine = await start();
    const env = { HERMES_COMPAT_TOKEN: engine.token ?? '' };
    const chat = await chatOf(engine);
    const session = await chat.gateway.create();
    await chat.gateway.submit(session, 'SCN:plain warm up');
    await chat.settled(session, 1);
    const output = join(folder, 'attached.jsonl');
    const args = ['record', engine.url, '--attach', session.storedId ?? '', '--output', output];
    if (takes) {
      const refused = await runCli(args, { env, timeoutMs: 60_000 });
      expect(refused).toMatchObject({ code: 4 });
      expect(refused.stderr).toMatch(/only one client gets the frames[\s\S]*Join the session\?/);
    }
    const child = spawn(
      process.execPath,
      [bin, ...args, '--for', '25', '--json', ...(takes ? ['--yes'] : [])],
      {
        env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent', ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    later(() => child.kill('SIGKILL'));
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    const code = new Promise<number | null>((resolve) => child.once('close', resolve));
    await expect
      .poll(() => readFile(output, 'utf8').catch(() => ''), { timeout: 60_000, interval: 200 })
      .toContain('session.resume');
    // On 0.19 the prompt brings the stream to whom sends it; the recorder attaches again to a turn that runs.
    if (!takes) {
      await chat.gateway.submit(session, `${slow} recorded`);
      await chat.settled(session, 2);
    }
    expect(await code).toBe(0);
    const recording = document<Recording>({ code: 0, stdout: out, stderr: '' });
    expect(recording).toMatchObject({ session: session.storedId, removed: false });
    const log = await readFile(output, 'utf8');
    expect(log).not.toContain(engine.token);
    expect(log).not.toMatch(/"system_prompt":"(?!\[left out\])/);
    if (!takes) expect(log).toContain('message.complete');
    const stored = await chat.stored([session.storedId ?? '']);
    expect(stored.sessions[0]?.answer.messages.length).toBeGreaterThanOrEqual(2);
    expect(provider.promptCount('warm up')).toBe(1);
  });

  it('the basic suite denies an approval, leaves other sessions, and keeps its own only with --keep', async () => {
    const { provider, start } = await turnScene(version, () => 'approvals: {mode: "manual"}\n');
    const engine = await start();
    const env = { HERMES_COMPAT_TOKEN: engine.token ?? '' };
    const sessions = async (): Promise<string[]> => {
      const answer = await fetch(`${engine.url}/api/sessions?limit=50`, {
        headers: { 'X-Hermes-Session-Token': engine.token ?? '' },
      });
      const { sessions: rows } = (await answer.json()) as { sessions: { id: string }[] };
      return rows.map(({ id }) => id);
    };
    const chat = await chatOf(engine);
    const own = await chat.gateway.create();
    await chat.gateway.submit(own, 'SCN:plain of a person');
    await chat.settled(own, 1);
    expect(await sessions()).toEqual([own.storedId]);
    const asked = await runCli(['turn', engine.url], { env, timeoutMs: 60_000 });
    expect(asked).toMatchObject({ code: 4, stderr: expect.stringContaining('costs one turn') });
    await runCli(['turn', engine.url, '--yes', '--json'], { env, timeoutMs: 150_000 }).then((result) =>
      expect(document(result)).toMatchObject({ exitCode: 0, notes: [] }),
    );
    expect(await sessions()).toEqual([own.storedId]);
    const kept = await runCli(['turn', engine.url, '--yes', '--keep', '--json'], { env, timeoutMs: 150_000 });
    const [note] = document<{ notes: string[] }>(kept).notes;
    expect(note).toMatch(/^session \S+ is kept$/);
    expect(await sessions()).toHaveLength(2);
    expect(provider.promptCount('Answer with the one word: ready')).toBe(2);
  });
});

describe.skipIf(!ready).each(versions)('%s, killed while `turn` waits', { timeout: 200_000 }, (version) => {
  it('gives an error of that turn, and sends the prompt nowhere again', async () => {
    const { provider, start } = await turnScene(version, undefined, { byDefault: 'slow n=200 delay=300' });
    const api = await startApiServer('key-of-the-gateway');
    later(() => api.close());
    const engine = await start();
    const run = runCli(['turn', engine.url, '--api-server', api.url, '--yes', '--json'], {
      env: { HERMES_COMPAT_TOKEN: engine.token ?? '', HERMES_COMPAT_API_KEY: 'key-of-the-gateway' },
      timeoutMs: 150_000,
    });
    const prompts = (): number => provider.promptCount('Answer with the one word: ready');
    await expect.poll(prompts, { timeout: 120_000, interval: 200 }).toBe(1);
    process.kill(engine.pid, 'SIGKILL');
    expect(document(await run)).toMatchObject({
      transport: 'dashboard',
      scenarios: [{ status: 'fail', got: 'interrupted · degraded 0', lost: { turn: 0 } }],
      findings: [{ code: 'TURN_LOST' }],
      exitCode: 1,
    });
    expect(prompts()).toBe(1);
    expect(api.log).toEqual([]);
  });
});

describe.skipIf(!ready).each(versions)(
  '%s, a model that wants a dangerous command',
  { timeout: 200_000 },
  (version) => {
    it('is denied in the basic suite, and the turn goes on', async () => {
      const { provider, start } = await turnScene(version, () => 'approvals: {mode: "manual"}\n');
      const engine = await start();
      const { runBasic } = await import('../../src/live/basic.ts');
      const { wayOf } = await import('../support/turn-scene.ts');
      const records: unknown[] = [];
      const { result, turns } = await runBasic({
        way: wayOf(engine),
        prompt: 'SCN:danger please',
        signal: AbortSignal.timeout(150_000),
        keep: false,
        onRecord: (record) => records.push(record),
      });
      expect(result).toMatchObject({ status: 'pass', got: 'completed' });
      const tool = turns[0]?.parts.find((part) => part.type === 'tool');
      expect(tool).toMatchObject({ status: 'denied' });
      expect(JSON.stringify(records)).toContain('"choice":"deny"');
      expect(provider.promptCount('SCN:danger please')).toBe(1);
    });
  },
);
