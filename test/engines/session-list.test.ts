import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { document, runCli } from '../support/cli.ts';
import { engineDir, requireEngines } from '../support/engines.ts';
import { isFull } from '../support/full.ts';
import { chatOf, turnScene } from '../support/turn-scene.ts';

// The session-list check of `doctor` on real engines: what it says, and that looking takes nothing away from the client that chats.

const versions = ['0.16.0', '0.19.0', '0.22.2.post1'];
const ready = isFull && (await requireEngines(...versions));

interface Report {
  kind: 'report';
  findings: { code: string; severity: string; args: { count?: number } }[];
  checks: { id: string; status: string }[];
}

/** Moves everything in the home's state.db an hour into the past. */
const age = (version: string, home: string): void => {
  const script = `
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=20)
db.execute("UPDATE messages SET timestamp = timestamp - 3600")
known = [row[1] for row in db.execute("PRAGMA table_info(sessions)")]
for column in ("started_at", "last_active", "last_activity_at"):
    if column in known:
        db.execute(f"UPDATE sessions SET {column} = {column} - 3600")
db.commit()
`;
  execFileSync(join(engineDir(version), 'bin', 'python'), ['-c', script, join(home, 'state.db')]);
};

describe.skipIf(!ready).each(versions)('%s', { timeout: 300_000 }, (version) => {
  it('names rows that are active without a turn and the reverse, and takes no stream', async () => {
    const { home, provider, start } = await turnScene(version);
    const engine = await start();
    const env = { HERMES_COMPAT_TOKEN: engine.token ?? '' };
    const look = async (): Promise<[code: string, severity: string, count: number | undefined][]> => {
      const args = ['doctor', engine.url, '--only', 'session-list', '--session-probe', 'never', '--json'];
      const result = await runCli(args, { env, timeoutMs: 90_000 });
      const { findings } = document<Report>(result);
      return findings
        .filter(({ code }) => code.startsWith('SESSION_ROW'))
        .map(({ code, severity, args: { count } }) => [code, severity, count]);
    };
    const chat = await chatOf(engine);
    const session = await chat.gateway.create();
    await chat.gateway.submit(session, 'SCN:plain one');
    await chat.settled(session, 1);
    await chat.stored([session.storedId ?? '']);
    // The engine calls a row active for five minutes after its last message: to be known, not a fault.
    expect(await look()).toEqual([['SESSION_ROW_STALE_ACTIVE', 'info', 1]]);
    age(version, home);
    expect(await look()).toEqual([]);

    await chat.gateway.submit(session, 'SCN:slow n=100 delay=400 watched');
    await chat.until('text', () => chat.turns()[1]?.parts.some((part) => part.type === 'text') === true);
    // A turn that runs long without a stored message.
    age(version, home);
    expect(await look()).toEqual([['SESSION_ROW_MISSING_ACTIVE', 'warn', 1]]);
    await chat.settled(session, 2);
    expect(chat.turns()[1]).toMatchObject({ outcome: 'completed', degraded: false });
    expect(provider.promptCount('watched')).toBe(1);
    expect(provider.requests.filter(({ purpose }) => purpose === 'turn')).toHaveLength(2);
  });
});
