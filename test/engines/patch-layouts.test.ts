import { execFileSync } from 'node:child_process';
import {
  copyFile,
  cp,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { change } from '../../src/patch/change.ts';
import { document, runCli } from '../support/cli.ts';
import { copyEngine } from '../support/engine-copy.ts';
import { engineDir, requireEngines, sitePackages } from '../support/engines.ts';
import { gitEnv } from '../support/git-tree.ts';
import { openTree } from '../support/lifecycle.ts';
import { agree, snapshot } from '../support/patch-scene.ts';
import { gateShare } from '../support/full.ts';

// The same patches on each way in which people install the engine, and what is said when its files are replaced underneath.

const versions = ['0.14.0', '0.19.0'];
const usable = await requireEngines(...versions);

interface Layout {
  folder: string;
  home: string;
  /** What names this install on the command line. */
  target: string;
  packageDir: string;
  method: string;
  /** Replaces the engine's files as that installer does. */
  replace(): Promise<void>;
}

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

async function scratch(): Promise<{ folder: string; home: string }> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hermes-layout-')));
  folders.push(folder);
  const home = join(folder, 'home');
  await mkdir(home, { mode: 0o700 });
  return { folder, home };
}

const pristine = async (version: string): Promise<string> =>
  join(await sitePackages(engineDir(version)), 'hermes_cli');

/** pip unpacks beside and puts each file in place of the old one; files that it does not know stay. */
async function reinstall(version: string, packageDir: string): Promise<void> {
  const from = join(await pristine(version), 'web_server.py');
  await copyFile(from, join(packageDir, 'web_server.py.pip'));
  await rename(join(packageDir, 'web_server.py.pip'), join(packageDir, 'web_server.py'));
}

async function pip(version: string): Promise<Layout> {
  const { folder, home } = await scratch();
  const target = join(folder, 'venv');
  const site = await copyEngine(version, target);
  const packageDir = join(site, 'hermes_cli');
  await writeFile(join(await distInfo(site), 'INSTALLER'), 'pip\n');
  return { folder, home, target, packageDir, method: 'pip', replace: () => reinstall(version, packageDir) };
}

const distInfo = async (site: string): Promise<string> =>
  join(site, (await readdir(site)).find((name) => /^hermes_agent.*\.dist-info$/.test(name)) ?? '');

/** Every file is a second name of one in the cache of uv. */
async function uv(version: string): Promise<Layout> {
  const layout = await pip(version);
  const cache = join(layout.folder, 'cache');
  await cp(await pristine(version), cache, {
    recursive: true,
    filter: (path) => !path.includes('__pycache__'),
  });
  await rm(layout.packageDir, { recursive: true });
  const place = async (path: string): Promise<void> => {
    await mkdir(join(layout.packageDir, path), { recursive: true });
    for (const entry of await readdir(join(cache, path), { withFileTypes: true })) {
      const name = join(path, entry.name);
      if (entry.isDirectory()) await place(name);
      else await link(join(cache, name), join(layout.packageDir, name));
    }
  };
  await place('');
  await writeFile(join(await distInfo(join(layout.packageDir, '..')), 'INSTALLER'), 'uv\n');
  return { ...layout, method: 'uv' };
}

async function pipx(version: string): Promise<Layout> {
  const { folder, home } = await scratch();
  const target = join(folder, 'pipx/venvs/hermes-agent');
  await mkdir(join(folder, 'pipx/venvs'), { recursive: true });
  const packageDir = join(await copyEngine(version, target), 'hermes_cli');
  await writeFile(
    join(target, 'pipx_metadata.json'),
    JSON.stringify({ main_package: { package: 'hermes-agent' } }),
  );
  const script = join(target, 'bin/hermes');
  await writeFile(script, (await readFile(script, 'utf8')).replace('/bin/python\n', '/bin/python -E\n'), {
    mode: 0o755,
  });
  return { folder, home, target, packageDir, method: 'pipx', replace: () => reinstall(version, packageDir) };
}

/** A checkout in the home, its environment in it, the package found through a path file. */
async function editable(version: string): Promise<Layout> {
  const { folder, home } = await scratch();
  const target = join(home, 'hermes-agent');
  await mkdir(target);
  const site = await copyEngine(version, join(target, 'venv'));
  const record = await readFile(join(await distInfo(site), 'RECORD'), 'utf8');
  const own = new Set(record.split('\n').map((line) => line.split(/[/,]/)[0] ?? ''));
  for (const name of own)
    if (/^\w+(\.py)?$/.test(name)) await rename(join(site, name), join(target, name)).catch(() => {});
  await writeFile(join(site, '__editable__.hermes_agent.pth'), `${target}\n`);
  await writeFile(join(target, '.gitignore'), 'venv/\n__pycache__/\n');
  const git = (...words: string[]): string =>
    execFileSync('git', ['-C', target, ...words], { encoding: 'utf8', env: gitEnv, maxBuffer: 64 << 20 });
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-qm', 'release');
  const packageDir = join(target, 'hermes_cli');
  return {
    folder,
    home,
    target,
    packageDir,
    method: 'git',
    replace: async () => void git('checkout', '-q', '--', 'hermes_cli/web_server.py'),
  };
}

const layouts = { 'a uv wheel with hard links': uv, pip, pipx, 'an editable git checkout': editable };

interface Status {
  patches: { id: string; state: string; carrier: string | null }[];
  findings: { code: string; text: string }[];
}

async function status({ target, home, folder }: Layout): Promise<Status> {
  const result = await runCli(['patch', 'status', '--target', `local:${target}`, '--home', home, '--json'], {
    env: { HOME: folder },
    timeoutMs: 60_000,
  });
  expect(result.code, result.stderr).toBe(0);
  return document<Status>(result);
}

const library = ({ patches }: Status) => patches.find(({ id }) => id === 'model-library');

const cells = Object.entries(layouts).flatMap(([layout, build], index) =>
  gateShare(versions, 2, index).map((version) => ({ version, layout, build })),
);

describe.runIf(usable)('the source, on disk', () => {
  test.each(cells)(
    '$version as $layout: edited, replaced underneath, edited again, given back',
    { timeout: 240_000 },
    async ({ version, build }) => {
      const at = await build(version);
      const open = async () => (await openTree({ install: at.target, home: at.home })).session;
      const first = await open();
      expect(first.scene.install).toMatchObject({ method: at.method, packageDir: at.packageDir });
      const tree = await snapshot(at.packageDir, ['__pycache__']);
      const cache = at.method === 'uv' ? await snapshot(join(at.folder, 'cache')) : null;

      await change(first, agree({ carrier: 'source' }));
      expect(library(await status(at))).toMatchObject({ state: 'applied', carrier: 'source' });
      if (cache !== null) {
        expect(await snapshot(join(at.folder, 'cache'))).toEqual(cache);
        expect((await stat(join(at.packageDir, 'web_server.py'))).nlink).toBe(1);
        expect((await stat(join(at.packageDir, 'main.py'))).nlink).toBe(2);
      }

      await at.replace();
      const gone = await status(at);
      expect(library(gone)).toMatchObject({ state: 'absent' });
      const lost = gone.findings.filter(({ code }) => code === 'PATCH_LOST').map(({ text }) => text);
      expect(lost).toEqual(
        (version === '0.14.0' ? ['embedded-chat', 'model-library'] : ['model-library']).map(
          (id) => expect.stringMatching(new RegExp(`^${id} was applied on .* and is gone`)) as string,
        ),
      );

      await change(await open(), agree({ carrier: 'source' }));
      expect(library(await status(at))).toMatchObject({ state: 'applied', carrier: 'source' });
      expect((await status(at)).findings).toEqual([]);
      await change(await open(), agree({ do: 'revert' }));
      expect(await snapshot(at.packageDir, ['__pycache__'])).toEqual(tree);
    },
  );
});
