import { existsSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { openSshHost } from '../../src/host/ssh/open.ts';
import type { SshHost } from '../../src/host/ssh/types.ts';
import { type Account, canRunSshd, finding, has, type Rig, type Sshd, sshRig } from '../support/sshd.ts';

/** A GET through a tunnel, as the probes do it. */
async function get(host: SshHost, port: number, size: number): Promise<number> {
  const stream = await host.connect('127.0.0.1', port);
  return new Promise((resolve, reject) => {
    const sent = request({ createConnection: () => stream, path: `/${size}` }, (answer) => {
      let total = 0;
      answer.on('data', (chunk: Buffer) => (total += chunk.length));
      answer.on('end', () => resolve(total));
    });
    sent.on('error', reject);
    sent.end();
  });
}

describe.runIf(canRunSshd)('ways to a dashboard', () => {
  let rig: Rig;
  let account: Account;
  let server: Sshd;
  let http: Server;
  let port: number;

  beforeAll(async () => {
    rig = await sshRig();
    account = await rig.account('routes');
    server = await rig.sshd();
    http = createServer((asked, answer) => answer.end(Buffer.alloc(Number(asked.url?.slice(1)))));
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    port = (http.address() as { port: number }).port;
  });
  afterAll(async () => {
    http?.closeAllConnections();
    http?.close();
    await rig?.end();
  });

  const closedPort = async (): Promise<number> => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as { port: number };
    await new Promise((resolve) => closed.close(resolve));
    return port;
  };

  it('tunnels, without a local port', async () => {
    const host = await openSshHost(rig.options(server, account));
    expect(await Promise.all([1, 1000, 3_000_000].map((size) => get(host, port, size)))).toEqual([
      1, 1000, 3_000_000,
    ]);
    expect(host.notes).toEqual([]);
    await host.close();
  });

  it('a name that the host does not know', async () => {
    const host = await openSshHost(rig.options(server, account));
    await expect(host.connect('no-such-host.invalid', 80)).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await host.close();
  });

  for (const program of ['python3', 'perl', 'nc']) {
    it.runIf(has(`/usr/bin/${program}`))(
      `where tunnels are forbidden, ${program} on the host carries the bytes`,
      async () => {
        const strict = await rig.sshd(['AllowTcpForwarding no']);
        const only = await rig.account(`only${program}`, {
          files: { '.bashrc': `PATH=$HOME/bin:$HOME/base\necho noise\n` },
        });
        for (const [folder, names] of [
          ['bin', [program]],
          ['base', ['sh', 'id', 'uname', 'env', 'sed', 'stat', 'cat', 'sleep', 'awk']],
        ] as const) {
          await mkdir(join(only.home, folder));
          for (const name of names) await symlink(`/usr/bin/${name}`, join(only.home, folder, name));
        }
        const host = await openSshHost(rig.options(strict, only));
        try {
          expect(await Promise.all([1, 1000, 1_000_000].map((size) => get(host, port, size)))).toEqual([
            1, 1000, 1_000_000,
          ]);
          expect(host.notes).toContainEqual({ code: 'SSH_FORWARD_FORBIDDEN', args: { via: program } });
          if (program !== 'nc')
            await expect(host.connect('127.0.0.1', await closedPort())).rejects.toMatchObject({
              code: 'ECONNREFUSED',
            });
        } finally {
          await host.close();
        }
        // They end with the connection, which their server notices a moment after us.
        await expect
          .poll(() => rig.processes(only).filter((line) => line.includes(program)), { timeout: 5000 })
          .toEqual([]);
      },
    );
  }

  it('where tunnels are forbidden and nothing can carry, that is the finding', async () => {
    const strict = await rig.sshd(['AllowTcpForwarding no', 'MaxSessions 1']);
    const host = await openSshHost(rig.options(strict, account));
    await expect(host.connect('127.0.0.1', port)).rejects.toMatchObject({
      kind: 'unchecked',
      details: { finding: 'SSH_FORWARD_FORBIDDEN' },
    });
    expect((await host.run(['echo', 'still'])).stdout.toString()).toBe('still\n');
    await host.close();
  });

  it('jump hosts: each is logged in to and verified, the target sees the last', async () => {
    const [first, second] = [await rig.sshd(), await rig.sshd()];
    const hops = [await rig.account('first'), await rig.account('second')];
    const base = (name: string, at: Sshd, who: Account): string =>
      `Host ${name}\n  HostName 127.0.0.1\n  Port ${at.port}\n  User ${who.name}\n`;
    const known = `  UserKnownHostsFile ${rig.clientHome}/.ssh/known_hosts\n  GlobalKnownHostsFile none\n  IdentityFile ${rig.clientHome}/.ssh/id_ed25519\n`;
    const configFile = join(rig.dir, 'jumps');
    const text =
      base('one', first, hops[0] as Account) +
      base('two', second, hops[1] as Account) +
      `${base('goal', server, account)}  ProxyJump one,two\nHost *\n${known}`;
    await writeFile(configFile, text);
    const options = {
      ...rig.options(server, account, { configFile }),
      address: 'goal',
      port: null,
      user: null,
    };
    const host = await openSshHost(options);
    expect((await host.identity()).user).toBe(account.name);
    expect((await host.run(['id', '-un'])).stdout.toString().trim()).toBe(account.name);
    expect(await get(host, port, 500_000)).toBe(500_000);
    await host.close();
    expect(first.logs()).toContain(`Accepted publickey for ${hops[0]?.name}`);
    expect(second.logs()).toContain(`Accepted publickey for ${hops[1]?.name}`);
    // A jump host that is not known stops everything behind it.
    const strange = await rig.sshd();
    await writeFile(
      join(rig.clientHome, '.ssh/known_hosts'),
      [server, first].map((s) => `[127.0.0.1]:${s.port} ${s.keys[0]}\n`).join(''),
    );
    await writeFile(configFile, text.replaceAll(String(second.port), String(strange.port)));
    const before = server.logs().length;
    expect(await finding(openSshHost(options))).toBe('SSH_HOSTKEY_UNKNOWN');
    expect(server.logs().slice(before)).toBe('');
    await server.trust();
    // What the last jump host cannot reach.
    const config = `Host one\n  HostName 127.0.0.1\n  Port ${first.port}\n  User ${hops[0]?.name}\nHost goal\n  HostName 127.0.0.1\n  Port ${await closedPort()}\n  ProxyJump one\nHost *\n${known}`;
    await writeFile(configFile, config);
    expect(await finding(openSshHost(options))).toBe('SSH_UNREACHABLE');
  });

  it('ProxyCommand, when allowed', async () => {
    const configFile = join(rig.dir, 'proxy');
    const relay = join(rig.dir, 'relay.mjs');
    await writeFile(
      relay,
      'import net from "node:net"; const s = net.connect(Number(process.argv[2]), "127.0.0.1"); process.stdin.pipe(s).pipe(process.stdout);',
    );
    await writeFile(
      configFile,
      `Host goal\n HostName 127.0.0.1\n Port ${server.port}\n ProxyCommand ${process.execPath} ${relay} %p\n IdentityFile ${rig.clientHome}/.ssh/id_ed25519\n UserKnownHostsFile ${rig.clientHome}/.ssh/known_hosts\n`,
    );
    const options = {
      ...rig.options(server, account, { configFile, allowConfigExec: true }),
      address: 'goal',
      port: null,
    };
    const host = await openSshHost(options);
    expect((await host.run(['echo', 'through'])).stdout.toString()).toBe('through\n');
    await host.close();
    expect(await finding(openSshHost({ ...options, allowConfigExec: false }))).toBe('SSH_CONFIG_UNSUPPORTED');
  });
});

describe.runIf(canRunSshd && existsSync('/usr/bin/sudo'))('acting as another account', () => {
  let rig: Rig;
  let server: Sshd;
  let owner: Account;
  beforeAll(async () => {
    rig = await sshRig();
    server = await rig.sshd();
    owner = await rig.account('owner');
  });
  afterAll(() => rig?.end());

  it('allowed: commands, files and home are those of that account', async () => {
    const login = await rig.account('admin', { shell: has('/usr/bin/fish') ? '/usr/bin/fish' : '/bin/bash' });
    await rig.sudo(login, 'ALL=(ALL) NOPASSWD: ALL');
    const host = await openSshHost(rig.options(server, login, { become: owner.name }));
    try {
      expect(await host.identity()).toMatchObject({ user: owner.name, uid: owner.uid });
      expect((await host.script('printf %s "$HOME"')).stdout.toString()).toBe(owner.home);
      expect((await host.run(['env'])).stdout.toString()).not.toContain('SUDO_');
      await host.createFile(`${owner.home}/mine`, Buffer.from('x'), 0o600);
      expect(await host.stat(`${owner.home}/mine`)).toMatchObject({ uid: owner.uid, mode: 0o600 });
      const late = await host.script('echo $$ >"$HOME/pid"; exec sleep 67', [], { timeoutMs: 400 });
      expect(late.timedOut).toBe(true);
      expect((await host.run(['echo', 'well'])).stdout.toString()).toBe('well\n');
      expect(rig.processes(owner).filter((line) => line.includes('sleep 67'))).toEqual([]);
    } finally {
      await host.close();
    }
  });

  it('refused, not there, or for another command only: one finding, nothing asked', async () => {
    const plain = await rig.account('plain');
    const asking = await rig.account('asking', { password: 'x' });
    await rig.sudo(asking, 'ALL=(ALL) ALL');
    const narrow = await rig.account('narrow');
    await rig.sudo(narrow, `ALL=(${owner.name}) NOPASSWD: /usr/bin/true`);
    for (const login of [plain, asking, narrow]) {
      const error: unknown = await openSshHost(rig.options(server, login, { become: owner.name })).catch(
        (thrown: unknown) => thrown,
      );
      expect(error, login.name).toMatchObject({
        kind: 'unchecked',
        details: {
          finding: 'SUDO_REFUSED',
          args: { user: owner.name, line: expect.stringMatching(/^sudo: |not allowed/) },
        },
      });
    }
    const admin = await rig.account('admin2');
    await rig.sudo(admin, 'ALL=(ALL) NOPASSWD: ALL');
    expect(await finding(openSshHost(rig.options(server, admin, { become: 'hc-no-such-user' })))).toBe(
      'SUDO_REFUSED',
    );
  });
});
