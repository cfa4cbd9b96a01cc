import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { engineDir, sitePackages } from './engine-install.ts';
import { linkFiles } from './engine-copy.ts';
import { gitAt, gitEnv } from './git-tree.ts';
import { bin } from './bin.ts';

const backend = new URL('in-tree-backend.py', import.meta.url);

/** A real update ends every dashboard of the machine that it can see: it runs in a PID namespace of its own, or not at all. */
export const namespace = ['/usr/bin/unshare', '--fork', '--pid', '--mount-proc', '--kill-child'];

const real = (() => {
  try {
    const uv = execFileSync('python3', ['-c', 'import uv; print(uv.find_uv_bin())'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    execFileSync(namespace[0] as string, [...namespace.slice(1), 'true'], { stdio: 'ignore' });
    return uv.toString().trim();
  } catch {
    return null;
  }
})();

/** uv and PID namespaces are there. */
export const canUpdate = real !== null && existsSync('/usr/bin/git');

/** A checkout of real releases: each version is a commit upstream. */
export interface RealTree {
  folder: string;
  home: string;
  root: string;
  server: string;
  git(...words: string[]): string;
  /** One more commit upstream: a release, or an edit of what is there. */
  release(version: string): Promise<void>;
  edit(path: string, change: (text: string) => string): Promise<void>;
  /** The built program, in the tree's namespace. */
  compat(words: readonly string[], options?: Run): Promise<Ran>;
  /** Any command there. */
  inside(argv: readonly string[], options?: Run): Promise<Ran>;
  env: Record<string, string>;
  remove(): Promise<void>;
}

interface Run {
  env?: Record<string, string>;
  timeoutMs?: number;
}

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * @param version what is checked out first
 * @param others releases that come later; their dependencies are there from the beginning, so that nothing is fetched
 */
export async function realTree(
  version: string,
  others: readonly string[] = [],
  branch = 'main',
): Promise<RealTree> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hermes-real-')));
  const origin = join(folder, 'origin');
  const home = join(folder, 'home');
  const root = join(home, 'hermes-agent');
  execFileSync('git', ['init', '-q', '-b', branch, origin], { env: gitEnv });
  const upstream = gitAt(origin);
  await mkdir(join(home, 'bin'), { recursive: true });
  const commit = (message: string): void => {
    upstream('add', '-A', '-f');
    upstream('commit', '-q', '-m', message);
  };
  const release = async (next: string): Promise<void> => {
    await fill(origin, next);
    commit(next);
  };
  await release(version);
  execFileSync('git', ['clone', '-q', origin, root], { env: gitEnv });
  await environment(root, [...others, version]);
  const shim = `#!/bin/sh\n# Another Python would be fetched from the net.\n[ "$1 $2" = "python install" ] && exit 1\nexport UV_LINK_MODE=copy UV_OFFLINE=1 UV_CACHE_DIR=${folder}/uv-cache\nexec "${real ?? 'uv'}" "$@"\n`;
  await writeFile(join(home, 'bin/uv'), shim, { mode: 0o755 });
  const env = {
    PATH: `${join(home, 'bin')}:/usr/local/bin:/usr/bin:/bin`,
    HOME: folder,
    LANG: 'C.UTF-8',
    NO_COLOR: '1',
    HERMES_HOME: home,
    UV_LINK_MODE: 'copy',
    UV_CACHE_DIR: join(folder, 'uv-cache'),
    UV_OFFLINE: '1',
    UV_PYTHON_DOWNLOADS: 'never',
    GIT_CONFIG_NOSYSTEM: '1',
  };
  await writeFile(join(folder, '.gitconfig'), '[user]\n\tname = Somebody\n\temail = somebody@example.org\n');
  const inside: RealTree['inside'] = (argv, options = {}) =>
    new Promise((resolve) => {
      const [command = '', ...words] = [...namespace, ...argv];
      execFile(
        command,
        words,
        {
          env: { ...env, ...options.env },
          cwd: folder,
          timeout: options.timeoutMs ?? 400_000,
          maxBuffer: 64 << 20,
        },
        (error, stdout, stderr) =>
          resolve({
            code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1,
            stdout,
            stderr,
          }),
      );
    });
  return {
    folder,
    home,
    root,
    server: join(root, 'hermes_cli/web_server.py'),
    git: gitAt(root),
    release,
    async edit(path, change) {
      const file = join(origin, path);
      await writeFile(file, change(await readFile(file, 'utf8')));
      commit('next');
    },
    inside,
    compat: (words, options) => inside([process.execPath, bin, ...words], options),
    env,
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** The files of a release as its wheel has them, and what makes an installable checkout of them. */
async function fill(origin: string, version: string): Promise<void> {
  for (const name of await readdir(origin))
    if (name !== '.git') await rm(join(origin, name), { recursive: true });
  const site = await sitePackages(engineDir(version));
  for (const name of await ownNames(site))
    await cp(join(site, name), join(origin, name), {
      recursive: true,
      filter: (path) => !path.endsWith('__pycache__'),
    });
  const number = /^\d+\.\d+\.\d+/.exec(version)?.[0] ?? version;
  await cp(fileURLToPath(backend), join(origin, 'in_tree_backend.py'));
  await writeFile(
    join(origin, 'pyproject.toml'),
    `[build-system]\nrequires = []\nbuild-backend = "in_tree_backend"\nbackend-path = ["."]\n\n[project]\nname = "hermes-agent"\nversion = "${number}"\nrequires-python = ">=3.11"\n\n[project.optional-dependencies]\nall = []\n\n[project.scripts]\nhermes = "hermes_cli.main:main"\n`,
  );
  await writeFile(join(origin, '.gitignore'), 'venv/\n.venv/\n__pycache__/\n*.pyc\n*.egg-info/\n');
}

/** Top-level names that the distribution owns, but its metadata and scripts. */
async function ownNames(site: string): Promise<string[]> {
  const info = (await readdir(site)).find((name) => /^hermes_agent.*\.dist-info$/.test(name));
  const record = await readFile(join(site, info ?? '', 'RECORD'), 'utf8');
  const names = record.split('\n').map((line) => (line.split(',')[0] ?? '').split('/')[0] ?? '');
  return [...new Set(names)].filter((name) => name !== '' && name !== '..' && !name.endsWith('.dist-info'));
}

/** `venv/` whose libraries share their files with those of the shared engines; the tree itself is found by a `.pth`. */
async function environment(root: string, versions: readonly string[]): Promise<void> {
  const venv = join(root, 'venv');
  const [first = ''] = versions;
  execFileSync(await realpath(join(engineDir(first), 'bin/python')), ['-m', 'venv', '--without-pip', venv]);
  const site = await sitePackages(venv);
  for (const version of versions) {
    const from = await sitePackages(engineDir(version));
    const not = new Set([...(await ownNames(from)), ...(await readdir(site))]);
    const names = (await readdir(from)).filter(
      (name) =>
        !not.has(name) && !/^hermes_agent|^__pycache__$|^_virtualenv|^distutils-precedence/.test(name),
    );
    await linkFiles(
      names.map((name) => join(from, name)),
      site,
    );
  }
  await writeFile(join(site, 'hermes_agent_tree.pth'), `${root}\n`);
  await writeFile(
    join(venv, 'bin/hermes'),
    `#!${venv}/bin/python\nimport sys\nfrom hermes_cli.main import main\nif __name__ == "__main__":\n    sys.exit(main())\n`,
    { mode: 0o755 },
  );
}
