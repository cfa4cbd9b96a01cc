import {
  copyFile,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  writeFile,
} from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Home, Install } from '../../src/engine/schema.ts';
import { whoami } from '../../src/host/holder.ts';
import { localHost } from '../../src/host/local.ts';
import type { Host } from '../../src/host/types.ts';
import { loadCatalogue } from '../../src/patch/catalogue.ts';
import type { Session } from '../../src/patch/change.ts';
import type { PlanOptions } from '../../src/patch/schema.ts';
import type { Scene } from '../../src/patch/world.ts';
import { engineDir, sitePackages } from './engine-install.ts';
import { miniServer } from './mini-engine.ts';

export const testHost = (): Host =>
  localHost({ path: '/usr/local/bin:/usr/bin:/bin', home: tmpdir(), platform: 'linux' });

/** Files of the package that patches look at. */
const wanted = [
  '__init__.py',
  'web_server.py',
  'web_server_dashboard.py',
  'plugin_isolation.py',
  'web_routers/chat_ws.py',
];

export interface TestScene extends Scene {
  folder: string;
  install: Install;
  remove(): Promise<void>;
}

/** An unpacked tree with the files of a real release, and an empty home. Nothing of it is ever started. */
export async function unpackedScene(version: string, edit?: (text: string) => string): Promise<TestScene> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hermes-patch-')));
  const packageDir = join(folder, 'site-packages', 'hermes_cli');
  const source = join(await sitePackages(engineDir(version)), 'hermes_cli');
  for (const name of wanted) {
    await mkdir(dirname(join(packageDir, name)), { recursive: true });
    await copyFile(join(source, name), join(packageDir, name)).catch(() => {});
  }
  const server = join(packageDir, 'web_server.py');
  if (edit !== undefined) await writeFile(server, edit(await readFile(server, 'utf8')));
  const home = join(folder, 'home');
  await mkdir(home, { mode: 0o700 });
  return {
    folder,
    target: { kind: 'local', name: 'local', url: null },
    install: installFacts(packageDir, join(engineDir(version), 'bin', 'python')),
    home: homeFacts(home),
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** A tree of the few lines that matter, around any text of web_server.py. */
export async function miniScene(server: string | Buffer = miniServer): Promise<TestScene> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hermes-mini-')));
  const packageDir = join(folder, 'site-packages', 'hermes_cli');
  await mkdir(packageDir, { recursive: true });
  await writeFile(join(packageDir, 'web_server.py'), server);
  const home = join(folder, 'home');
  await mkdir(home, { mode: 0o700 });
  return {
    folder,
    target: { kind: 'local', name: 'local', url: null },
    install: installFacts(packageDir, '/usr/bin/python3'),
    home: homeFacts(home),
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

export const installFacts = (packageDir: string, python: string): Install => ({
  id: dirname(packageDir),
  root: dirname(packageDir),
  packageDir,
  method: 'pip',
  distribution: 'hermes-agent',
  version: null,
  releaseDate: null,
  generation: null,
  contract: { value: null, state: 'none', raw: null },
  chatAssignment: 'unknown',
  interpreter: { path: python, version: null },
  commands: [join(dirname(python), 'hermes')],
  onPath: false,
  state: 'pristine',
  editedFiles: [],
  writable: 'yes',
  notWritable: null,
  owner: null,
  missingModules: [],
  wsLibrary: 'present',
  webBuild: 'unknown',
  git: null,
  codeFiles: [],
});

export const homeFacts = (path: string, root = path): Home => ({
  path,
  root,
  profile: null,
  from: 'flag',
  exists: true,
  readable: true,
  writable: true,
  managed: false,
  envFile: { exists: false, readable: true, tui: null, webDist: null, sessionToken: null },
  config: {
    exists: false,
    readable: true,
    pluginsEnabled: null,
    pluginsIsolation: null,
    publicUrl: false,
    configVersion: null,
  },
  otherPlugins: [],
  overlay: { present: false, carries: [], revision: null },
  markers: [],
  journalUnfinished: false,
  locks: [],
});

/** A session that drives no dashboard unless `over` brings a check. */
export async function session(scene: Scene, over: Partial<Session> = {}): Promise<Session> {
  const host = over.host ?? testHost();
  return {
    host,
    scene,
    catalogue: await loadCatalogue(),
    who: await whoami(testHost(), process.pid),
    signal: null,
    now: () => new Date().toISOString(),
    verify: null,
    ...over,
  };
}

export const options = (over: Partial<PlanOptions> = {}): PlanOptions => ({
  do: 'apply',
  patches: ['embedded-chat', 'model-library'],
  carrier: null,
  allowNonLoopback: false,
  replace: false,
  ...over,
});

export const agree = (over: Partial<PlanOptions> = {}) => ({
  options: options(over),
  saved: null,
  consent: async () => true,
});

/** Every path below a folder with its kind, mode and content; bytecode left out. */
export async function snapshot(
  folder: string,
  skip: readonly string[] = [],
): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  const walk = async (relative: string): Promise<void> => {
    for (const name of (await readdir(join(folder, relative))).sort()) {
      const path = relative === '' ? name : `${relative}/${name}`;
      if (skip.some((each) => path === each || path.endsWith(`/${each}`))) continue;
      const stat = await lstat(join(folder, path));
      const mode = (stat.mode & 0o7777).toString(8);
      if (stat.isSymbolicLink()) found[path] = `link ${await readlink(join(folder, path))}`;
      else if (stat.isDirectory()) {
        found[path] = `dir ${mode}`;
        await walk(path);
      } else found[path] = `${mode} ${contentHash(await readFile(join(folder, path)))}`;
    }
  };
  await walk('');
  return found;
}

/** Enough of a hash to tell contents apart, short enough to be read in a failure. */
export const contentHash = (bytes: Buffer): string =>
  createHash('sha256').update(bytes).digest('hex').slice(0, 16);

/** Modification times, to see that nothing was written again. */
export async function times(folder: string): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    found[path] = (await lstat(path)).mtimeMs;
  }
  return found;
}
