import { execFileSync } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { CompatError } from '../../src/errors.ts';
import { openSshHost } from '../../src/host/ssh/open.ts';
import type { SshOptions } from '../../src/host/ssh/types.ts';
import { type Account, canRunSshd, finding, type Rig, type Sshd, sshRig } from '../support/sshd.ts';

describe.runIf(canRunSshd)('host keys', () => {
  let rig: Rig;
  let server: Sshd;
  let account: Account;
  let known: string;

  beforeAll(async () => {
    rig = await sshRig();
    server = await rig.sshd([], { hostKeys: ['ed25519', 'ecdsa', 'rsa'] });
    account = await rig.account('keys');
    known = join(rig.clientHome, '.ssh/known_hosts');
  });
  afterAll(() => rig?.end());
  beforeEach(() => writeFile(known, ''));

  const keyOf = (type: string): string => server.keys.find((key) => key.startsWith(type)) as string;
  const where = (): string => `[127.0.0.1]:${server.port}`;
  const opens = async (more: Partial<SshOptions> = {}): Promise<string> => {
    const logged = server.logs().length;
    const outcome = await finding(openSshHost(rig.options(server, account, more)));
    // What the server saw: no login was even begun.
    if (outcome !== 'opened')
      expect(server.logs().slice(logged)).not.toMatch(/(?:Accepted|Failed|Postponed|Partial) [\w-]+ for/);
    return outcome;
  };

  it('known: opens, whatever type is known', async () => {
    for (const type of ['ssh-ed25519', 'ecdsa', 'ssh-rsa']) {
      await writeFile(known, `${where()} ${keyOf(type)}\n`);
      expect(await opens(), type).toBe('opened');
    }
  });

  it('known by a hashed name', async () => {
    await writeFile(known, `${where()} ${keyOf('ssh-ed25519')}\n`);
    execFileSync('ssh-keygen', ['-q', '-H', '-f', known], { stdio: 'ignore' });
    expect(await readFile(known, 'utf8')).toMatch(/^\|1\|/);
    expect(await opens()).toBe('opened');
  });

  it('known by pattern, in a list, without the port, or in the second file', async () => {
    const key = keyOf('ssh-ed25519');
    for (const names of [`other,${where()}`, '*', '[127.*]:*', '127.0.0.1']) {
      await writeFile(known, `# comment\n\nbroken line\n${names} ${key} a comment`);
      expect(await opens(), names).toBe('opened');
    }
    await writeFile(known, `!${where()},!127.0.0.1,* ${key}\n`);
    expect(await opens()).toBe('SSH_HOSTKEY_UNKNOWN');
    const second = join(rig.dir, 'known 2');
    const config = join(rig.dir, 'two-files');
    await writeFile(second, `${where()} ${key}\n`);
    await writeFile(
      config,
      `UserKnownHostsFile ${known} "${second}"\nGlobalKnownHostsFile none\nIdentityFile ${rig.clientHome}/.ssh/id_ed25519\n`,
    );
    await writeFile(known, '');
    expect(await opens({ configFile: config })).toBe('opened');
  });

  it('unknown: refused with the fingerprint that ssh-keygen prints; recorded only when asked', async () => {
    const error: unknown = await openSshHost(rig.options(server, account)).catch((thrown: unknown) => thrown);
    const [, printed] = execFileSync('ssh-keygen', ['-l', '-f', '-'], {
      input: keyOf('ssh-ed25519'),
      encoding: 'utf8',
    }).split(' ');
    expect(error).toMatchObject({
      kind: 'unchecked',
      details: { finding: 'SSH_HOSTKEY_UNKNOWN', args: { type: 'ssh-ed25519', fingerprint: printed } },
    });
    expect((error as Error).message).toContain(printed);
    expect(await readFile(known, 'utf8')).toBe('');
    await writeFile(known, 'other ssh-ed25519 AAAA');
    expect(await opens({ acceptNewHostKey: true })).toBe('opened');
    expect(await readFile(known, 'utf8')).toBe(
      `other ssh-ed25519 AAAA\n${where()} ${keyOf('ssh-ed25519')}\n`,
    );
    expect(await opens()).toBe('opened');
  });

  it('recorded under a hashed name where the configuration wants that, and ssh finds it', async () => {
    const config = join(rig.dir, 'hashing');
    await writeFile(
      config,
      `HashKnownHosts yes\n${await readFile(join(rig.clientHome, '.ssh/config'), 'utf8')}`,
    );
    expect(await opens({ configFile: config, acceptNewHostKey: true })).toBe('opened');
    expect(await readFile(known, 'utf8')).toMatch(/^\|1\|\S+\|\S+ ssh-ed25519 /);
    const found = execFileSync('ssh-keygen', ['-F', where(), '-f', known], { encoding: 'utf8' });
    expect(found).toContain(keyOf('ssh-ed25519').split(' ')[1]);
  });

  it('another type is known: unknown, and said', async () => {
    const old = execFileSync('ssh-keygen', ['-y', '-f', rig.keygen('other-host')], {
      encoding: 'utf8',
    }).trim();
    const onlyRsa = await rig.sshd([], { hostKeys: ['rsa'] });
    await writeFile(known, `[127.0.0.1]:${onlyRsa.port} ${old}\n`);
    const error: unknown = await openSshHost(rig.options(onlyRsa, account)).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({
      details: { finding: 'SSH_HOSTKEY_UNKNOWN', args: { type: 'ssh-rsa', known: 'ssh-ed25519' } },
    });
  });

  it('changed: a hard stop, also with --accept-new-host-key', async () => {
    const old = execFileSync('ssh-keygen', ['-y', '-f', rig.keygen('former')], { encoding: 'utf8' }).trim();
    const line = `${where()} ${old}\n`;
    await writeFile(known, line);
    expect(await opens()).toBe('SSH_HOSTKEY_CHANGED');
    expect(await opens({ acceptNewHostKey: true })).toBe('SSH_HOSTKEY_CHANGED');
    expect(await readFile(known, 'utf8')).toBe(line);
  });

  it('revoked: a hard stop, also where the key is known', async () => {
    const key = keyOf('ssh-ed25519');
    await writeFile(known, `${where()} ${key}\n@revoked * ${key}\n`);
    expect(await opens({ acceptNewHostKey: true })).toBe('SSH_HOSTKEY_REVOKED');
  });

  it('trusted through a certificate authority only: the system client is named', async () => {
    await writeFile(known, `@cert-authority * ${keyOf('ecdsa')}\n`);
    expect(await opens()).toBe('SSH_NEEDS_SYSTEM_CLIENT');
    await writeFile(known, `@cert-authority * ${keyOf('ecdsa')}\n${where()} ${keyOf('ssh-ed25519')}\n`);
    expect(await opens()).toBe('opened');
  });

  it('HostKeyAlias is looked up without the port', async () => {
    const config = join(rig.dir, 'alias');
    await writeFile(
      config,
      `HostKeyAlias box\n${await readFile(join(rig.clientHome, '.ssh/config'), 'utf8')}`,
    );
    await writeFile(known, `box ${keyOf('ssh-ed25519')}\n`);
    expect(await opens({ configFile: config })).toBe('opened');
  });
});

describe('servers that are none', () => {
  const local = { home: '/nonexistent', user: 'nobody', env: {} };
  const listen = async (onSocket: (socket: Socket) => void): Promise<{ port: number; close(): void }> => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      onSocket(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { port: (server.address() as { port: number }).port, close: () => server.close() };
  };
  const cases: [string, (socket: Socket) => void][] = [
    ['silent', () => {}],
    ['closing', (socket) => socket.end()],
    ['HTTP', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['a flood', (socket) => void socket.write('x'.repeat(2_000_000))],
    ['SSH that says no more', (socket) => void socket.write('SSH-2.0-x\r\n')],
    ['full', (socket) => socket.end('Exceeded MaxStartups\r\n')],
  ];
  for (const [label, onSocket] of cases) {
    it(`${label}: unreachable, in time`, async () => {
      const server = await listen(onSocket);
      const started = Date.now();
      const options = {
        address: '127.0.0.1',
        port: server.port,
        local,
        configFile: '/dev/null',
        timeoutMs: 700,
      };
      expect(await finding(openSshHost(options))).toBe('SSH_UNREACHABLE');
      expect(Date.now() - started).toBeLessThan(3000);
      server.close();
    });
  }

  it('a closed port and a name that does not exist', async () => {
    const base = { local, configFile: '/dev/null', timeoutMs: 3000 };
    const server = await listen(() => {});
    server.close();
    expect(await finding(openSshHost({ ...base, address: '127.0.0.1', port: server.port }))).toBe(
      'SSH_UNREACHABLE',
    );
    expect(await finding(openSshHost({ ...base, address: 'no-such-host.invalid' }))).toBe('SSH_UNREACHABLE');
  });

  it('names that are options or shell text are refused before anything runs', async () => {
    const bad: Partial<SshOptions>[] = [
      { address: '-oProxyCommand=x' },
      { address: 'a;b' },
      { address: 'a b' },
      { address: '' },
      { address: 'a', user: '-l' },
      { address: 'a', user: 'a b' },
      { address: 'a', user: '$(id)' },
      { address: 'a', port: 0 },
      { address: 'a', become: 'root;id' },
      { address: 'a', become: '-u' },
    ];
    for (const part of bad) {
      const options = { local, configFile: '/dev/null', ...part } as SshOptions;
      await expect(openSshHost(options), JSON.stringify(part)).rejects.toMatchObject({ kind: 'usage' });
    }
  });
});

describe.runIf(canRunSshd)('logging in', () => {
  let rig: Rig;
  let server: Sshd;
  let account: Account;

  beforeAll(async () => {
    rig = await sshRig();
    server = await rig.sshd();
    account = await rig.account('login');
  });
  afterAll(() => rig?.end());

  const config = async (name: string, ...lines: string[]): Promise<string> => {
    const path = join(rig.dir, `config-${name}`);
    const known = `UserKnownHostsFile ${rig.clientHome}/.ssh/known_hosts`;
    await writeFile(path, ['GlobalKnownHostsFile none', known, ...lines, ''].join('\n'));
    return path;
  };
  const thrown = (
    options: SshOptions,
  ): Promise<{ details: { finding: string; args: Record<string, unknown> } }> =>
    openSshHost(options).then(
      (host) => host.close().then(() => expect.fail('it opened')),
      (error: unknown) => error as never,
    );

  it('wrong user and wrong key: what was tried and what the server offers', async () => {
    const stranger = rig.keygen('stranger');
    const wrongKey = await thrown(
      rig.options(server, account, { configFile: await config('stranger', `IdentityFile ${stranger}`) }),
    );
    expect(wrongKey.details).toMatchObject({
      finding: 'SSH_AUTH_FAILED',
      args: { tried: `key ${stranger}`, offered: 'publickey', partial: false },
    });
    const wrongUser = await thrown(rig.options(server, account, { user: 'hc-nobody-of-that-name' }));
    expect(wrongUser.details.finding).toBe('SSH_AUTH_FAILED');
  });

  it('a key that others may read is not used, and that is said', async () => {
    const path = rig.keygen('open-to-all');
    execFileSync('chmod', ['644', path]);
    const error = await thrown(
      rig.options(server, account, { configFile: await config('perm', `IdentityFile ${path}`) }),
    );
    expect(error.details).toMatchObject({
      finding: 'SSH_AUTH_FAILED',
      args: { tried: '', refused: `${path} (permissions)` },
    });
  });

  it('an encrypted key: its own finding without an answer, opens with the passphrase', async () => {
    const path = rig.keygen('locked', ['-N', 'open sesame']);
    const text = await readFile(`${path}.pub`, 'utf8');
    await writeFile(join(account.home, '.ssh/authorized_keys'), text, { flag: 'a' });
    const configFile = await config('locked', `IdentityFile ${path}`);
    const error = await thrown(rig.options(server, account, { configFile }));
    expect(error.details).toMatchObject({ finding: 'SSH_KEY_ENCRYPTED', args: { key: path } });
    const asked: string[] = [];
    const questions = {
      passphrase: async (file: string) => {
        asked.push(file);
        return 'open sesame';
      },
    };
    const host = await openSshHost(rig.options(server, account, { configFile, questions }));
    await host.close();
    expect(asked).toEqual([path]);
    const wrong = await thrown(
      rig.options(server, account, { configFile, questions: { passphrase: async () => 'wrong' } }),
    );
    expect(wrong.details.finding).toBe('SSH_KEY_ENCRYPTED');
    expect(JSON.stringify(wrong)).not.toContain('open sesame');
  });

  it('every kind of key file that can be used', async () => {
    for (const [name, args] of [
      ['rsa', ['-t', 'rsa']],
      ['ecdsa', ['-t', 'ecdsa']],
      ['pem', ['-t', 'rsa', '-m', 'PEM']],
    ] as const) {
      const path = join(rig.clientHome, '.ssh', `kind-${name}`);
      execFileSync('ssh-keygen', ['-q', ...args, '-N', '', '-f', path]);
      await writeFile(join(account.home, '.ssh/authorized_keys'), await readFile(`${path}.pub`), {
        flag: 'a',
      });
      const configFile = await config(name, `IdentityFile ${path}`);
      expect(await finding(openSshHost(rig.options(server, account, { configFile }))), name).toBe('opened');
    }
  });

  it('too many keys: said as such', async () => {
    const keys = Array.from({ length: 8 }, (_, i) => `IdentityFile ${rig.keygen(`many${i}`)}`);
    const error = await thrown(rig.options(server, account, { configFile: await config('many', ...keys) }));
    expect(error.details.finding).toBe('SSH_AUTH_FAILED');
    expect((error as unknown as Error).message).toMatch(/many/);
  });

  it('an agent: its keys, only those named where that is asked, and none there', async () => {
    const key = rig.keygen('in-agent');
    await writeFile(join(account.home, '.ssh/authorized_keys'), await readFile(`${key}.pub`), { flag: 'a' });
    const agent = await rig.agent([rig.keygen('first-in-agent'), key]);
    const configFile = await config('agent', 'IdentityFile none', `IdentityAgent ${agent}`);
    expect(await finding(openSshHost(rig.options(server, account, { configFile })))).toBe('opened');
    const fromEnv = rig.options(server, account, {
      configFile: await config('env-agent', 'IdentityFile none'),
    });
    fromEnv.local.env = { ...fromEnv.local.env, SSH_AUTH_SOCK: agent };
    expect(await finding(openSshHost(fromEnv))).toBe('opened');
    // Only the public half of the named key is on disk.
    const half = join(rig.dir, 'half');
    await writeFile(`${half}.pub`, await readFile(`${key}.pub`));
    const named = await config(
      'named',
      `IdentityFile ${half}`,
      'IdentitiesOnly yes',
      `IdentityAgent ${agent}`,
    );
    const host = await openSshHost(rig.options(server, account, { configFile: named }));
    await host.close();
    const other = await config(
      'other',
      `IdentityFile ${rig.keygen('unnamed')}`,
      'IdentitiesOnly yes',
      `IdentityAgent ${agent}`,
    );
    const refused = await thrown(rig.options(server, account, { configFile: other }));
    expect(refused.details.args['tried']).not.toContain('in-agent');
    const gone = await config('gone', 'IdentityFile none', `IdentityAgent ${rig.dir}/no-agent`);
    expect((await thrown(rig.options(server, account, { configFile: gone }))).details.finding).toBe(
      'SSH_AGENT_MISSING',
    );
  });

  it('password, wrong password, and both factors', async () => {
    const guarded = await rig.sshd(['PasswordAuthentication yes', 'MaxAuthTries 6']);
    const both = await rig.sshd(['PasswordAuthentication yes', 'AuthenticationMethods publickey,password']);
    const person = await rig.account('person', { password: 'pass wörd' });
    const none = await config('none', 'IdentityFile none');
    const password = (text: string | null) => ({ password: async () => text });
    const ask = (s: Sshd, configFile: string, text: string | null): SshOptions =>
      rig.options(s, person, { configFile, questions: password(text) });
    const own = join(rig.clientHome, '.ssh/config');
    expect(await finding(openSshHost(ask(guarded, none, 'pass wörd')))).toBe('opened');
    const wrong = await thrown(ask(guarded, none, 'secret guess'));
    expect(wrong.details).toMatchObject({
      finding: 'SSH_AUTH_FAILED',
      args: { tried: 'password', offered: 'publickey, password', partial: false },
    });
    expect(JSON.stringify(wrong) + String((wrong as unknown as Error).stack)).not.toContain('secret guess');
    expect((await thrown(ask(guarded, none, null))).details.args['tried']).toBe('');
    expect(await finding(openSshHost(ask(both, own, 'pass wörd')))).toBe('opened');
    expect((await thrown(ask(both, own, null))).details).toMatchObject({
      finding: 'SSH_AUTH_FAILED',
      args: { partial: true, offered: 'password' },
    });
    const agent = await rig.agent([join(rig.clientHome, '.ssh/id_ed25519')]);
    const agentOnly = await config('agent-2fa', 'IdentityFile none', `IdentityAgent ${agent}`);
    expect(await finding(openSshHost(ask(both, agentOnly, 'pass wörd')))).toBe('opened');
  });

  it('a dialogue: the password is given, another question goes to the person', async () => {
    const dialogue = await rig.sshd(['UsePAM yes', 'KbdInteractiveAuthentication yes']);
    const person = await rig.account('talker', { password: 'tell me' });
    const none = await config('none2', 'IdentityFile none');
    const options = rig.options(dialogue, person, {
      configFile: none,
      questions: { password: async () => 'tell me' },
    });
    expect(await finding(openSshHost(options))).toBe('opened');
    const silent = await thrown(rig.options(dialogue, person, { configFile: none }));
    expect(silent.details).toMatchObject({ finding: 'SSH_AUTH_FAILED', args: { unanswered: 'Password:' } });
  });

  it('a server with other algorithms: the system client is named', async () => {
    const modern = await rig.sshd(['KexAlgorithms sntrup761x25519-sha512@openssh.com']);
    const error = await thrown(rig.options(modern, account));
    expect(error.details.finding).toBe('SSH_KEX_MISMATCH');
  });

  it('waits while a person types, and not for a server', async () => {
    const guarded = await rig.sshd(['PasswordAuthentication yes']);
    const person = await rig.account('typist', { password: 'slow' });
    const questions = {
      password: () => new Promise<string>((resolve) => setTimeout(() => resolve('slow'), 1500)),
    };
    const options = rig.options(guarded, person, {
      configFile: await config('none3', 'IdentityFile none'),
      questions,
      timeoutMs: 1000,
    });
    expect(await finding(openSshHost(options))).toBe('opened');
  });

  it('ends when a question ends in an error, such as Ctrl-C at a prompt', async () => {
    const guarded = await rig.sshd(['PasswordAuthentication yes']);
    const configFile = await config('none4', 'IdentityFile none');
    const questions = { password: () => Promise.reject(new CompatError('interrupted', 'at the prompt')) };
    const error: unknown = await openSshHost(rig.options(guarded, account, { configFile, questions })).catch(
      (caught: unknown) => caught,
    );
    expect(error).toMatchObject({ kind: 'interrupted', message: 'at the prompt' });
  });

  it('is interrupted when asked', async () => {
    const stop = new AbortController();
    const server = createServer(() => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    setTimeout(() => stop.abort(), 200);
    const { port } = server.address() as { port: number };
    const error: unknown = await openSshHost({
      ...rig.options({ port } as Sshd, account),
      signal: stop.signal,
      timeoutMs: 20_000,
    }).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ kind: 'interrupted' });
    server.close();
  });

  it('leaves the client files as they were', async () => {
    expect((await stat(join(rig.clientHome, '.ssh/id_ed25519'))).mode & 0o777).toBe(0o600);
  });
});
