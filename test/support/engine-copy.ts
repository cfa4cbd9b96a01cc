import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readlink, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { engineDir, sitePackages } from './engine-install.ts';

const run = promisify(execFile);

/** The engine's own folders that tests edit in place; everything else shares its files with the shared environment. */
const copied = /^(hermes_cli|tui_gateway|gateway|hermes_agent.*\.dist-info)$/;

/** A virtual environment that runs a release of the ladder and may be edited. Returns its site-packages. */
export async function copyEngine(version: string, to: string): Promise<string> {
  const from = engineDir(version);
  const source = await sitePackages(from);
  const python = source.split('/').at(-2) as string;
  const site = join(to, 'lib', python, 'site-packages');
  await mkdir(site, { recursive: true });
  await mkdir(join(to, 'bin'));
  const base = resolve(join(from, 'bin'), await readlink(join(from, 'bin/python')));
  for (const name of ['python', 'python3']) await symlink(base, join(to, 'bin', name));
  await cp(join(from, 'pyvenv.cfg'), join(to, 'pyvenv.cfg'));
  await writeFile(
    join(to, 'bin/hermes'),
    `#!${to}/bin/python\nimport sys\nfrom hermes_cli.main import main\nif __name__ == "__main__":\n    sys.exit(main())\n`,
    { mode: 0o755 },
  );
  const names = await readdir(source);
  for (const name of names.filter((each) => copied.test(each)))
    await cp(join(source, name), join(site, name), { recursive: true, preserveTimestamps: true });
  await linkFiles(
    names.filter((name) => !copied.test(name)).map((name) => join(source, name)),
    site,
  );
  return site;
}

/**
 * Folders of their own with hard links in them. A running engine installs packages into its environment; pip and uv write new files
 * beside the old ones and so leave the shared ones alone, but would write through a link to a folder.
 */
export async function linkFiles(paths: readonly string[], folder: string): Promise<void> {
  if (paths.length === 0) return;
  const copy = (...how: string[]): Promise<unknown> => run('cp', [...how, ...paths, folder]);
  await copy('-al').catch(() => copy('-a', '--remove-destination'));
}

/** 0.15.2 with the folder that its package lacks and 0.16.0 has, so that its dashboard starts. Returns its site-packages. */
export async function repairedEngine(to: string): Promise<string> {
  const site = await copyEngine('0.15.2', to);
  const other = join(await sitePackages(engineDir('0.16.0')), 'hermes_cli/dashboard_auth');
  await cp(other, join(site, 'hermes_cli/dashboard_auth'), { recursive: true });
  return site;
}
