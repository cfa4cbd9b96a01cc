import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { openSshHost } from '../../src/host/ssh/open.ts';
import type { SshHost, SshOptions } from '../../src/host/ssh/types.ts';
import { proxyTo } from '../support/proxy.ts';
import { type Account, canRunSshd, finding, has, type Rig, type Sshd, sshRig } from '../support/sshd.ts';

describe.runIf(canRunSshd && existsSync('/usr/bin/ssh'))('the ssh program', () => {
  let rig: Rig;
  let server: Sshd;
  let account: Account;
  let known: string;
  let tmp: string;

  beforeAll(async () => {
    rig = await sshRig();
    tmp = join(rig.dir, 'tmp');
    mkdirSync(tmp);
    server = await rig.sshd();
    account = await rig.account('system');
    known = join(rig.clientHome, '.ssh/known_hosts');
  });
  afterAll(async () => {
    const left = readdirSync(tmp);
    await rig?.end();
    expect(left).toEqual([]);
  });

  const options = (at: Sshd = server, more: Partial<SshOptions> = {}): SshOptions => {
    const made = rig.options(at, account, { systemSsh: true, ...more });
    return { ...made, local: { ...made.local, env: { ...made.local.env, TMPDIR: tmp } } };
  };

  it('tells host keys apart: unknown, recorded when asked, changed, revoked', async () => {
    const fresh = await rig.sshd();
    const saved = await readFile(known, 'utf8');
    const other = execFileSync('ssh-keygen', ['-y', '-f', rig.keygen('sys-former')], {
      encoding: 'utf8',
    }).trim();
    await writeFile(known, '');
    expect(await finding(openSshHost(options(fresh)))).toBe('SSH_HOSTKEY_UNKNOWN');
    expect(await readFile(known, 'utf8')).toBe('');
    expect(await finding(openSshHost(options(fresh, { acceptNewHostKey: true })))).toBe('opened');
    expect(await readFile(known, 'utf8')).toContain(fresh.keys[0]);
    await writeFile(known, `[127.0.0.1]:${fresh.port} ${other}\n`);
    for (const acceptNewHostKey of [false, true])
      expect(await finding(openSshHost(options(fresh, { acceptNewHostKey })))).toBe('SSH_HOSTKEY_CHANGED');
    await writeFile(known, `@revoked * ${fresh.keys[0]}\n`);
    expect(await finding(openSshHost(options(fresh)))).toBe('SSH_HOSTKEY_REVOKED');
    await writeFile(known, saved);
  });

  it('does what ssh2 cannot: host certificates', async () => {
    const ca = rig.keygen('ca');
    const base = join(rig.dir, 'certified');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', base]);
    execFileSync('ssh-keygen', ['-q', '-s', ca, '-I', 'host', '-h', '-n', '127.0.0.1', `${base}.pub`]);
    const certified = await rig.sshd([`HostKey ${base}`, `HostCertificate ${base}-cert.pub`]);
    await writeFile(
      known,
      `@cert-authority * ${await readFile(`${ca}.pub`, 'utf8')}${server.keys.map((key) => `[127.0.0.1]:${server.port} ${key}`).join('\n')}\n`,
    );
    expect(await finding(openSshHost(options(certified)))).toBe('opened');
    expect(await finding(openSshHost(options(certified, { systemSsh: false })))).toBe(
      'SSH_NEEDS_SYSTEM_CLIENT',
    );
  });

  it('refused login, silent and closed ports, a broken configuration', async () => {
    const configFile = join(rig.dir, 'stranger');
    await writeFile(
      configFile,
      `UserKnownHostsFile ${known}\nIdentityFile ${rig.keygen('sys-stranger')}\nIdentitiesOnly yes\n`,
    );
    const refused: unknown = await openSshHost(options(server, { configFile })).catch(
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({
      details: { finding: 'SSH_AUTH_FAILED', args: { offered: 'publickey' } },
    });
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { port: number };
    const started = Date.now();
    expect(await finding(openSshHost(options({ port } as Sshd, { timeoutMs: 1000 })))).toBe(
      'SSH_UNREACHABLE',
    );
    expect(Date.now() - started).toBeLessThan(4000);
    silent.close();
    expect(await finding(openSshHost(options({ port } as Sshd)))).toBe('SSH_UNREACHABLE');
    await writeFile(configFile, 'NoSuchDirective yes\n');
    expect(await finding(openSshHost(options(server, { configFile })))).toBe('usage');
  });

  it('says so where there is no ssh program', async () => {
    const bare = options();
    bare.local = { ...bare.local, env: { PATH: '/nonexistent' } };
    expect(await finding(openSshHost(bare))).toBe('SSH_NEEDS_SYSTEM_CLIENT');
  });

  it.runIf(has('/usr/bin/nc'))(
    'what the configuration would run besides is not run; ProxyCommand is',
    async () => {
      const configFile = join(rig.dir, 'busy');
      await writeFile(
        configFile,
        [
          'Host goal',
          '  HostName 127.0.0.1',
          `  Port ${server.port}`,
          `  ProxyCommand sh -c 'touch ${rig.dir}/ran-proxy; exec nc %h %p'`,
          '  PermitLocalCommand yes',
          `  LocalCommand touch ${rig.dir}/ran-local`,
          `  RemoteCommand touch ${rig.dir}/ran-remote`,
          '  RequestTTY force',
          '  LocalForward 127.0.0.1:1 127.0.0.1:2',
          '  SendEnv HERMES_*',
          `  UserKnownHostsFile ${known}`,
          `  IdentityFile ${rig.clientHome}/.ssh/id_ed25519`,
          '',
        ].join('\n'),
      );
      const host = await openSshHost({ ...options(server, { configFile }), address: 'goal', port: null });
      expect((await host.run(['echo', 'well'])).stdout.toString()).toBe('well\n');
      await host.close();
      expect(['proxy', 'local', 'remote'].map((name) => existsSync(`${rig.dir}/ran-${name}`))).toEqual([
        true,
        false,
        false,
      ]);
    },
  );

  it('where tunnels are forbidden, a program on the host carries the bytes', async () => {
    const strict = await rig.sshd(['AllowTcpForwarding no']);
    const echo = createServer((socket) => socket.pipe(socket));
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
    const host = await openSshHost(options(strict));
    const stream = await host.connect('127.0.0.1', (echo.address() as { port: number }).port);
    stream.end('there and back');
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString()).toBe('there and back');
    expect(host.notes).toMatchObject([{ code: 'SSH_FORWARD_FORBIDDEN' }]);
    await host.close();
    echo.close();
  });

  it('uses a master connection that the person has, and leaves it', async () => {
    const configFile = join(rig.dir, 'mastered');
    const own = await readFile(join(rig.clientHome, '.ssh/config'), 'utf8');
    await writeFile(configFile, `ControlPath ${rig.dir}/own-master\n${own}`);
    const master = spawn(
      'ssh',
      ['-F', configFile, '-N', '-M', '-l', account.name, '-p', String(server.port), '127.0.0.1'],
      { stdio: 'ignore' },
    );
    while (!existsSync(`${rig.dir}/own-master`)) await sleep(50);
    const logged = server.logs().length;
    const host = await openSshHost(options(server, { configFile }));
    expect((await host.run(['echo', 'well'])).stdout.toString()).toBe('well\n');
    await expect(host.connect('127.0.0.1', 1)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await host.close();
    expect(server.logs().slice(logged)).not.toContain('Accepted');
    expect(master.exitCode).toBeNull();
    master.kill();
  });

  it('a cut line: a finding, no hang, and no second connection behind our back', async () => {
    const proxy = await proxyTo(server.port);
    await writeFile(known, `[127.0.0.1]:${proxy.port} ${server.keys[0]}\n`, { flag: 'a' });
    const host: SshHost = await openSshHost({ ...options(), port: proxy.port });
    const running = host.run(['sleep', '30'], { timeoutMs: 60_000 }).catch((error: unknown) => error);
    await sleep(300);
    proxy.failAfter(0, 'reset');
    void host.run(['true']).catch(() => null);
    expect(await Promise.race([running, sleep(5000)])).toMatchObject({ details: { finding: 'SSH_CUT' } });
    proxy.heal();
    const logged = server.logs().length;
    expect(await host.run(['true']).catch((error: unknown) => error)).toMatchObject({
      details: { finding: 'SSH_CUT' },
    });
    expect(server.logs().slice(logged)).not.toContain('Accepted');
    await host.close();
    proxy.close();
  });

  it('arguments of the program show the address and nothing of what is run', async () => {
    const host = await openSshHost(options());
    const running = host.script('secret_of_ours=canary-ours; sleep 1', ['canary-ours-arg'], {
      env: { TOKEN: 'canary-ours-env' },
    });
    await sleep(400);
    const lines = execFileSync('ps', ['axeww', '-o', 'args='], { encoding: 'utf8', maxBuffer: 1e8 });
    expect(lines).toContain(`-S ${tmp}/hermes-compat-`);
    const seen = lines.split('\n').filter((line) => line.includes('canary-ours'));
    // The command itself has the environment that it was given; that is asked for. Nobody else has it.
    expect(seen.filter((line) => !line.startsWith('sleep 1 '))).toEqual([]);
    await running;
    await host.close();
    expect(readFileSync('/proc/self/cmdline', 'utf8')).not.toContain('canary-ours');
  });
});
