import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { miniServer } from './mini-engine.ts';
import { untilLeft } from './processes-of.ts';

const updater = new URL('scripted-updater.py', import.meta.url);

/** A checkout of a small engine with an upstream beside it, in a HERMES_HOME of its own. */
export interface GitTree {
  folder: string;
  home: string;
  /** The checkout. */
  root: string;
  server: string;
  git(...words: string[]): string;
  /** One more commit upstream. */
  upstream(files: Record<string, string | null>, message?: string): Promise<void>;
  remove(): Promise<void>;
}

export const gitAt =
  (folder: string) =>
  (...words: string[]): string =>
    execFileSync('git', ['-C', folder, ...words], {
      encoding: 'utf8',
      env: gitEnv,
      stdio: ['ignore', 'pipe', 'pipe'],
    });

/** Nothing of the person who runs the tests. */
export const gitEnv = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  LANG: 'C.UTF-8',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Upstream',
  GIT_AUTHOR_EMAIL: 'upstream@example.org',
  GIT_COMMITTER_NAME: 'Upstream',
  GIT_COMMITTER_EMAIL: 'upstream@example.org',
};

/** Far enough from every place that we edit, so that a change there is merged without a word. */
export const farAway = (text: string): string =>
  text.replace('"""Web server."""', '"""Web server, again."""');

export async function gitTree(server: string = miniServer): Promise<GitTree> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hermes-tree-')));
  const origin = join(folder, 'origin');
  const home = join(folder, 'home');
  const root = join(home, 'hermes-agent');
  await mkdir(join(origin, 'hermes_cli'), { recursive: true });
  await mkdir(home, { mode: 0o700 });
  const upstreamGit = gitAt(origin);
  const files = {
    'hermes_cli/__init__.py': '__version__ = "0.14.0"\n__release_date__ = "2026.5.1"\n',
    'hermes_cli/main.py': await readFile(updater, 'utf8'),
    'hermes_cli/web_server.py': server,
    'hermes_cli/notes.py': 'ONE = 1\nTWO = 2\nTHREE = 3\n',
    'pyproject.toml': '[project]\nname = "hermes-agent"\nversion = "0.14.0"\n',
    '.gitignore': 'venv/\n__pycache__/\n',
  };
  execFileSync('git', ['init', '-q', '-b', 'main', origin], { env: gitEnv });
  upstreamGit('config', 'receive.denyCurrentBranch', 'ignore');
  const commit = async (given: Record<string, string | null>, message: string): Promise<void> => {
    for (const [name, text] of Object.entries(given)) {
      if (text === null) await rm(join(origin, name));
      else await writeFile(join(origin, name), text);
    }
    upstreamGit('add', '-A');
    upstreamGit('commit', '-q', '-m', message);
  };
  await commit(files, 'first');
  execFileSync('git', ['clone', '-q', origin, root], { env: gitEnv });
  const git = gitAt(root);
  git('config', 'user.name', 'Somebody');
  git('config', 'user.email', 'somebody@example.org');
  await environment(root);
  return {
    folder,
    home,
    root,
    server: join(root, 'hermes_cli/web_server.py'),
    git,
    upstream: (given, message = 'next') => commit(given, message),
    async remove() {
      await untilLeft(folder);
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** `venv/` as the installer of the engine makes it: its Python finds the tree, `hermes` runs it. */
async function environment(root: string): Promise<void> {
  const venv = join(root, 'venv');
  execFileSync('/usr/bin/python3', ['-m', 'venv', '--without-pip', venv]);
  const version = execFileSync(join(venv, 'bin/python'), [
    '-c',
    'import sys; print("python%d.%d" % sys.version_info[:2])',
  ])
    .toString()
    .trim();
  const site = join(venv, 'lib', version, 'site-packages');
  await writeFile(join(site, 'engine.pth'), `${root}\n`);
  // Names that the server imports: only that they are there is looked at, nothing of this tree is ever started.
  for (const name of ['fastapi', 'uvicorn', 'websockets']) {
    await mkdir(join(site, name));
    await writeFile(join(site, name, '__init__.py'), '');
  }
  await writeFile(
    join(venv, 'bin/hermes'),
    `#!${venv}/bin/python\nimport sys\nfrom hermes_cli.main import main\nif __name__ == "__main__":\n    sys.exit(main())\n`,
    { mode: 0o755 },
  );
  await symlink(join(venv, 'bin/hermes'), join(root, '..', 'hermes-command'));
}
