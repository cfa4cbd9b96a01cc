import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, mkdir, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Holder, Whoami } from '../../src/host/holder.ts';
import { whoami } from '../../src/host/holder.ts';
import type { Host } from '../../src/host/types.ts';
import { takeLock } from '../../src/patch/lock.ts';
import { testHost } from '../support/patch-scene.ts';

// The moments of a race that a loaded machine makes long, each held still: who may win then, and who must not.

let root: string;
let folder: string;
const host = testHost();
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-lock-')));
  folder = join(root, 'lock');
});
afterEach(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));

/** A process of this machine whose claims sort by `order`; others are alive as `alive` says. */
function process(
  order: string,
  alive: (holder: Holder) => boolean | null | Promise<boolean | null>,
): Whoami & { looks: number } {
  const me = { hostname: 'here', pid: Number(order), start: 'boot-1' };
  return {
    me,
    looks: 0,
    claim: () => claimOf(order),
    async alive(holder) {
      this.looks++;
      return alive(holder);
    },
  };
}

const claimOf = (order: string): string => `here~${order}~boot-1~000000000001`;
const claim = async (order: string): Promise<void> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, claimOf(order)), '');
};

test('a claimant that has left and ended between our two looks does not cost us the lock', async () => {
  await claim('200');
  const who = process('100', async () => {
    await rm(join(folder, claimOf('200')));
    return false;
  });
  const lock = await takeLock(host, folder, who, '');
  expect(lock.cut).toEqual([]);
  await lock.release();
  expect(await readdir(root)).toEqual([]);
});

test('the first of two that entered at once waits until the other has stepped back, however slow that is', async () => {
  await claim('200');
  const entered = Date.now();
  const who = process('100', async () => {
    if (Date.now() - entered > 2500) await rm(join(folder, claimOf('200')), { force: true });
    return true;
  });
  const lock = await takeLock(host, folder, who, '');
  await lock.release();
});

test('of two that entered at once the second steps back at once', async () => {
  await claim('100');
  const second = process('200', () => true);
  await expect(takeLock(host, folder, second, '')).rejects.toMatchObject({
    details: { finding: 'LOCK_HELD', args: { pid: 100, alive: true } },
  });
  expect(second.looks).toBe(1);
  expect(await readdir(folder)).toEqual([claimOf('100')]);
});

test('to a holder that lives there is nothing to type; where nobody can tell there is', async () => {
  await claim('100');
  const refused = async (alive: boolean | null): Promise<unknown> =>
    takeLock(
      host,
      folder,
      process('200', () => alive),
      '',
    ).catch((error: { details?: { commands?: unknown } }) => error.details?.commands ?? null);
  expect(await refused(true)).toBeNull();
  expect(await refused(null)).toEqual([['hermes-compat', 'patch', 'unlock']]);
});

test('who holds the lock is not waited for, whatever the names are', async () => {
  const lock = await takeLock(
    host,
    folder,
    process('200', () => true),
    '',
  );
  const late = process('100', () => true);
  await expect(takeLock(host, folder, late, '')).rejects.toMatchObject({
    details: { finding: 'LOCK_HELD', args: { pid: 200, alive: true } },
  });
  expect(late.looks).toBe(1);
  await lock.release();
  expect(await readdir(root)).toEqual([]);
});

test('what a holder that was cut has left is taken over, and goes with the lock', async () => {
  await takeLock(
    host,
    folder,
    process('200', () => true),
    'its note',
  );
  const lock = await takeLock(
    host,
    folder,
    process('300', ({ pid }) => pid !== 200),
    '',
  );
  expect(lock.cut.map(({ note }) => note)).toEqual(['its note']);
  await expect(
    takeLock(
      host,
      folder,
      process('100', ({ pid }) => pid !== 200),
      '',
    ),
  ).rejects.toMatchObject({
    details: { args: { pid: 300 } },
  });
  await lock.clear();
  await lock.release();
  expect(await readdir(root)).toEqual([]);
});

test('a process that has ended is gone, and so is one whose number was given to another', async () => {
  const who = await whoami(host, globalThis.process.pid);
  const child = spawn('true');
  await once(child, 'exit');
  expect(await who.alive({ ...who.me, pid: child.pid as number })).toBe(false);
  expect(await who.alive({ ...who.me, pid: 1 })).toBe(false);
});

test('a process that nobody could ask about is not taken for gone', async () => {
  const failing = (script: Host['script']): Host => ({ ...host, script });
  const cut: Host['script'] = async () => ({
    code: null,
    signal: 'SIGKILL',
    stdout: Buffer.alloc(0),
    stderr: Buffer.alloc(0),
    timedOut: true,
    overflow: false,
  });
  let asked = false;
  const who = await whoami(
    failing((...args) => (asked ? cut(...args) : host.script(...args))),
    globalThis.process.pid,
  );
  expect(await who.alive(who.me)).toBe(true);
  asked = true;
  expect(await who.alive(who.me)).toBe(null);
});
