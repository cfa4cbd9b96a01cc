import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { readConfig, splitWords } from '../../src/host/ssh/config-file.ts';
import { configValues } from '../../src/host/ssh/config-values.ts';
import { parseJumps, resolveRoute } from '../../src/host/ssh/settings.ts';
import type { SshOptions } from '../../src/host/ssh/types.ts';

const hasSsh = existsSync('/usr/bin/ssh');
let dir: string;
let count = 0;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hc-config-'));
  await mkdir(join(dir, '.ssh'));
});
afterAll(() => rm(dir, { recursive: true, maxRetries: 5 }));

const write = async (text: string): Promise<string> => {
  const path = join(dir, `config-${++count}`);
  await writeFile(path, text);
  return path;
};
const options = (configFile: string, more: Partial<SshOptions> = {}): SshOptions => ({
  address: 'box',
  local: { home: dir, user: 'me', env: { PATH: process.env['PATH'], HC_DIR: dir } },
  configFile,
  ...more,
});
const route = async (text: string, more: Partial<SshOptions> = {}) =>
  resolveRoute(options(await write(text), more));
/** A PATH without an ssh program. */
const noSsh = { local: { home: '', user: 'me', env: { PATH: '/nonexistent' } } };

const same: Record<string, string> = {
  'first value wins': 'Host box\n Port 1\n Port 2\nHost *\n Port 3\n User all\n',
  'equals signs, quotes, comments, case': 'hOST=box\n\tport = 44 # not the end\nuser "joe"\n#Port 1\n',
  'patterns and negation': 'Host b?x !box\n Port 1\nHost *x,y\n Port 2\nHost !other *\n Port 3\n',
  'Match all': 'Match all\n Port 7\n',
  'Match host and user': 'User joe\nMatch host box user joe\n Port 7\nMatch !host box\n User no\n',
  'Match host after HostName': 'HostName real\nMatch host real\n Port 8\nMatch originalhost box\n User o\n',
  'Match final': 'Host box\n HostName real\nMatch final host real\n Port 9\n',
  'HostName with a token': 'HostName %h.example.org\n',
  'identity files add up':
    'IdentityFile /a\nIdentityFile "/b c"\nIdentityFile /a\nHost box\n IdentityFile /d/%h/%r/%p/%n/%%\n',
  'ProxyJump first': 'ProxyJump a,u@b:3\nProxyCommand none\n',
  'ProxyCommand first': 'ProxyCommand none\nProxyJump a\n',
  'include in a block': 'Host box\n Include inc\nHost *\n Port 5\n',
  'include in a block that does not match': 'Host other\n Include inc\nHost *\n Port 5\n',
  'include by pattern': 'Include inc.d/*.conf\nPort 5\n',
};

describe.runIf(hasSsh)('a configuration read by us gives what ssh -G gives', () => {
  beforeAll(async () => {
    await writeFile(join(dir, '.ssh/inc'), 'Port 6\nHost box\n User inner\nHost zzz\n User nobody\n');
    await mkdir(join(dir, '.ssh/inc.d'));
    await writeFile(join(dir, '.ssh/inc.d/b.conf'), 'User second\n');
    await writeFile(join(dir, '.ssh/inc.d/a.conf'), 'Host box\nUser first\n');
    await writeFile(join(dir, '.ssh/inc.d/c.txt'), 'Port 1\n');
  });

  for (const [label, text] of Object.entries(same)) {
    it(label, async () => {
      // ssh takes ~ from the passwd entry: both sides get absolute Include paths.
      const path = await write(text.replaceAll(/Include (\S+)/g, `Include ${dir}/.ssh/$1`));
      const ask = (...args: string[]): string =>
        execFileSync('ssh', ['-T', '-G', '-F', path, ...args], {
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'ignore'],
        });
      const printed = ask('-l', 'me', 'box');
      const free = ask('box');
      const lines = await readConfig(path, join(dir, '.ssh'), dir);
      const { values } = configValues(lines, { host: 'box', user: null, localUser: 'root' });
      const of = (output: string, key: string): string[] =>
        output
          .split('\n')
          .flatMap((line) => (line.startsWith(`${key} `) ? [line.slice(key.length + 1)] : []));
      for (const key of ['port', 'proxyjump']) {
        const ours = (values.get(key) ?? []).filter((value) => value !== 'none');
        expect([key, ours]).toEqual([
          key,
          of(free, key).filter((value) => value !== '22' || ours.length > 0),
        ]);
      }
      if (values.has('user')) expect(of(free, 'user')).toEqual(values.get('user'));
      if (values.has('identityfile')) expect(of(free, 'identityfile')).toEqual(values.get('identityfile'));
      const { hops } = await resolveRoute(options(path, { user: 'me', ...noSsh })).catch(() => ({
        hops: [],
      }));
      const last = hops.at(-1);
      if (last !== undefined) expect(last.hostName).toBe(of(printed, 'hostname')[0]);
    });
  }
});

describe('words of a line', () => {
  const cases: [string, string[]][] = [
    ['a  b\tc', ['a', 'b', 'c']],
    ['"a b" c', ['a b', 'c']],
    [`'a "b"' "c 'd'"`, ['a "b"', "c 'd'"]],
    [String.raw`"a \"b\"" c\ d`, ['a "b"', 'c d']],
    ['a #b c', ['a']],
    ['a#b', ['a#b']],
    ['""', ['']],
    ['"open', ['open']],
  ];
  for (const [text, words] of cases) it(text, () => expect(splitWords(text)).toEqual(words));
});

describe('what would run a program', () => {
  const marker = (name: string): string => join(dir, `ran-${name}`);

  it('Match exec that cannot apply is no obstacle, and is not run', async () => {
    const text = `Match host other exec "touch ${marker('a')}"\n HostName wrong\nHost *\n HostName right\n`;
    const { hops } = await route(text);
    expect(hops.map(({ hostName }) => hostName)).toEqual(['right']);
    expect(existsSync(marker('a'))).toBe(false);
  });

  it('Match exec that decides whom to reach stops us, wherever it hides', async () => {
    const include = join(dir, 'included');
    await writeFile(include, `Match exec "touch ${marker('b')}"\n HostName elsewhere\n`);
    for (const text of [
      `Match exec "touch ${marker('b')}"\n HostName elsewhere\n`,
      `MATCH = host box EXEC 'touch ${marker('b')}'\n Port 3\n`,
      `Match !exec "touch ${marker('b')}"\n ProxyJump x\n`,
      `Match exec="touch ${marker('b')}"\n User x\n`,
      `Host box\n Include ${include}\n`,
    ]) {
      await expect(route(text), text).rejects.toMatchObject({
        kind: 'unchecked',
        details: { finding: 'SSH_CONFIG_UNSUPPORTED', args: { directive: 'Match exec' } },
      });
    }
    expect(existsSync(marker('b'))).toBe(false);
  });

  it('Match exec that only picks a key is passed over, and said', async () => {
    const text = `Match host box exec "touch ${marker('c')}"\n IdentityFile /special\nHost *\n HostName right\n`;
    const { hops, notes } = await route(text);
    expect(hops[0]).toMatchObject({ hostName: 'right' });
    expect(hops[0]?.identityFiles).not.toContain('/special');
    expect(notes).toMatchObject([
      { code: 'SSH_CONFIG_UNSUPPORTED', args: { directive: 'Match exec', line: 1 } },
    ]);
    expect(existsSync(marker('c'))).toBe(false);
  });

  it.runIf(hasSsh)('runs when that was allowed', async () => {
    const text = `Match exec "touch ${marker('d')}"\n HostName elsewhere\n`;
    const { hops } = await route(text, { allowConfigExec: true });
    expect(hops[0]?.hostName).toBe('elsewhere');
    expect(existsSync(marker('d'))).toBe(true);
  });

  it('ProxyCommand stops us; allowed, it is ours to run', async () => {
    const text = 'User joe\nPort 44\nProxyCommand nc -X "a b" %h %p %r %%\n';
    await expect(route(text)).rejects.toMatchObject({
      details: { finding: 'SSH_CONFIG_UNSUPPORTED', args: { directive: 'ProxyCommand' } },
    });
    const { hops } = await route(text, { allowConfigExec: true });
    expect(hops[0]?.proxyCommand).toBe('nc -X "a b" box 44 joe %');
    expect((await route('ProxyCommand none\n')).hops[0]?.proxyCommand).toBeNull();
  });
});

describe('settings', () => {
  it('reads what is needed, tokens and home replaced', async () => {
    const text = [
      'Host box',
      '  HostName real.example.org',
      '  Port 2222',
      '  User joe',
      '  IdentityFile ~/.ssh/%r@%h',
      '  IdentityFile ${HC_DIR}/key',
      '  IdentitiesOnly yes',
      '  IdentityAgent $HC_DIR',
      '  HostKeyAlias alias',
      '  UserKnownHostsFile ~/a "~/b c"',
      '  GlobalKnownHostsFile none',
      '  ConnectTimeout 7',
      '  AddressFamily inet6',
      '  BatchMode yes',
      '  PasswordAuthentication no',
      '  HashKnownHosts yes',
    ].join('\n');
    for (const path of [process.env['PATH'], '/nonexistent']) {
      const local = { ...options('').local, env: { PATH: path, HC_DIR: dir } };
      const { hops, notes } = await route(text, { local });
      expect(hops).toMatchObject([
        {
          hostName: 'real.example.org',
          port: 2222,
          user: 'joe',
          hostKeyAlias: 'alias',
          identityFiles: [`${dir}/.ssh/joe@real.example.org`, `${dir}/key`],
          identitiesOnly: true,
          agent: dir,
          userKnownHostsFiles: [`${dir}/a`, `${dir}/b c`],
          globalKnownHostsFiles: [],
          connectTimeoutMs: 7000,
          family: 6,
          mayAsk: false,
          methods: ['publickey', 'keyboard-interactive'],
          hashKnownHosts: true,
        },
      ]);
      expect(notes).toEqual([]);
    }
  });

  it('what the command line says wins', async () => {
    const { hops } = await route('User joe\nPort 1\n', { user: 'me2', port: 99 });
    expect(hops[0]).toMatchObject({ user: 'me2', port: 99 });
  });

  it('names what it cannot honour', async () => {
    const text =
      'CertificateFile /c\nPKCS11Provider /p\nGSSAPIAuthentication yes\nStrictHostKeyChecking no\nKnownHostsCommand /bin/x\nForwardAgent yes\nControlMaster auto\n';
    const { notes } = await route(text);
    expect(notes.map(({ args }) => args['directive'])).toEqual([
      'certificatefile',
      'pkcs11provider',
      'gssapiauthentication',
      'stricthostkeychecking',
      'knownhostscommand',
    ]);
  });

  it('revoked keys in a file of their own need the system client', async () => {
    await expect(route('RevokedHostKeys /etc/revoked\n')).rejects.toMatchObject({
      details: { finding: 'SSH_NEEDS_SYSTEM_CLIENT' },
    });
  });

  it('goes through jump hosts, each with its own settings, in order', async () => {
    const text =
      'Host box\n ProxyJump joe@one:11,two\nHost one\n ProxyJump zero\n Port 1\nHost two\n User deux\n Port 22\n';
    const { hops } = await route(text, { local: { home: dir, user: 'me', env: { PATH: '/nonexistent' } } });
    expect(hops.map(({ user, hostName, port }) => `${user}@${hostName}:${port}`)).toEqual([
      'me@zero:22',
      'joe@one:11',
      'deux@two:22',
      'me@box:22',
    ]);
  });

  it('jumps in a circle end', async () => {
    await expect(
      route('Host box\n ProxyJump a\nHost a\n ProxyJump b\nHost b\n ProxyJump a\n'),
    ).rejects.toMatchObject({
      kind: 'usage',
    });
  });

  it('jump names that are options are refused', async () => {
    await expect(route('ProxyJump -oProxyCommand=x\n')).rejects.toMatchObject({ kind: 'usage' });
    expect(parseJumps('ssh://u@[::1]:33/,h')).toEqual([
      { host: '::1', user: 'u', port: 33 },
      { host: 'h', user: null, port: null },
    ]);
  });

  it.runIf(hasSsh)('a broken configuration is a usage error', async () => {
    await expect(route('NoSuchDirective yes\n')).rejects.toMatchObject({ kind: 'usage' });
  });
});
