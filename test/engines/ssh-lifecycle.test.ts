import { existsSync } from 'node:fs';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { alive } from '../launch/support.ts';
import { type CliResult, document, runCli } from '../support/cli.ts';
import { engineDir, requireEngines, sitePackages } from '../support/engines.ts';
import { enginePaths } from '../support/reach.ts';
import { type Account, canRunSshd, type Rig, type Sshd, sshRig } from '../support/sshd.ts';
import { treeHashes } from '../support/tree-hashes.ts';
import { isFull } from '../support/full.ts';

// Commands that start, change and end things, on accounts of their own: `boss` logs in, `keeper` runs the engine.

const versions = ['0.14.0', '0.19.0'];
const usable = isFull && canRunSshd && existsSync('/usr/bin/sudo') && (await requireEngines(...versions));

interface Report {
  kind: 'report';
  verdict: string;
  findings: { code: string; severity: string }[];
  change?: { outcome: string; restarted: number[]; toRestart: number[] };
}

interface Launch {
  kind: 'launch';
  outcome: string;
  ws: string;
  pid: number;
  port: number;
  home: string;
  tokenFile: string;
}

/** What a local engine has, and what must not come along. */
const localHermes = {
  HERMES_HOME: '/canary-local-home',
  HERMES_WEB_DIST: '/canary-web-dist',
  HERMES_DASHBOARD_TUI: '0',
  HERMES_DASHBOARD_SESSION_TOKEN: 'canary-session-token',
  OPENAI_API_KEY: 'canary-provider-key',
};

describe.skipIf(!usable)('launch, fix, restart and stop over ssh', () => {
  let rig: Rig;
  let server: Sshd;
  let keeper: Account;
  let boss: Account;

  beforeAll(async () => {
    rig = await sshRig();
    [server, keeper, boss] = [
      await rig.sshd([], { reach: await enginePaths('0.14.0') }),
      await rig.account('keeper'),
      await rig.account('boss'),
    ];
    await rig.sudo(boss, `ALL=(${keeper.name}) NOPASSWD: /bin/sh -s`);
  });
  afterEach(async () => {
    const target = `ssh://${keeper.name}@127.0.0.1:${server.port}`;
    await cli(['stop', target, '--all']);
  });
  afterAll(() => rig?.end());

  const cli = (args: string[], env: Record<string, string> = {}): Promise<CliResult> =>
    runCli([...args, '--ssh-config', `${rig.clientHome}/.ssh/config`], {
      env: { HOME: rig.clientHome, ...localHermes, ...env },
      timeoutMs: 200_000,
    });

  const ways: [string, (version: string) => { target: string; more: string[] }][] = [
    [
      'as the owner',
      (version) => ({
        target: `ssh://${keeper.name}@127.0.0.1:${server.port}${engineDir(version)}`,
        more: [],
      }),
    ],
    [
      'by sudo',
      (version) => ({
        target: `ssh://${boss.name}@127.0.0.1:${server.port}${engineDir(version)}`,
        more: ['--become', keeper.name],
      }),
    ],
  ];
  const cases = versions.flatMap((version) => ways.map(([label, way]) => [version, label, way] as const));

  it.each(cases)('%s, %s', { timeout: 400_000 }, async (version, _label, way) => {
    const { target, more } = way(version);
    const home = join(keeper.home, '.hermes');
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
    const site = await sitePackages(engineDir(version));
    const identity = `hermes-compat: ${target.slice('ssh://'.length).replace(/\/.*/, '')}: ${keeper.name} on ${hostname()}, HERMES_HOME ${home}, install ${site} (${version})\n`;

    const launched = await cli(['launch', target, ...more, '--port', '0', '--json']);
    expect(launched.code, launched.stderr + launched.stdout).toBe(0);
    expect(launched.stderr).toBe(identity);
    const { pid, port, tokenFile, ...rest } = document<Launch>(launched);
    expect(rest).toMatchObject({ outcome: 'started', ws: 'open', home });
    // It is the keeper's, with nothing of ours in it, and its record is there.
    expect((await stat(`/proc/${pid}`)).uid).toBe(keeper.uid);
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8');
    expect(environment).toContain(`HERMES_HOME=${home}`);
    expect(environment).not.toMatch(/canary|SSH_|SUDO_/);
    expect(await stat(tokenFile)).toMatchObject({ uid: keeper.uid, mode: 0o100600 });
    const before = await treeHashes(site, home);

    const look = ['--port', String(port), ...more, '--json'];
    const missing = await cli(['doctor', target, ...look]);
    expect(missing.code, missing.stderr).toBe(1);
    expect(missing.stderr).toBe('');
    expect(document<Report>(missing).verdict).toBe('needs-remedy');
    expect(await treeHashes(site, home)).toEqual(before);

    const fixed = await cli(['doctor', target, '--fix', '--yes', '--restart', ...look]);
    expect(fixed.code, fixed.stderr + fixed.stdout).toBe(0);
    expect(fixed.stderr.startsWith(identity), fixed.stderr).toBe(true);
    const report = document<Report>(fixed);
    expect(report.verdict).toBe('compatible');
    expect(report.change).toMatchObject({ outcome: 'done', restarted: [pid] });
    expect(alive(pid)).toBe(false);
    // Markers are where the engine is, and belong to its owner.
    for (const name of ['desktop-compat/hermes-compat.json', 'plugins/hermes-compat/dashboard/manifest.json'])
      expect((await stat(join(home, name))).uid).toBe(keeper.uid);
    expect(existsSync(join(rig.clientHome, '.hermes'))).toBe(false);
    expect(existsSync(join(boss.home, '.hermes'))).toBe(false);

    const again = await cli(['doctor', target, '--fix', '--yes', '--restart', ...look]);
    expect(again.code, again.stderr).toBe(0);
    expect(document<Report>(again).change).toBeUndefined();

    const reverted = await cli(['patch', 'revert', '--yes', '--restart', '--target', target, ...more]);
    expect(reverted.code, reverted.stderr + reverted.stdout).toBe(0);
    expect(reverted.stderr).toBe(identity);
    const kept = [...(await treeHashes(site, home))].filter(([path]) => !path.includes('desktop-compat'));
    expect(new Map(kept)).toEqual(new Map([...before].filter(([path]) => !path.includes('desktop-compat'))));

    const [running] = (await readdir(join(home, 'desktop-compat/launch'))).filter((name) =>
      name.endsWith('.json'),
    );
    const record = JSON.parse(await readFile(join(home, 'desktop-compat/launch', running ?? ''), 'utf8')) as {
      pid: number;
      port: number;
    };
    expect(record.port).toBe(port);
    const stopped = await cli(['stop', target, ...more]);
    expect(stopped).toEqual({
      code: 0,
      stdout: `Ended process ${record.pid} on port ${port}.\n`,
      stderr: identity,
    });
    expect(alive(record.pid)).toBe(false);
    expect(await readdir(join(home, 'desktop-compat'))).not.toContain('launch');
    expect(rig.processes(keeper)).toEqual([]);
    const nothing = await cli(['stop', target, ...more]);
    expect(nothing).toMatchObject({ code: 0, stderr: '' });
  });
});
