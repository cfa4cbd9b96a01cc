import { readdir, readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { CompatError } from '../../src/errors.ts';
import { openSshHost } from '../../src/host/ssh/open.ts';
import type { SshHost } from '../../src/host/ssh/types.ts';
import { FileError } from '../../src/host/types.ts';
import { type Proxy, proxyTo } from '../support/proxy.ts';
import { type Account, canRunSshd, type Rig, type Sshd, sshRig } from '../support/sshd.ts';
import { isFull } from '../support/full.ts';

const oldText = 'old\n'.repeat(10_000);
const newText = 'new\n'.repeat(10_000);

describe.runIf(canRunSshd)('a connection that is cut', () => {
  let rig: Rig;
  let server: Sshd;
  let account: Account;
  let proxy: Proxy;

  beforeAll(async () => {
    rig = await sshRig();
    server = await rig.sshd();
    account = await rig.account('cut');
    proxy = await proxyTo(server.port);
    await writeFile(`${rig.clientHome}/.ssh/known_hosts`, `[127.0.0.1]:${proxy.port} ${server.keys[0]}\n`);
  });
  afterAll(async () => {
    proxy?.close();
    await rig?.end();
  });

  const open = (timeoutMs = 8000): Promise<SshHost> =>
    openSshHost({ ...rig.options(server, account, { timeoutMs }), port: proxy.port });

  /** What a step of the patch engine does with one file. */
  const replace = async (host: SshHost, path: string): Promise<void> => {
    await host.createFile(`${path}.new`, Buffer.from(newText), 0o644);
    await host.rename(`${path}.new`, path);
  };

  it('while it opens: a finding at every byte, no hang', async () => {
    const before = proxy.sent();
    await (await open()).close();
    const bytes = proxy.sent() - before;
    const steps = isFull ? 40 : 10;
    for (let i = 0; i < steps; i++) {
      proxy.failAfter(Math.floor((bytes * i) / steps), i % 2 === 0 ? 'close' : 'reset');
      const error: unknown = await open(3000).then(
        (host) => host.close().then(() => null),
        (thrown: unknown) => thrown,
      );
      proxy.heal();
      if (error === null) continue;
      expect(error).toBeInstanceOf(CompatError);
      expect((error as CompatError).details.finding).toMatch(/^SSH_(UNREACHABLE|CUT)$/);
    }
  });

  it('in the middle of a write: all old or all new, and nothing beside it', async () => {
    const path = `${account.home}/target`;
    await writeFile(path, oldText);
    const whole = await open();
    const before = proxy.sent();
    await replace(whole, path);
    const bytes = proxy.sent() - before;
    await whole.close();
    expect(await readFile(path, 'utf8')).toBe(newText);
    const steps = isFull ? 60 : 14;
    const seen = { old: 0, new: 0 };
    for (let i = 0; i <= steps; i++) {
      await writeFile(path, oldText);
      const host = await open();
      proxy.failAfter(Math.floor((bytes * i) / steps), i % 3 === 0 ? 'reset' : 'close');
      const started = Date.now();
      const error: unknown = await replace(host, path).then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(Date.now() - started).toBeLessThan(4000);
      proxy.heal();
      await host.close();
      if (error !== null) {
        expect(error).toBeInstanceOf(FileError);
        expect((error as FileError).code).toBe('cut');
        expect((error as FileError).cause).toMatchObject({ details: { finding: 'SSH_CUT' } });
      }
      // What the host had begun when the line went is finished, or undone, by the host itself.
      for (let n = 0; n < 40 && rig.processes(account).some((line) => line.includes('sh -s')); n++)
        await sleep(50);
      const text = await readFile(path, 'utf8');
      expect([oldText, newText]).toContain(text);
      seen[text === oldText ? 'old' : 'new']++;
      const left = (await readdir(account.home)).filter((name) => name.startsWith('target.'));
      for (const name of left) expect(await readFile(`${account.home}/${name}`, 'utf8')).toBe(newText);
      await rig.remove(account, left);
    }
    expect(seen.old).toBeGreaterThan(3);
    expect(seen.new).toBeGreaterThan(0);
  });

  it('while a command runs, a tunnel is open, or several wait', async () => {
    const host = await open();
    const waiting = [
      host.run(['sleep', '30'], { timeoutMs: 60_000 }),
      host.run(['sleep', '1']),
      host.run(['echo']),
      host.readFile('/etc/passwd'),
      host.connect('127.0.0.1', server.port).then(
        (stream) =>
          new Promise((_, reject) => {
            stream.on('error', () => {});
            stream.once('close', () => reject(new Error('closed')));
          }),
      ),
    ];
    const settled = Promise.allSettled(waiting);
    await sleep(300);
    proxy.failAfter(0, 'reset');
    await Promise.race([host.run(['echo']).catch(() => null), sleep(500)]);
    const results = await Promise.race([settled, sleep(5000)]);
    expect(results, 'no hang').toBeDefined();
    expect((results as PromiseSettledResult<unknown>[])[0]).toMatchObject({
      status: 'rejected',
      reason: { details: { finding: 'SSH_CUT' } },
    });
    proxy.heal();
    await expect(host.run(['echo'])).rejects.toMatchObject({ details: { finding: 'SSH_CUT' } });
    await expect(host.connect('127.0.0.1', 1)).rejects.toMatchObject({ details: { finding: 'SSH_CUT' } });
    await expect(host.stat('/')).rejects.toMatchObject({ code: 'cut' });
    await host.close();
  });

  it('a line that falls silent: the deadline counts', async () => {
    const host = await open();
    proxy.failAfter(0, 'stall');
    const started = Date.now();
    const result = await host.run(['echo'], { timeoutMs: 500 });
    expect(result).toMatchObject({ timedOut: true, code: null });
    await host.close();
    expect(Date.now() - started).toBeLessThan(8000);
    proxy.heal();
  });
});

describe.runIf(canRunSshd)('an interruption', () => {
  it('ends what runs, and leaves the connection for taking things back', async () => {
    const rig = await sshRig();
    try {
      const [server, account] = [await rig.sshd(), await rig.account('interrupted')];
      for (const systemSsh of [false, true]) {
        const stop = new AbortController();
        const host = await openSshHost(rig.options(server, account, { signal: stop.signal, systemSsh }));
        const running = host.run(['sleep', '68'], { signal: stop.signal });
        setTimeout(() => stop.abort(), 200);
        expect((await running).code).toBeNull();
        expect((await host.run(['echo', 'still here'])).stdout.toString()).toBe('still here\n');
        await host.close();
        expect(rig.processes(account).filter((line) => line.includes('sleep 68'))).toEqual([]);
      }
    } finally {
      await rig.end();
    }
  });

  it('many requests with one signal leave no listeners behind', async () => {
    const rig = await sshRig();
    try {
      const [server, account] = [await rig.sshd(), await rig.account('listeners')];
      const stop = new AbortController();
      const warnings: string[] = [];
      const hear = (warning: Error): void => void warnings.push(warning.message);
      process.on('warning', hear);
      const host = await openSshHost(rig.options(server, account, { signal: stop.signal }));
      for (let i = 0; i < 30; i++) await host.run(['true'], { signal: stop.signal });
      await host.close();
      await sleep(10);
      process.off('warning', hear);
      expect(warnings).toEqual([]);
    } finally {
      await rig.end();
    }
  });
});
