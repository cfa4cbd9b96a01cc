import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseFrame, parseRecords } from '../../src/engine/frame.ts';
import { gather, gatherScript } from '../../src/engine/gather.ts';
import { locate } from '../../src/engine/locate.ts';
import { localHost } from '../../src/host/local.ts';
import type { Host } from '../../src/host/types.ts';
import { bsdTools, withoutProc } from '../support/bsd-tools.ts';
import { type Box, makeBox, makeVenv } from './trees.ts';

const script = gatherScript();
let box: Box;
beforeEach(async () => {
  box = await makeBox();
});
afterEach(() => box.remove());

/** The command line of a shell, if this machine has it. */
function installed([name = '', ...options]: string[]): string[][] {
  for (const folder of (process.env['PATH'] ?? '').split(':')) {
    const path = name.startsWith('/') ? name : join(folder, name);
    if (existsSync(path)) return [[path, ...options]];
  }
  return [];
}
const shells = [
  ['/bin/sh'],
  ['dash'],
  ['bash', '--posix'],
  ['busybox', 'sh'],
  ['mksh'],
  ['ksh'],
  ['yash'],
  ['zsh', '--emulate', 'sh'],
].flatMap(installed);

/** What the script says about this box, without clocks and other processes. */
function facts(output: Buffer): unknown {
  const frame = parseFrame(output, 'n');
  const records = parseRecords(`${frame?.sections.get('records')}\n${frame?.sections.get('slow')}`);
  const mine = (fields: string[]): boolean => fields.join('\t').includes(box.path());
  // Engines that start and end elsewhere on this machine meanwhile may take numbers before ours.
  const numbers = (kind: string): (string | undefined)[] =>
    (records.get(kind) ?? []).filter(mine).map(([number]) => number);
  const named = (kind: string): string[][] | undefined =>
    records
      .get(kind)
      ?.filter(mine)
      .map(([, ...fields]) => fields);
  const [ourHome = ''] = numbers('homedir');
  return {
    complete: frame?.complete,
    noise: frame?.noise,
    looked: records.get('looked')?.filter(mine),
    install: named('install'),
    flag: records
      .get('flag')
      ?.filter(([index]) => numbers('install').includes(index))
      .map(([, ...fields]) => fields),
    dist: records.get('dist')?.filter(mine),
    missing: records.get('missing')?.filter(mine),
    homedir: named('homedir'),
    homefact: records
      .get('homefact')
      ?.filter(([number, key]) => number === ourHome && key !== 'env-token')
      .map(([, ...fields]) => fields),
    config: frame?.sections.get(`config.${ourHome}`),
    code: frame?.sections
      .get('code')
      ?.split('\n')
      .filter((line) => line.startsWith(box.path())),
    sha256: frame?.sections
      .get('sha256')
      ?.split('\n')
      .filter((line) => line.includes(box.path())),
    record: frame?.sections
      .get('record')
      ?.split('\n')
      .filter((line) => line.startsWith(box.path())),
  };
}

const tokenOf = (output: Buffer): string | undefined =>
  parseRecords(parseFrame(output, 'n')?.sections.get('records') ?? '')
    .get('homefact')
    ?.find(([, key]) => key === 'env-token')?.[2];

describe('every shell says the same', () => {
  it.each(shells.map((argv) => [argv.join(' '), argv] as const))(
    '%s',
    { timeout: 150_000 },
    async (_, argv) => {
      const venv = await makeVenv(box, 'a venv');
      await box.write(join(box.bin, 'hermes'), `#!/bin/sh\nexec "${venv}/bin/hermes" -p x "$@"\n`, 0o755);
      await symlink('/bin/sh', join(box.bin, 'hermesx'));
      await box.write(
        join(box.home, '.hermes/config.yaml'),
        'plugins:\n  enabled:\n    - a\n_config_version: 3\n',
      );
      await box.write(
        join(box.home, '.hermes/.env'),
        "HERMES_DASHBOARD_SESSION_TOKEN='a b' # x\nHERMES_WEB_DIST=/x\n",
      );
      const host = localHost({
        path: `${box.bin}:/usr/local/bin:/usr/bin:/bin`,
        home: box.home,
        platform: process.platform,
      });
      const run = async (shell: string[]) =>
        host.run([...shell, '-s', '--', 'n', venv, '', '', '9', 'hash,git'], {
          stdin: script,
          // What a busy machine does not end in time says nothing about the shell.
          timeoutMs: 70_000,
        });
      const result = await run(argv);
      expect(result.timedOut).toBe(false);
      expect(result.stderr.toString()).toBe('');
      expect(facts(result.stdout)).toEqual(facts((await run(['/bin/sh'])).stdout));
      // A shell whose printf is a program would show the token in its arguments: there it is only said to be set.
      expect(tokenOf(result.stdout)).toMatch(/^(c8687a08|set)$/);
      if (/\/(sh|dash|bash)$/.test(argv[0] as string)) expect(tokenOf(result.stdout)).toBe('c8687a08');
      expect(facts(result.stdout)).toMatchObject({ complete: true, noise: '', install: [expect.anything()] });
    },
  );

  it.runIf(process.getuid?.() === 0 && existsSync('/usr/bin/unshare'))(
    'and with the tools of a Mac, without /proc',
    { timeout: 150_000 },
    async () => {
      const venv = await makeVenv(box, 'a venv');
      await box.write(join(box.home, '.hermes/config.yaml'), 'plugins:\n  enabled:\n    - a\n');
      const tools = await bsdTools(box.path('mac'));
      const path = `${box.bin}:/usr/bin:/bin`;
      const host = localHost({ path, home: box.home, platform: process.platform });
      const run = (shell: string[], env: Record<string, string>) =>
        host.run([...shell, '-s', '--', 'n', venv, '', '', '9', 'hash,git'], {
          stdin: script,
          env,
          timeoutMs: 70_000,
        });
      const mac = await run([...withoutProc(box.path('mac')), '/bin/bash', '--posix'], {
        PATH: `${box.bin}:${tools}`,
      });
      expect([mac.stderr.toString(), mac.timedOut]).toEqual(['', false]);
      const records = parseRecords(parseFrame(mac.stdout, 'n')?.sections.get('records') ?? '');
      expect(records.get('host')?.[0]?.[0]).toBe('Darwin');
      expect(records.get('tools')?.[0]).toEqual(expect.arrayContaining(['procfs=no', 'stat=bsd']));
      const said: unknown = JSON.parse(JSON.stringify(facts(mac.stdout)).replaceAll(tools, '/usr/bin:/bin'));
      expect(said).toEqual(facts((await run(['/bin/sh'], {})).stdout));
      expect(facts(mac.stdout)).toMatchObject({ complete: true, install: [expect.anything()] });
    },
  );

  it('more than one shell was there to compare', () => expect(shells.length).toBeGreaterThan(1));
});

describe('a host that gets in the way', () => {
  const ask = { path: null, home: null, profile: null, port: null, env: {}, timeoutMs: 20_000 };
  const hostWith = (change: (text: string, args: string[]) => string[], stdin?: string): Host => {
    const real = localHost({ path: '/usr/bin:/bin', home: box.home, platform: process.platform });
    return {
      ...real,
      script: (text, args = [], options = {}) =>
        real.run(change(text, [...args]), { ...options, stdin: stdin ?? text }),
    };
  };

  it('a banner and noise from start-up files is a note, not a fault', async () => {
    const host = hostWith((_, args) => [
      '/bin/sh',
      '-c',
      'echo "Welcome \u001B[31m!"; echo; exec /bin/sh -s -- "$@"',
      'x',
      ...args,
    ]);
    const found = await locate(host, ask);
    expect(found.host.notes).toEqual([{ code: 'STDOUT_NOISE', text: 'Welcome  [31m!' }]);
    expect(found.host).toMatchObject({ partial: false, os: process.platform });
    expect(found.host.looked.length).toBeGreaterThan(5);
  });

  it.runIf(existsSync('/proc/self/stat'))(
    'a crowd of shells that only name an engine: no engine is missed for them',
    async () => {
      const crowd = Array.from({ length: 45 }, () =>
        spawn('/bin/sh', ['-c', 'read -r line', '/opt/python', 'hermes', 'dashboard'], {
          stdio: ['pipe', 'ignore', 'ignore'],
        }),
      );
      try {
        await Promise.all(crowd.map((child) => once(child, 'spawn')));
        const host = localHost({ path: '/usr/bin:/bin', home: box.home, platform: process.platform });
        const found = await locate(host, { ...ask, timeoutMs: 50_000 });
        expect(found.host.notes.map(({ code }) => code)).not.toContain('too-many-processes');
        const pids = new Set(crowd.map(({ pid }) => pid));
        expect(found.processes.filter(({ pid }) => pids.has(pid))).toEqual([]);
      } finally {
        for (const child of crowd) child.kill();
      }
    },
  );

  it('an account without a shell', async () => {
    const host = hostWith(() => ['/bin/sh', '-c', 'echo This account is currently not available.; exit 1']);
    const found = await locate(host, ask);
    expect(found.host).toMatchObject({
      partial: true,
      home: null,
      notes: [{ code: 'SHELL_UNUSABLE', text: 'This account is currently not available.' }],
      user: expect.any(String),
    });
    expect(found.installs).toEqual([]);
  });

  it('a connection that is cut, at any byte: partial, nothing invented', async () => {
    const venv = await makeVenv(box, 'venv');
    const whole = await box.locate({ path: venv });
    const real = localHost({ path: '/usr/bin:/bin', home: box.home, platform: process.platform });
    for (const part of [0.02, 0.1, 0.4, 0.7, 0.99]) {
      const host: Host = {
        ...real,
        async script(...all) {
          const result = await real.script(...all);
          return {
            ...result,
            code: null,
            stdout: result.stdout.subarray(0, Math.floor(result.stdout.length * part)),
          };
        },
      };
      const found = await locate(host, { ...ask, path: venv });
      expect(found.host.partial).toBe(true);
      expect(found.host.notes.map(({ code }) => code)).toContain('GATHER_CUT');
      for (const install of found.installs) expect(whole.installs.map(({ id }) => id)).toContain(install.id);
    }
  });

  it('a script that was cut runs nothing at all', async () => {
    const host = hostWith((_, args) => ['/bin/sh', '-s', '--', ...args], script.slice(0, script.length - 40));
    expect((await gather(host, ask)).notes[0]?.code).toBe('SHELL_UNUSABLE');
  });

  it('a shell that never answers ends with the deadline', async () => {
    const host = hostWith(() => ['/bin/sh', '-c', 'sleep 60']);
    const begun = performance.now();
    const found = await locate(host, { ...ask, timeoutMs: 300 });
    expect(performance.now() - begun).toBeLessThan(3000);
    expect(found.host.partial).toBe(true);
  });
});

it('hostile names stay data', async () => {
  const venv = await makeVenv(box, 'a $(touch pwned) `touch pwned` "b" \\n venv');
  await box.write(join(box.home, '.hermes/plugins/a\tb\nc/plugin.yaml'), '');
  const found = await box.locate({
    path: venv,
    home: join(box.home, '.hermes'),
    env: { UV_TOOL_DIR: "'; touch pwned; '", HERMES_INSTALL_DIR: '-n' },
  });
  expect(found.host.chosen?.install).toBe(join(venv, 'lib/python3.11/site-packages'));
  expect(found.host.partial).toBe(false);
  expect(found.host.home?.otherPlugins).toEqual(['?']);
});
