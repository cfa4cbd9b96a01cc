import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type CliResult, document, runCli } from '../support/cli.ts';
import { type Account, canRunSshd, has, type Rig, type Sshd, sshRig } from '../support/sshd.ts';
import { isFull } from '../support/full.ts';

// What a person meets who names a host, by the built program: one finding for each cause, and nothing done that was not asked for.

interface Finding {
  code: string;
  severity: string;
  args: Record<string, unknown>;
}
interface Report {
  target: { name: string };
  verdict: string;
  exitCode: number;
  findings: Finding[];
}

describe('names that no host has', () => {
  it.each(
    [
      ['ssh://-oProxyCommand=touch%20ran/'],
      ['ssh://$(touch ran)/'],
      ['ssh://host;touch ran/'],
      ['ssh://-l@host/'],
      ['ssh://a b@host/'],
      ['ssh://`touch ran`@host/'],
      ['ssh://user:secret-word@host/'],
      ['ssh://host:0/'],
      ['ssh://host:22x/'],
      ['ssh:///root'],
      ['host|touch ran'],
      ['--', '-oProxyCommand=touch ran'],
      ['host', '--become', 'root; touch ran'],
      ['host', '--become', '-u'],
      ['host', '--home', 'not/absolute'],
    ]
      .filter((_, index) => isFull || index % 3 === 0)
      .map((words) => [words] as const),
  )('%j: exit 2, nothing is run', async (words) => {
    const before = existsSync('ran');
    const result = await runCli(['doctor', ...words]);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(/^hermes-compat: /);
    expect(result.stderr).not.toContain('secret-word');
    expect(existsSync('ran')).toBe(before);
  });
});

describe.skipIf(!canRunSshd)('hosts', () => {
  let rig: Rig;
  let main: Sshd;
  let plain: Account;
  let silent: Server;
  let configFile: string;
  const blocks: string[] = [];
  const ssh = (name: string): string => join(rig.clientHome, '.ssh', name);

  /** An alias: where it leads, as whom, and what else its block says. */
  const host = (alias: string, at: number, user: string, ...lines: string[]): string => {
    const known = lines.some((line) => line.startsWith('UserKnownHostsFile'))
      ? []
      : [`UserKnownHostsFile ${ssh('known_hosts')}`];
    const key = lines.some((line) => line.startsWith('IdentityFile'))
      ? []
      : [`IdentityFile ${ssh('id_ed25519')}`];
    const all = ['HostName 127.0.0.1', `Port ${at}`, `User ${user}`, ...known, ...key, ...lines];
    blocks.push(`Host ${alias}\n${all.map((line) => `  ${line}\n`).join('')}`);
    return alias;
  };
  const writeConfig = (): Promise<void> =>
    writeFile(configFile, `${blocks.join('')}Host *\n  GlobalKnownHostsFile /dev/null\n`);
  const doctor = (words: string[], env: Record<string, string> = {}): Promise<CliResult> =>
    runCli(['doctor', ...words, '--ssh-config', configFile], {
      env: { HOME: rig.clientHome, ...env },
      timeoutMs: 120_000,
    });
  const reports = (result: CliResult): Map<string, Report> => {
    const all = document<{ reports?: Report[] } & Report>(result);
    return new Map(
      (all.reports ?? [all]).map((report) => [report.target.name.slice('ssh://'.length), report]),
    );
  };
  const errors = (report: Report | undefined): string =>
    (report?.findings ?? [])
      .filter(({ severity }) => severity === 'error')
      .map(({ code }) => code)
      .join(' ');
  const argsOf = (report: Report | undefined, code: string): Record<string, unknown> =>
    report?.findings.find((finding) => finding.code === code)?.args ?? {};

  beforeAll(async () => {
    rig = await sshRig();
    configFile = join(rig.dir, 'config');
    main = await rig.sshd(['MaxStartups 200']);
    plain = await rig.account('plain');
    silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    silent?.close();
    await rig?.end();
  });

  it(
    'host keys: known, hashed, unknown, changed, revoked; nothing is sent before',
    { timeout: 180_000 },
    async () => {
      const where = `[127.0.0.1]:${main.port}`;
      const [key = ''] = main.keys;
      const other = (await readFile(`${rig.keygen('former')}.pub`, 'utf8')).trim();
      const known: [string, string, string][] = [
        ['hashed', `${where} ${key}\n`, 'INSTALL_NOT_FOUND'],
        ['unknown', '', 'SSH_HOSTKEY_UNKNOWN'],
        ['changed', `${where} ${other}\n`, 'SSH_HOSTKEY_CHANGED'],
        ['revoked', `${where} ${key}\n@revoked * ${key}\n`, 'SSH_HOSTKEY_REVOKED'],
      ];
      for (const [name, text] of known) {
        await writeFile(ssh(name), text);
        host(name, main.port, plain.name, `UserKnownHostsFile ${ssh(name)}`);
      }
      execFileSync('ssh-keygen', ['-q', '-H', '-f', ssh('hashed')], { stdio: 'ignore' });
      await writeConfig();
      for (const way of [[], ['--ssh-command']]) {
        const logged = main.logs().length;
        const result = await doctor([...known.map(([name]) => name), '--json', ...way]);
        expect(result.code, result.stderr).toBe(3);
        const seen = reports(result);
        expect([...seen].map(([name, report]) => [name, report.verdict, errors(report)])).toEqual(
          known.map(([name, , code]) => [name, 'unknown', code]),
        );
        const log = main.logs().slice(logged);
        const logins = [...log.matchAll(/(?:Accepted|Failed|Postponed|Partial) .* port (\d+)/g)];
        expect(new Set(logins.map(([, port]) => port)).size).toBe(1);
        expect(log).toContain('Accepted publickey for');
        expect(await readFile(ssh('unknown'), 'utf8')).toBe('');
      }
      const human = await doctor(['unknown']);
      const print =
        execFileSync('ssh-keygen', ['-l', '-f', '-'], { input: key, encoding: 'utf8' }).split(' ')[1] ?? '';
      expect(human.stdout).toContain(print);
      expect(human.stdout).toContain('--accept-new-host-key');
      const accepted = reports(
        await doctor(['unknown', 'changed', 'revoked', '--accept-new-host-key', '--json']),
      );
      expect([...accepted.values()].map(errors)).toEqual([
        'INSTALL_NOT_FOUND',
        'SSH_HOSTKEY_CHANGED',
        'SSH_HOSTKEY_REVOKED',
      ]);
      expect(await readFile(ssh('unknown'), 'utf8')).toBe(`${where} ${key}\n`);
      expect(await readFile(ssh('changed'), 'utf8')).toBe(`${where} ${other}\n`);
    },
  );

  it(
    'logins: wrong user, key, password, half of two factors, locked and open keys',
    { timeout: 180_000 },
    async () => {
      const [guarded, both] = await Promise.all([
        rig.sshd(['PasswordAuthentication yes', 'MaxStartups 200']),
        rig.sshd([
          'PasswordAuthentication yes',
          'AuthenticationMethods publickey,password',
          'MaxStartups 200',
        ]),
      ]);
      const person = await rig.account('person', { password: 'canary right word' });
      const stranger = rig.keygen('stranger');
      const open = rig.keygen('readable');
      const locked = rig.keygen('locked', ['-N', 'canary phrase']);
      execFileSync('chmod', ['644', open]);
      const keys = join(plain.home, '.ssh/authorized_keys');
      await writeFile(keys, await readFile(`${locked}.pub`), { flag: 'a' });
      await writeFile(keys, await readFile(`${open}.pub`), { flag: 'a' });
      const dead = join(rig.dir, 'no-agent');
      const rows: [string, string, Record<string, unknown>][] = [
        [host('wrong-user', main.port, 'hc-no-such-account'), 'SSH_AUTH_FAILED', { offered: 'publickey' }],
        [
          host('wrong-key', main.port, plain.name, `IdentityFile ${stranger}`),
          'SSH_AUTH_FAILED',
          { tried: `key ${stranger}`, offered: 'publickey', partial: false },
        ],
        [
          host('readable-key', main.port, plain.name, `IdentityFile ${open}`),
          'SSH_AUTH_FAILED',
          { tried: '', refused: `${open} (permissions)` },
        ],
        [
          host('locked-key', main.port, plain.name, `IdentityFile ${locked}`),
          'SSH_KEY_ENCRYPTED',
          { key: locked },
        ],
        [
          host('no-password', guarded.port, person.name, 'IdentityFile none'),
          'SSH_AUTH_FAILED',
          { tried: '', offered: 'publickey, password' },
        ],
        [host('half', both.port, person.name), 'SSH_AUTH_FAILED', { partial: true, offered: 'password' }],
        [
          host('agent-gone', main.port, plain.name, 'IdentityFile none', `IdentityAgent ${dead}`),
          'SSH_AGENT_MISSING',
          {},
        ],
      ];
      await writeConfig();
      const names = rows.map(([name]) => name);
      const seen = await doctor([...names, '--json']);
      expect(seen.code, seen.stderr).toBe(3);
      const all = reports(seen);
      for (const [name, code, args] of rows) {
        expect(errors(all.get(name)), name).toBe(code);
        expect(argsOf(all.get(name), code), name).toMatchObject(args);
      }
      const words = (await doctor(names)).stdout;
      expect(words).toContain('accepted the first step');
      expect(words).toMatch(/others may read it/);

      // The secret is for all of one run, so each has its file.
      const secret = join(rig.dir, 'secret');
      for (const [text, expected] of [
        [
          'canary right word',
          {
            'no-password': 'INSTALL_NOT_FOUND',
            half: 'INSTALL_NOT_FOUND',
            'locked-key': 'SSH_KEY_ENCRYPTED',
          },
        ],
        [
          'canary phrase',
          { 'no-password': 'SSH_AUTH_FAILED', half: 'SSH_AUTH_FAILED', 'locked-key': 'INSTALL_NOT_FOUND' },
        ],
      ] as const) {
        await writeFile(secret, `${text}\n`, { mode: 0o600 });
        const result = await doctor([...Object.keys(expected), '--ssh-password-file', secret, '--json']);
        expect(
          Object.fromEntries([...reports(result)].map(([name, report]) => [name, errors(report)])),
        ).toEqual(expected);
        expect(result.stdout + result.stderr + main.logs() + guarded.logs()).not.toContain('canary');
      }
      await writeFile(secret, 'canary phrase\n');
      expect((await doctor(['locked-key', '--ssh-password-file', `${secret}-gone`])).code).toBe(2);
      expect((await doctor(['locked-key', '--ssh-password-env', 'NOT_SET'])).code).toBe(2);
      // The same through the ssh program.
      for (const [text, name, code] of [
        ['canary right word', 'no-password', 'INSTALL_NOT_FOUND'],
        ['canary right word', 'half', 'INSTALL_NOT_FOUND'],
        ['canary phrase', 'locked-key', 'INSTALL_NOT_FOUND'],
        ['canary wrong', 'half', 'SSH_AUTH_FAILED'],
      ] as const) {
        const result = await doctor([name, '--ssh-command', '--ssh-password-env', 'WORD', '--json'], {
          WORD: text,
        });
        expect(errors(reports(result).get(name)), `${name} ${text}`).toBe(code);
        expect(result.stdout + result.stderr).not.toContain('canary');
      }
    },
  );

  it('accounts: which work, and what is said of those that do not', { timeout: 180_000 }, async () => {
    const [noSftp, noTunnels, single] = await Promise.all([
      rig.sshd(['MaxStartups 200'], { sftp: false }),
      rig.sshd(['AllowTcpForwarding no']),
      rig.sshd(['MaxSessions 1']),
    ]);
    const filesOnly = await rig.sshd(['ForceCommand internal-sftp']);
    const account = async (
      label: string,
      shell: string,
      files: Record<string, string> = {},
    ): Promise<string> => (await rig.account(label, { shell, files })).name;
    const working = [
      host('no-sftp', noSftp.port, plain.name),
      host('no-tunnels', noTunnels.port, plain.name),
      host('single', single.port, plain.name),
      host(
        'megabytes',
        main.port,
        await account('mega', '/bin/bash', { '.bashrc': 'head -c 5000000 /dev/zero | tr "\\\\0" x; echo\n' }),
      ),
      host('reader', main.port, await account('reader', '/bin/bash', { '.bashrc': 'read -r line\n' })),
      host('dash', main.port, await account('dash', '/bin/dash')),
      ...(has('/usr/bin/fish')
        ? [
            host(
              'fish',
              main.port,
              await account('fish', '/usr/bin/fish', { '.config/fish/config.fish': 'echo Welcome\n' }),
            ),
          ]
        : []),
      ...(has('/bin/csh')
        ? [host('csh', main.port, await account('csh', '/bin/csh', { '.cshrc': 'echo Welcome\n' }))]
        : []),
      ...(has('/usr/bin/zsh')
        ? [
            host(
              'zsh',
              main.port,
              await account('zsh', '/usr/bin/zsh', { '.zshenv': 'echo Welcome; set -m\n' }),
            ),
          ]
        : []),
    ];
    const forced = await rig.account('forced');
    await writeFile(
      join(forced.home, '.ssh/authorized_keys'),
      `command="echo backup only" ${await rig.publicKey()}`,
    );
    const refusing: [string, RegExp][] = [
      [host('nologin', main.port, await account('nologin', '/usr/sbin/nologin')), /not available/],
      [host('forced', main.port, forced.name), /backup only/],
      [host('files-only', filesOnly.port, plain.name), /sftp/i],
      [host('restricted', main.port, await account('rbash', '/bin/rbash')), /restricted/],
      [host('leaves', main.port, await account('leaves', '/bin/bash', { '.bashrc': 'exit 1\n' })), /^$/],
      ...(has('/usr/bin/fish')
        ? [
            [
              host('execs', main.port, await account('execs', '/bin/bash', { '.bashrc': 'exec fish\n' })),
              /./,
            ] as [string, RegExp],
          ]
        : []),
    ];
    await writeConfig();
    const started = Date.now();
    const result = await doctor([...working, ...refusing.map(([name]) => name), '--json']);
    expect(result.code, result.stderr).toBe(3);
    expect(Date.now() - started).toBeLessThan(60_000);
    const all = reports(result);
    for (const name of working) expect(errors(all.get(name)), name).toBe('INSTALL_NOT_FOUND');
    for (const [name, said] of refusing) {
      expect(errors(all.get(name)), name).toBe('SSH_SHELL_UNUSABLE');
      expect(argsOf(all.get(name), 'SSH_SHELL_UNUSABLE')['line'], name).toMatch(said);
    }
    for (const name of working.filter((each) => ['fish', 'csh', 'zsh', 'megabytes'].includes(each)))
      expect(
        all.get(name)?.findings.map(({ code }) => code),
        name,
      ).toContain('STDOUT_NOISE');
  });

  it(
    'ways: a chain of jump hosts, silent and closed ports, and nothing run that was not allowed',
    { timeout: 180_000 },
    async () => {
      const [first, second] = [await rig.sshd(), await rig.sshd()];
      const at = (silent.address() as { port: number }).port;
      const ran = (name: string): string => join(rig.dir, `ran-${name}`);
      host('one', first.port, plain.name);
      host('two', second.port, plain.name, 'ProxyJump one');
      host('chained', main.port, plain.name, 'ProxyJump two');
      host('silent', at, plain.name, 'ConnectTimeout 1');
      host('commanded', main.port, plain.name, `ProxyCommand sh -c 'touch ${ran('proxy')}; exec nc %h %p'`);
      // What only picks a key leaves the way as it is; what decides on the way stops.
      blocks.unshift(`Match originalhost matched exec "touch ${ran('match')}"\n  Port 1\n`);
      host('matched', main.port, plain.name);
      await writeConfig();
      const names = ['chained', 'silent', 'commanded', 'matched'];
      const seen = reports(await doctor([...names, '--json']));
      expect(names.map((name) => errors(seen.get(name)))).toEqual([
        'INSTALL_NOT_FOUND',
        'SSH_UNREACHABLE',
        'SSH_CONFIG_UNSUPPORTED',
        'SSH_CONFIG_UNSUPPORTED',
      ]);
      for (const jump of [first, second])
        expect(jump.logs()).toContain(`Accepted publickey for ${plain.name}`);
      expect(['proxy', 'match'].map((name) => existsSync(ran(name)))).toEqual([false, false]);
      if (!has('/usr/bin/nc')) return;
      const allowed = reports(await doctor(['commanded', 'matched', '--allow-config-exec', '--json']));
      expect([errors(allowed.get('commanded')), errors(allowed.get('matched'))]).toEqual([
        'INSTALL_NOT_FOUND',
        'SSH_UNREACHABLE',
      ]);
      expect(['proxy', 'match'].map((name) => existsSync(ran(name)))).toEqual([true, true]);
      const system = reports(await doctor(['chained', 'silent', 'commanded', '--ssh-command', '--json']));
      expect(['chained', 'silent', 'commanded'].map((name) => errors(system.get(name)))).toEqual([
        'INSTALL_NOT_FOUND',
        'SSH_UNREACHABLE',
        'INSTALL_NOT_FOUND',
      ]);
    },
  );

  it.runIf(has('/usr/bin/nc'))(
    'a given secret is in no argument and in no environment of what we start, and in no file that is left',
    { timeout: 180_000 },
    async () => {
      const guarded = await rig.sshd(['PasswordAuthentication yes', 'LogLevel DEBUG3']);
      const person = await rig.account('secretive', { password: 'canary-of-ssh' });
      const [seen, tools, tmp] = ['seen', 'tools', 'tmp'].map((name) => join(rig.dir, name)) as [
        string,
        string,
        string,
      ];
      await Promise.all([tools, tmp].map((folder) => mkdir(folder)));
      const look = `ps axeww -o args= >>${seen}; tr '\\0' '\\n' </proc/self/environ >>${seen}`;
      await writeFile(join(tools, 'look'), `#!/bin/sh\n${look}\nexec nc "$@"\n`, { mode: 0o755 });
      // ssh's helper reads the secret with it: that very moment is looked at.
      await writeFile(join(tools, 'cat'), `#!/bin/sh\n${look}\nexec /bin/cat "$@"\n`, { mode: 0o755 });
      host('looked-at', guarded.port, person.name, 'IdentityFile none', `ProxyCommand ${tools}/look %h %p`);
      await writeConfig();
      const secrets = { WORD: 'canary-of-ssh', TOKEN: 'canary-token', HERMES_COMPAT_TOKEN: 'canary-other' };
      const given = ['--ssh-password-env', 'WORD', '--token-env', 'TOKEN', '--json'];
      for (const way of ['--allow-config-exec', '--ssh-command']) {
        await writeFile(seen, '');
        const env = { ...secrets, TMPDIR: tmp, PATH: `${tools}:/usr/local/bin:/usr/bin:/bin` };
        const result = await doctor(['looked-at', way, ...given], env);
        expect(errors(reports(result).get('looked-at')), result.stdout).toBe('INSTALL_NOT_FOUND');
        const lines = (await readFile(seen, 'utf8')).split('\n');
        expect(lines.some((line) => line.includes(`${tools}/look`))).toBe(true);
        if (way === '--ssh-command')
          expect(lines.some((line) => line.includes('SSH_ASKPASS_REQUIRE=force'))).toBe(true);
        // The program itself has the variables that it was told to read.
        const leaks = lines.filter(
          (line) =>
            Object.values(secrets).some((secret) => line.includes(secret)) &&
            !line.includes('bin/hermes-compat.js doctor'),
        );
        expect(leaks, way).toEqual([]);
        expect(result.stdout + result.stderr + guarded.logs()).not.toContain('canary');
        expect(await readdir(tmp)).toEqual([]);
      }
    },
  );

  it('shell characters in paths and options are words, not commands', { timeout: 180_000 }, async () => {
    host('words', main.port, plain.name);
    await writeConfig();
    const evil = '/tmp/$(touch ran)`touch ran`;touch ran;\'"*';
    for (const words of [[`ssh://words${evil}`], ['words', '--home', evil]]) {
      const result = await doctor([...words, '--json']);
      expect(result.code, result.stderr).toBe(3);
    }
    const named = await runCli(
      ['patch', 'apply', '--yes', '--target', 'words', '--home', evil, '--ssh-config', configFile],
      {
        env: { HOME: rig.clientHome },
      },
    );
    expect(named.code).not.toBe(0);
    for (const folder of [plain.home, process.cwd(), '/tmp', '/'])
      expect(existsSync(join(folder, 'ran'))).toBe(false);
  });
});
