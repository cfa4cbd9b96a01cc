import { execFile, execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { engineDir, sitePackages } from './engine-install.ts';
import { bin } from './bin.ts';
import { namespace, type Ran } from './real-tree.ts';

/** A release that pip or uv has installed from the registry, in an environment of its own. */
export interface PackagedEngine {
  folder: string;
  home: string;
  venv: string;
  site: string;
  server: string;
  /** What its own package manager does behind our back, e.g. `install -U hermes-agent`. */
  manager(...words: string[]): Promise<Ran>;
  /** The built program, in a PID namespace: the end of an update ends every dashboard that it can see. */
  compat(...words: string[]): Promise<Ran>;
  remove(): Promise<void>;
}

const uv = (() => {
  try {
    const found = execFileSync('python3', ['-c', 'import uv; print(uv.find_uv_bin())'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return found.toString().trim();
  } catch {
    return null;
  }
})();

export const canPackage = uv !== null;

const ran = (argv: readonly string[], env: Record<string, string>, cwd: string): Promise<Ran> =>
  new Promise((resolve) => {
    const [command = '', ...words] = argv;
    execFile(command, words, { env, cwd, timeout: 900_000, maxBuffer: 64 << 20 }, (error, stdout, stderr) =>
      resolve({
        code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1,
        stdout,
        stderr,
      }),
    );
  });

export async function packagedEngine(tool: 'pip' | 'uv', version: string): Promise<PackagedEngine> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hermes-pip-')));
  const home = join(folder, 'home');
  const venv = join(folder, 'venv');
  await mkdir(join(home, 'bin'), { recursive: true, mode: 0o700 });
  const program = uv ?? 'uv';
  const own = Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const cache = execFileSync(program, ['cache', 'dir'], { env: own }).toString().trim();
  const env: Record<string, string> = {
    ...own,
    PATH: `${join(home, 'bin')}:/usr/local/bin:/usr/bin:/bin`,
    HOME: folder,
    LANG: 'C.UTF-8',
    NO_COLOR: '1',
    HERMES_HOME: home,
    UV_CACHE_DIR: cache,
    UV_LINK_MODE: 'copy',
    UV_PYTHON_DOWNLOADS: 'never',
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
  };
  delete env['VIRTUAL_ENV'];
  await writeFile(join(home, 'bin/uv'), `#!/bin/sh\nexec "${program}" "$@"\n`, { mode: 0o755 });
  const python = join(venv, 'bin/python');
  const base = await realpath(join(engineDir(version), 'bin/python'));
  const must = async (...argv: string[]): Promise<void> => {
    const done = await ran(argv, env, folder);
    if (done.code !== 0) throw new Error(`${argv.join(' ')}: ${done.stderr.slice(-2000)}`);
  };
  await must(base, '-m', 'venv', venv);
  const wanted = [`hermes-agent==${version}`, 'fastapi', 'uvicorn[standard]'];
  await must(program, 'pip', 'install', '--quiet', '--python', python, ...wanted);
  if (tool === 'pip')
    await must(python, '-m', 'pip', 'install', '-q', '--force-reinstall', '--no-deps', wanted[0] as string);
  const site = await sitePackages(venv);
  return {
    folder,
    home,
    venv,
    site,
    server: join(site, 'hermes_cli/web_server.py'),
    manager: (...words) =>
      tool === 'pip'
        ? ran([python, '-m', 'pip', ...words], env, folder)
        : ran([program, 'pip', ...words, '--python', python], env, folder),
    compat: (...words) => ran([...namespace, process.execPath, bin, ...words], env, folder),
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}
