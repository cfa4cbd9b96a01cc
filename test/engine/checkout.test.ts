import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { numstatPaths } from '../../src/engine/install-state.ts';
import type { Install } from '../../src/engine/schema.ts';
import { type Box, makeBox, makeTree, snapshot } from './trees.ts';

const run = promisify(execFile);
let box: Box;
let root: string;
const git = (...args: string[]) =>
  run('git', ['-C', root, '-c', 'user.name=Ann', '-c', 'user.email=ann@example.org', ...args], {
    env: { PATH: '/usr/bin:/bin', HOME: box.home },
  });
const install = async (): Promise<Install> => {
  const found = (await box.locate({ path: root })).installs[0];
  expect(found?.root).toBe(root);
  return found as Install;
};
const server = (): string => join(root, 'hermes_cli/web_server.py');

beforeEach(async () => {
  box = await makeBox();
  root = await makeTree(box, join(box.home, '.hermes/hermes-agent'), 'G1', '0.19.0');
  await box.write(join(root, '.gitignore'), 'venv/\n');
  await box.write(join(root, 'pyproject.toml'), '[project]\nname = "hermes-agent"\nversion = "0.19.0"\n');
  await git('init', '-q', '-b', 'main');
  await git('add', '-A');
  await git('commit', '-qm', 'v0.19.0');
});
afterEach(() => box.remove());

it('a clean checkout: branch and head, nothing written into it', async () => {
  const before = await snapshot(root);
  const head = (await git('rev-parse', 'HEAD')).stdout.trim();
  expect(await install()).toMatchObject({
    method: 'git',
    state: 'pristine',
    editedFiles: [],
    git: { head, branch: 'main', dirty: [], stashes: [] },
    residue: { parked: [], webBuildStale: null },
  });
  expect(await snapshot(root)).toEqual(before);
});

it('changed, staged and untracked files; a touched one is no change', async () => {
  await writeFile(server(), `${await readFile(server(), 'utf8')}# by hand\n`);
  await writeFile(join(root, 'hermes_cli/config.py'), 'x = 1\n');
  await git('add', 'hermes_cli/config.py');
  await writeFile(join(root, 'hermes_cli/main.py'), await readFile(join(root, 'hermes_cli/main.py')));
  await box.write(join(root, 'notes & \u00e9.txt'), '');
  await box.write(join(root, 'venv/x'), '');
  expect(await install()).toMatchObject({
    state: 'edited',
    editedFiles: ['hermes_cli/config.py', 'hermes_cli/web_server.py'],
    git: { dirty: ['hermes_cli/config.py', 'hermes_cli/web_server.py', 'notes & \u00e9.txt'] },
  });
});

it('a folder that an update left empty, or with bytecode alone, is no edit', async () => {
  await mkdir(join(root, 'plugins/gone'), { recursive: true });
  await box.write(join(root, 'plugins/old/__pycache__/x.cpython-311.pyc'), '');
  await box.write(join(root, '.gitignore'), 'venv/\n__pycache__/\n');
  await git('add', '.gitignore');
  await git('commit', '-q', '-m', 'ignored');
  expect(await install()).toMatchObject({ state: 'pristine', editedFiles: [], git: { dirty: [] } });
});

it('line ends alone are no edit', async () => {
  await writeFile(server(), (await readFile(server(), 'utf8')).replaceAll('\n', '\r\n'));
  expect(await install()).toMatchObject({ state: 'pristine', editedFiles: [], generation: 'G1' });
});

it('an update that parked an edit for clients', async () => {
  await writeFile(
    server(),
    `${await readFile(server(), 'utf8')}# --- HERMES_ONE_MODEL_LIBRARY_COMPAT_V1 ---\n`,
  );
  await git('stash', 'push', '-q', '-m', 'hermes-update-autostash-20261130');
  await writeFile(join(root, 'hermes_cli/main.py'), '# something else\n');
  await git('stash', 'push', '-q', '-m', 'hermes-update-autostash-20261201');
  expect(await install()).toMatchObject({
    git: {
      dirty: [],
      stashes: ['On main: hermes-update-autostash-20261201', 'On main: hermes-update-autostash-20261130'],
    },
    residue: { parked: ['stash@{1}: On main: hermes-update-autostash-20261130'] },
  });
});

it('each stash with its commit, newest first, also after one was dropped', async () => {
  const commits: string[] = [];
  for (const text of ['one', 'two', 'three']) {
    await writeFile(join(root, 'hermes_cli/main.py'), `# ${text}\n`);
    await git('stash', 'push', '-q', '-m', text);
    commits.unshift((await git('rev-parse', 'stash@{0}')).stdout.trim());
  }
  await git('stash', 'drop', '-q', 'stash@{1}');
  expect((await install()).git).toMatchObject({
    stashes: ['On main: three', 'On main: one'],
    stashCommits: [commits[0], commits[2]],
  });
});

it('what was added, removed or moved', async () => {
  await writeFile(join(root, 'new.py'), 'x = 1\n');
  await git('add', 'new.py');
  await git('mv', 'hermes_cli/main.py', 'hermes_cli/moved to.py');
  await rm(join(root, 'pyproject.toml'));
  expect((await install()).git).toMatchObject({
    dirty: ['hermes_cli/main.py', 'hermes_cli/moved to.py', 'new.py', 'pyproject.toml'],
    added: ['hermes_cli/moved to.py', 'new.py'],
    removed: ['hermes_cli/main.py', 'pyproject.toml'],
    unmerged: [],
  });
});

const conflict = '<<<<<<< Updated upstream\nx = 1\n=======\nx = 2\n>>>>>>> Stashed changes\n';

it('both ends of a conflict, in any Python file that changed', async () => {
  await box.write(join(root, 'run agent.py'), 'x = 0\n');
  await box.write(join(root, 'plugins/a/b.py'), 'x = 0\n');
  await box.write(join(root, 'plugins/a/c.py'), conflict.replace('>>>>>>> ', '>>>>>>>> '));
  await git('add', '-A');
  await git('commit', '-qm', 'more');
  await writeFile(join(root, 'run agent.py'), conflict);
  await writeFile(join(root, 'plugins/a/b.py'), conflict.replaceAll('\n', '\r\n'));
  await writeFile(join(root, 'plugins/a/c.py'), conflict.replace('>>>>>>> ', '> '));
  await writeFile(server(), `${await readFile(server(), 'utf8')}${conflict}`);
  const found = await install();
  expect([...(found.residue?.conflictMarkers ?? [])].sort()).toEqual([
    'hermes_cli/web_server.py',
    'plugins/a/b.py',
    'run agent.py',
  ]);
});

it('a merge that stopped half way: what git has not merged, and which of it HEAD and the tree have', async () => {
  const head = (await git('rev-parse', 'HEAD:pyproject.toml')).stdout.trim();
  const stages = (path: string, ...numbers: number[]): string =>
    numbers.map((number) => `100644 ${head} ${number}\t${path}\n`).join('');
  await rm(join(root, 'pyproject.toml'));
  await writeFile(
    box.path('index-info'),
    [
      `0 ${'0'.repeat(40)}\tpyproject.toml\n`,
      stages('pyproject.toml', 1, 2, 3),
      stages('both-gone.py', 1),
      stages('theirs.py', 1, 3),
    ].join(''),
  );
  await run('sh', ['-c', `git -C '${root}' update-index --index-info <'${box.path('index-info')}'`]);
  expect((await install()).git).toMatchObject({
    unmerged: ['both-gone.py', 'pyproject.toml', 'theirs.py'],
    added: ['both-gone.py', 'theirs.py'],
    removed: ['pyproject.toml', 'both-gone.py'],
  });
});

it('a detached head, packed references, a linked worktree', async () => {
  await git('pack-refs', '--all');
  const head = (await git('rev-parse', 'HEAD')).stdout.trim();
  expect((await install()).git).toMatchObject({ head, branch: 'main' });
  await git('worktree', 'add', '-q', box.path('linked'), '-b', 'side');
  const linked = (await box.locate({ path: box.path('linked') })).installs[0];
  expect(linked).toMatchObject({
    root: box.path('linked'),
    method: 'git',
    git: { head, branch: 'side' },
    state: 'pristine',
  });
  await git('checkout', '-q', '--detach');
  expect((await install()).git).toMatchObject({ head, branch: null });
});

it('a web build that is older than its sources', async () => {
  await box.write(join(root, 'hermes_cli/web_dist/index.html'), '<html>');
  expect((await install()).residue?.webBuildStale).toBeNull();
  await new Promise((resolve) => setTimeout(resolve, 20));
  await box.write(join(root, 'web/src/app.ts'), '');
  expect((await install()).residue?.webBuildStale).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 20));
  await writeFile(join(root, 'hermes_cli/web_dist/index.html'), '<html>');
  expect((await install()).residue?.webBuildStale).toBe(false);
});

it('metadata that an update left behind', async () => {
  await box.write(join(root, 'venv/pyvenv.cfg'), 'version = 3.11.7\n');
  const dist = join(root, 'venv/lib/python3.11/site-packages/hermes_agent-0.17.0.dist-info');
  await box.write(join(dist, 'METADATA'), 'Name: hermes-agent\nVersion: 0.17.0\n');
  await box.write(join(root, 'venv/bin/python'), '', 0o755);
  expect(await install()).toMatchObject({
    version: '0.19.0',
    residue: {
      mixedVersions: [
        'hermes_cli/__init__.py: 0.19.0',
        'pyproject.toml: 0.19.0',
        'venv/lib/python3.11/site-packages/hermes_agent-0.17.0.dist-info/METADATA: 0.17.0',
      ],
    },
  });
});

it('a repository cannot make us run its programs', async () => {
  const mark = box.path('ran');
  const program = await box.write('program', `#!/bin/sh\ntouch ${mark}\ncat\n`, 0o755);
  await git('config', 'core.fsmonitor', program);
  await git('config', 'core.pager', program);
  await git('config', 'diff.external', program);
  await git('config', 'diff.x.textconv', program);
  await box.write(join(root, '.gitattributes'), '*.py diff=x\n');
  await writeFile(server(), `${await readFile(server(), 'utf8')}# by hand\n`);
  expect((await install()).editedFiles).toEqual(['hermes_cli/web_server.py']);
  await expect(readFile(mark)).rejects.toThrow(/ENOENT/);
});

it('without git, or in an empty repository, edits are unknown', async () => {
  await rm(join(root, '.git'), { recursive: true });
  await git('init', '-q', '-b', 'main');
  expect(await install()).toMatchObject({
    method: 'git',
    state: 'unknown',
    git: { head: null, branch: 'main', dirty: [] },
  });
});

it('numstatPaths reads renames', () =>
  expect(numstatPaths(['1\t2\ta/{b => c}/d.py', '-\t-\tx => y', '0\t0\tplain name', 'nonsense'])).toEqual([
    'a/c/d.py',
    'plain name',
    'y',
  ]));
