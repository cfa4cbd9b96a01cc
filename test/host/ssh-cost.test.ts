import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { openSshHost } from '../../src/host/ssh/open.ts';
import type { SshHost } from '../../src/host/ssh/types.ts';
import { type Proxy, proxyTo } from '../support/proxy.ts';
import { type Account, canRunSshd, type Rig, type Sshd, sshRig } from '../support/sshd.ts';

const delayMs = 50;

/** Dependent round trips, as DESIGN §7 counts them: what the delay adds, divided by the round trip. */
describe.runIf(canRunSshd)('the cost of a slow line', () => {
  let rig: Rig;
  let server: Sshd;
  let account: Account;
  let slow: Proxy;
  let http: Server;
  let port: number;

  beforeAll(async () => {
    rig = await sshRig();
    server = await rig.sshd();
    account = await rig.account('cost');
    slow = await proxyTo(server.port, delayMs);
    await writeFile(
      `${rig.clientHome}/.ssh/known_hosts`,
      [slow.port, server.port].map((at) => `[127.0.0.1]:${at} ${server.keys[0]}\n`).join(''),
    );
    http = createServer((_asked, answer) => answer.end('x'));
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    port = (http.address() as { port: number }).port;
  });
  afterAll(async () => {
    http?.close();
    slow?.close();
    await rig?.end();
  });

  const open = (at: number): Promise<SshHost> => openSshHost({ ...rig.options(server, account), port: at });
  const timed = async (action: () => Promise<unknown>): Promise<number> => {
    const started = performance.now();
    await action();
    return performance.now() - started;
  };
  /** Least of three: a busy machine only ever adds. */
  const trips = async (action: (host: SshHost) => Promise<unknown>): Promise<number> => {
    const least = async (at: number): Promise<number> => {
      const times: number[] = [];
      for (let i = 0; i < 3; i++) {
        const host = await open(at);
        times.push(await timed(() => action(host)));
        await host.close();
      }
      return Math.min(...times);
    };
    return ((await least(slow.port)) - (await least(server.port))) / (2 * delayMs);
  };

  it('identity costs nothing, a command one round trip, many at once one', async () => {
    expect(await trips((host) => host.identity())).toBeLessThan(0.6);
    expect(await trips((host) => host.script('uname -a'))).toBeLessThan(1.9);
    const files = (host: SshHost): Promise<unknown> =>
      Promise.all([
        host.readFile('/etc/passwd'),
        host.stat('/etc'),
        host.readdir('/etc/ssh'),
        host.realpath('/bin'),
        host.script('id; uname'),
        host.run(['true']),
      ]);
    expect(await trips(files)).toBeLessThan(2.6);
  });

  it('a new file in place of an old one costs two, a tunnel with a request two', async () => {
    const replace = async (host: SshHost): Promise<void> => {
      const path = `${account.home}/f`;
      await host.createFile(`${path}.new`, Buffer.alloc(20_000), 0o644);
      await host.rename(`${path}.new`, path);
    };
    expect(await trips(replace)).toBeLessThan(3.6);
    const get = async (host: SshHost): Promise<void> => {
      const stream = await host.connect('127.0.0.1', port);
      stream.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      for await (const _ of stream);
    };
    expect(await trips(get)).toBeLessThan(3.6);
  });

  it('what a whole look at a host needs stays within eight after the login', async () => {
    const look = async (at: number): Promise<number> => {
      const times: number[] = [];
      for (let i = 0; i < 3; i++) {
        let ready = 0;
        const started = performance.now();
        const host = await openSshHost({
          ...rig.options(server, account),
          port: at,
          onReady: () => (ready = performance.now() - started),
        });
        await host.script('ls /proc | head -50; id');
        await Promise.all([
          host.stat('/etc'),
          host.readFile('/etc/hostname'),
          host.connect('127.0.0.1', port),
        ]);
        const stream = await host.connect('127.0.0.1', port);
        stream.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
        for await (const _ of stream);
        times.push(performance.now() - started - ready);
        await host.close();
      }
      return Math.min(...times);
    };
    const needed = ((await look(slow.port)) - (await look(server.port))) / (2 * delayMs);
    expect(needed).toBeLessThan(8);
  });
});
