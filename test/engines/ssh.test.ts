import { writeFile } from 'node:fs/promises';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { openSshHost } from '../../src/host/ssh/open.ts';
import { type CliResult, document, runCli } from '../support/cli.ts';
import { type Engine, engineDir, requireEngines, sitePackages, startEngine } from '../support/engines.ts';
import { type Proxy, proxyTo } from '../support/proxy.ts';
import {
  type Account,
  type AccountOptions,
  canRunSshd,
  has,
  type Rig,
  type Sshd,
  sshRig,
} from '../support/sshd.ts';
import { treeHashes } from '../support/tree-hashes.ts';
import { isFull } from '../support/full.ts';

const versions = ['0.14.0', '0.19.0'];
const usable = (await requireEngines(...versions)) && canRunSshd;

interface Report {
  kind: 'report';
  verdict: string;
  exitCode: number;
  findings: { code: string; severity: string; args: Record<string, unknown> }[];
}

/** Accounts of uid 0, so that they reach the shared engines. */
const accounts: Record<string, AccountOptions> = {
  bash: {},
  fish: { shell: '/usr/bin/fish', files: { '.config/fish/config.fish': 'echo Welcome\n' } },
  ...(isFull
    ? {
        dash: { shell: '/bin/dash' },
        csh: { shell: '/bin/csh', files: { '.cshrc': 'echo Welcome\n' } },
        tcsh: { shell: '/bin/tcsh', files: { '.tcshrc': 'echo Welcome\n' } },
        zsh: { shell: '/usr/bin/zsh', files: { '.zshenv': 'echo Welcome; set -m\n' } },
      }
    : {}),
};

describe.skipIf(!usable)('the main job over ssh', () => {
  let rig: Rig;
  let open: Sshd;
  let strict: Sshd;
  let single: Sshd;
  const engines: Record<string, Engine> = {};
  const logins: Record<string, Account> = {};

  beforeAll(async () => {
    rig = await sshRig();
    for (const [label, options] of Object.entries(accounts))
      if (has(options.shell ?? '/bin/bash'))
        logins[label] = await rig.account(label, { ...options, root: true });
    [open, strict, single] = await Promise.all([
      rig.sshd(['PermitRootLogin yes']),
      rig.sshd(['PermitRootLogin yes', 'AllowTcpForwarding no', 'MaxSessions 10']),
      rig.sshd(['PermitRootLogin yes', 'MaxSessions 1'], { sftp: false }),
    ]);
    await Promise.all(
      versions.map(async (version) => {
        engines[version] = await startEngine({ version });
      }),
    );
  });
  afterAll(async () => {
    await Promise.all(Object.values(engines).map((engine) => engine.stop()));
    await rig?.end();
  });

  const engineOf = (version: string): Engine => engines[version] as Engine;
  const target = (account: Account, port: number): string => `ssh://${account.name}@127.0.0.1:${port}`;
  const cli = (args: string[], engine: Engine): Promise<CliResult> =>
    runCli([...args, '--ssh-config', `${rig.clientHome}/.ssh/config`, '--port', String(engine.port)], {
      env: { HOME: rig.clientHome, ...(engine.token === null ? {} : { HERMES_COMPAT_TOKEN: engine.token }) },
      timeoutMs: 120_000,
    });
  const doctor = async (name: string, engine: Engine, ...more: string[]): Promise<Report> =>
    document<Report>(await cli(['doctor', name, '--json', ...more], engine));
  const codes = ({ findings }: Report, ...without: string[]): string[] =>
    findings
      .map(({ code }) => code)
      .filter((code) => !without.includes(code))
      .toSorted();

  describe.each(versions)('%s', (version) => {
    for (const [label, { shell = '/bin/bash' }] of Object.entries(accounts)) {
      it.skipIf(!has(shell))(`${label}: the verdict of this machine`, async () => {
        const name = target(logins[label] as Account, open.port);
        const engine = engineOf(version);
        const here = await doctor('local', engine);
        const ways = label === 'bash' ? [[], ['--ssh-command']] : [[]];
        for (const way of ways) {
          const there = await doctor(name, engine, ...way);
          expect(there.verdict).toBe(here.verdict);
          expect(codes(there, 'STDOUT_NOISE')).toEqual(codes(here));
        }
      });
    }

    it('the same without tunnels', async () => {
      const engine = engineOf(version);
      const here = await doctor('local', engine);
      const there = await doctor(target(logins['bash'] as Account, strict.port), engine);
      expect(there.verdict).toBe(here.verdict);
      expect(codes(there, 'SSH_FORWARD_FORBIDDEN')).toEqual(codes(here));
    });

    it.runIf(isFull)('one session, no sftp: the same verdict, and --fix', { timeout: 300_000 }, async () => {
      const engine = engineOf(version);
      const name = target(logins['bash'] as Account, single.port);
      const here = await doctor('local', engine);
      const there = await doctor(name, engine);
      expect(there.verdict).toBe(here.verdict);
      expect(codes(there)).toEqual(codes(here));
      const site = await sitePackages(engineDir(version));
      const before = await treeHashes(site, engine.home);
      const fixed = await cli(['doctor', name, '--fix', '--yes', '--json'], engine);
      expect(fixed.code, fixed.stderr).toBe(1);
      expect(codes(document<Report>(fixed))).toContain('RESTART_REQUIRED');
      expect(await treeHashes(site, engine.home)).not.toEqual(before);
      const home = ['--home', engine.home];
      // The next test compares the whole home: not even an empty marker stays.
      const revert = await cli(['patch', 'revert', '--purge', '--target', name, '--yes', ...home], engine);
      expect(revert.code, revert.stderr + revert.stdout).toBeLessThan(2);
      const after = await treeHashes(site, engine.home);
      for (const [path, hash] of before) expect([path, after.get(path)]).toEqual([path, hash]);
    });

    it('patches are applied, found, and taken back byte for byte', { timeout: 180_000 }, async () => {
      const engine = engineOf(version);
      const site = await sitePackages(engineDir(version));
      const before = await treeHashes(site, engine.home);
      const name = target(logins['bash'] as Account, open.port);
      const home = ['--home', engine.home];
      const apply = await cli(['patch', 'apply', '--target', name, '--yes', ...home], engine);
      expect(apply.code, apply.stderr + apply.stdout).toBeLessThan(2);
      const applied = await treeHashes(site, engine.home);
      expect([...applied.keys()].filter((path) => !before.has(path)).length).toBeGreaterThan(0);
      const again = await cli(['patch', 'apply', '--target', name, '--yes', ...home], engine);
      expect(again.code, again.stderr + again.stdout).toBeLessThan(2);
      expect(await treeHashes(site, engine.home)).toEqual(applied);
      const status = await cli(['patch', 'status', '--target', name, '--json', ...home], engine);
      expect(status.stdout).toContain('"applied"');
      const revert = await cli(['patch', 'revert', '--target', name, '--yes', ...home], engine);
      expect(revert.code, revert.stderr + revert.stdout).toBeLessThan(2);
      const after = await treeHashes(site, engine.home);
      const ours = (path: string): boolean => path.includes('desktop-compat');
      for (const [path, hash] of before) expect([path, after.get(path)]).toEqual([path, hash]);
      expect([...after.keys()].filter((path) => !before.has(path) && !ours(path))).toEqual([]);
    });
  });

  describe('a line that is cut while patches are applied', () => {
    let proxy: Proxy;
    beforeAll(async () => {
      proxy = await proxyTo(open.port);
      await writeFile(`${rig.clientHome}/.ssh/known_hosts`, `[127.0.0.1]:${proxy.port} ${open.keys[0]}\n`, {
        flag: 'a',
      });
    });
    afterAll(() => proxy?.close());

    it(
      'leaves all old or all new, and the next run finishes',
      { timeout: isFull ? 900_000 : 240_000 },
      async () => {
        const engine = engineOf('0.14.0');
        const site = await sitePackages(engineDir('0.14.0'));
        const name = target(logins['bash'] as Account, proxy.port);
        const args = ['--target', name, '--yes', '--home', engine.home];
        const ours = (path: string): boolean => path.includes('desktop-compat');
        const state = async (): Promise<string> =>
          JSON.stringify(
            [...(await treeHashes(site, engine.home))]
              .map(([path, hash]) => `${path} ${hash}`)
              .filter((line) => !ours(line))
              .toSorted(),
          );
        const old = await state();
        const sent = proxy.sent();
        expect((await cli(['patch', 'apply', ...args], engine)).code).toBeLessThan(2);
        const bytes = proxy.sent() - sent;
        const applied = await state();
        expect(applied).not.toBe(old);
        const steps = isFull ? 24 : 2;
        for (let i = 1; i <= steps; i++) {
          await cli(['patch', 'revert', ...args], engine);
          expect(await state()).toBe(old);
          proxy.failAfter(Math.floor((bytes * i) / (steps + 1)), 'reset');
          const cut = await cli(['patch', 'apply', ...args], engine);
          proxy.heal();
          expect([3, 4, 5, 6], cut.stderr).toContain(cut.code);
          const next = await cli(['patch', 'apply', ...args], engine);
          expect(next.code, next.stderr + next.stdout).toBeLessThan(2);
          expect(await state()).toBe(applied);
        }
        await cli(['patch', 'revert', ...args], engine);
        expect(await state()).toBe(old);
      },
    );
  });
});

describe.skipIf(!usable || !isFull)('doctor through a slow line', () => {
  it('needs at most eight dependent round trips after the login', { timeout: 900_000 }, async () => {
    // So long that what a busy machine adds is little beside it.
    const delayMs = 1500;
    const rig = await sshRig();
    const engine = await startEngine({ version: '0.19.0' });
    const account = await rig.account('slow', { root: true });
    const server = await rig.sshd(['PermitRootLogin yes']);
    const slow = await proxyTo(server.port, delayMs);
    try {
      await writeFile(
        `${rig.clientHome}/.ssh/known_hosts`,
        [slow.port, server.port].map((at) => `[127.0.0.1]:${at} ${server.keys[0]}\n`).join(''),
      );
      const least = async (measure: () => Promise<number>): Promise<number> =>
        Math.min(await measure(), await measure(), await measure());
      const login = (at: number): Promise<number> =>
        least(async () => {
          const started = performance.now();
          let ready = 0;
          const onReady = (): void => void (ready = performance.now() - started);
          await (await openSshHost({ ...rig.options(server, account, { onReady }), port: at })).close();
          return ready;
        });
      const doctor = (at: number): Promise<number> =>
        least(async () => {
          const started = performance.now();
          const result = await runCli(
            [
              'doctor',
              `ssh://${account.name}@127.0.0.1:${at}`,
              '--ssh-config',
              `${rig.clientHome}/.ssh/config`,
              '--home',
              engine.home,
              '--json',
            ],
            { env: { HOME: rig.clientHome, HERMES_COMPAT_TOKEN: engine.token ?? '' }, timeoutMs: 180_000 },
          );
          expect(document<Report>(result).verdict).toBe('needs-remedy');
          return performance.now() - started;
        });
      const added = (await doctor(slow.port)) - (await doctor(server.port));
      const ofLogin = (await login(slow.port)) - (await login(server.port));
      const trips = (added - ofLogin) / (2 * delayMs);
      expect(trips).toBeLessThan(8);
    } finally {
      slow.close();
      await engine.stop();
      await rig.end();
    }
  });
});
