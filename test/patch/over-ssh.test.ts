import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CompatError } from '../../src/errors.ts';
import { openSshHost } from '../../src/host/ssh/open.ts';
import type { SshHost } from '../../src/host/ssh/types.ts';
import { change, recoverFirst } from '../../src/patch/change.ts';
import { statusOf } from '../../src/patch/status.ts';
import { readWorld } from '../../src/patch/world.ts';
import { miniServer } from '../support/mini-engine.ts';
import { agree, homeFacts, installFacts, session, snapshot } from '../support/patch-scene.ts';
import { type Proxy, proxyTo } from '../support/proxy.ts';
import { type Account, canRunSshd, type Rig, type Sshd, sshRig } from '../support/sshd.ts';
import type { Scene } from '../../src/patch/world.ts';
import { isFull } from '../support/full.ts';

// The same engine of change on another machine: same bytes, same guarantees, also when the line is cut.

describe.runIf(canRunSshd)('over ssh', () => {
  let rig: Rig;
  let server: Sshd;
  let account: Account;
  let proxy: Proxy;
  let host: SshHost;

  beforeAll(async () => {
    rig = await sshRig();
    server = await rig.sshd();
    account = await rig.account('patch');
    proxy = await proxyTo(server.port);
    await writeFile(`${rig.clientHome}/.ssh/known_hosts`, `[127.0.0.1]:${proxy.port} ${server.keys[0]}\n`);
    host = await open();
  }, 60_000);
  afterAll(async () => {
    await host?.close();
    proxy?.close();
    await rig?.end();
  });

  const open = (timeoutMs = 20_000): Promise<SshHost> =>
    openSshHost({ ...rig.options(server, account, { timeoutMs }), port: proxy.port });

  let made = 0;
  /** A tree and a home of the account, on "its" machine. */
  async function scene(): Promise<Scene & { folder: string }> {
    const folder = join(account.home, `scene-${made++}`);
    const packageDir = join(folder, 'site-packages/hermes_cli');
    const home = join(folder, 'home');
    await mkdir(packageDir, { recursive: true });
    await mkdir(home, { mode: 0o700 });
    await writeFile(join(packageDir, 'web_server.py'), miniServer);
    await writeFile(join(home, 'config.yaml'), 'model: x # mine\n', { mode: 0o640 });
    execFileSync('chown', ['-R', `${account.name}:`, folder]);
    const install = { ...installFacts(packageDir, '/usr/bin/python3'), commands: [] };
    return { folder, target: { kind: 'ssh', name: 'box', url: null }, home: homeFacts(home), install };
  }

  test.each(['overlay', 'source'] as const)(
    'applied once, told by bytes, given back (%s)',
    { timeout: 120_000 },
    async (carrier) => {
      const at = await scene();
      const before = await snapshot(at.folder);
      const run = await session(at, { host });
      expect((await change(run, agree({ carrier }))).changed).toBe(true);
      expect((await change(run, agree({ carrier }))).changed).toBe(false);
      const status = await statusOf(await readWorld(host, at, run.catalogue), run.catalogue);
      expect(status.patches.map(({ state, effective }) => `${state} ${effective}`)).toEqual([
        'applied yes',
        'applied yes',
      ]);
      await change(run, agree({ do: 'revert' }));
      expect(await snapshot(at.folder, ['desktop-compat'])).toEqual(before);
    },
  );

  test.each(['overlay', 'source'] as const)(
    'the line is cut: old or new after the next run, never between (%s)',
    { timeout: 600_000 },
    async (carrier) => {
      const whole = await scene();
      const first = await open();
      const sent = proxy.sent();
      await change(await session(whole, { host: first }), agree({ carrier }));
      const bytes = proxy.sent() - sent;
      await first.close();
      const now = await files(whole.folder);
      const cuts = isFull ? 60 : 7;
      const ends = new Set<string>();
      for (let cut = 1; cut < cuts; cut++) {
        const at = await scene();
        const old = await files(at.folder);
        const line = await open(5000);
        proxy.failAfter(Math.floor((bytes * cut) / cuts), cut % 2 === 0 ? 'close' : 'reset');
        const failed = await change(await session(at, { host: line }), agree({ carrier })).then(
          () => null,
          (error: CompatError) => error,
        );
        await line.close().catch(() => {});
        proxy.heal();
        const again = await open();
        ends.add(failed?.kind ?? 'done');
        const where = `cut ${cut}: ${failed?.kind ?? 'done'} ${failed?.message ?? ''}`;
        expect(failed === null || failed.kind !== undefined, where).toBe(true);
        await recoverFirst(await session(at, { host: again }));
        expect([old, now], where).toContainEqual(await files(at.folder));
        expect(
          Object.keys(await snapshot(at.folder)).filter((path) => /journal|lock|\.hermes-compat-/.test(path)),
          where,
        ).toEqual([]);
        await change(await session(at, { host: again }), agree({ carrier }));
        expect(await files(at.folder), where).toEqual(now);
        await again.close();
      }
      expect([...ends]).toContain('half-done');
    },
  );
});

const files = (folder: string): Promise<Record<string, string>> => snapshot(folder, ['desktop-compat']);
