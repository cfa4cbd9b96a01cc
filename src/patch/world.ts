import { overlayFolder, compatFolder } from '../engine/compat-places.ts';
import type { Home, Install } from '../engine/schema.ts';
import { FileError, type FileStat, type Host, type HostIdentity } from '../host/types.ts';
import { readFolders, type FolderAccess } from './access.ts';
import type { Catalogue } from './catalogue.ts';
import { readMarkers, type MarkerReading } from './marker.ts';
import { parsePython } from './python-module.ts';
import type { PlanDocument } from './schema.ts';
import { decode } from './text.ts';
import { readLock, type UpdateState } from './update-state.ts';

/** One path as it is. `bytes` null: nothing there. */
export interface FileState {
  path: string;
  /** Where the bytes really are: links followed. */
  real: string;
  bytes: Buffer | null;
  stat: FileStat | null;
}

/** The facts of discovery that a change starts from. */
export interface Scene {
  target: PlanDocument['target'];
  home: Home;
  install: Install | null;
}

/** Everything that planning looks at, read once. Planning itself does no I/O. */
export interface World extends Scene {
  me: HostIdentity;
  /** Home whose plugins the dashboard reads. */
  overlayHome: string;
  /** Files of the install, by path below the folder of hermes_cli. */
  tree: ReadonlyMap<string, FileState>;
  /** Files of our overlay folder, by name; bytecode left out. */
  overlay: ReadonlyMap<string, FileState>;
  config: FileState;
  /** Other plugins that the engine would load by itself once no list exists. */
  otherPlugins: string[];
  folders: ReadonlyMap<string, FolderAccess>;
  markers: MarkerReading;
  update: UpdateState | null;
}

export const dirname = (path: string): string => path.slice(0, Math.max(1, path.lastIndexOf('/')));
export const basename = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
export const join = (folder: string, path: string): string => `${folder.replace(/\/$/, '')}/${path}`;

export async function readWorld(host: Host, scene: Scene, catalogue: Catalogue): Promise<World> {
  const { home, install } = scene;
  const me = await host.identity();
  const tree = install === null ? new Map<string, FileState>() : await readTree(host, install, catalogue);
  const overlayHome = (await readsRootHome(catalogue, tree)) ? home.root : home.path;
  const folder = overlayFolder(overlayHome);
  const overlay = await readOverlayFolder(host, folder);
  const config = await readState(host, join(overlayHome, 'config.yaml'));
  const folders = await readFolders(host, me, [
    ...(install === null ? [] : [install.packageDir]),
    ...[...tree.values()].filter((file) => file.bytes !== null).map((file) => dirname(file.real)),
    ...[...overlay.values()].map((file) => dirname(file.real)),
    folder,
    dirname(config.real),
    compatFolder(home.root),
  ]);
  return {
    ...scene,
    me,
    overlayHome,
    tree,
    overlay,
    config,
    otherPlugins: await otherPlugins(host, overlayHome),
    folders,
    markers: await readMarkers(host, home.root),
    update: await readLock(host, home.root),
  };
}

export async function readState(host: Host, path: string): Promise<FileState> {
  let real = path;
  try {
    real = await host.realpath(path);
  } catch (error) {
    if (!(error instanceof FileError && (error.code === 'not-found' || error.code === 'not-a-directory')))
      throw error;
    // A dangling link: the file that it names is the one to make.
    const link = await host.stat(path);
    if (link?.kind === 'symlink') {
      const target = await host.readlink(path);
      real = target.startsWith('/') ? target : join(dirname(path), target);
    }
    return { path, real, bytes: null, stat: null };
  }
  const stat = await host.stat(real);
  if (stat?.kind !== 'file') return { path, real, bytes: null, stat };
  return { path, real, bytes: await host.readFile(real), stat };
}

async function readTree(host: Host, install: Install, catalogue: Catalogue): Promise<Map<string, FileState>> {
  const { overlay, patches } = catalogue;
  const names = new Set([overlay.file, overlay.isolation, ...overlay.enabling.files]);
  const routes: string[] = [];
  for (const patch of patches) {
    names.add(patch.source.file);
    if (patch.source.kind === 'include') names.add(patch.source.installAs);
    for (const rule of patch.retires.structure) {
      if (rule.kind === 'route') routes.push(rule.path);
      else names.add(rule.kind === 'file' ? rule.path : rule.file);
    }
  }
  for (const name of await mentioning(host, install.packageDir, routes)) names.add(name);
  const states = await Promise.all(
    [...names].map(async (name) => [name, await readState(host, join(install.packageDir, name))] as const),
  );
  return new Map(states.filter(([, state]) => state.bytes !== null));
}

/** Python files of the package that hold one of these texts, by path below it. */
async function mentioning(host: Host, folder: string, texts: readonly string[]): Promise<string[]> {
  if (texts.length === 0) return [];
  const patterns = texts.flatMap((text) => ['-e', text]);
  const script =
    'cd "$1" || exit 0; shift; find . -name "*.py" -type f -exec grep -lF "$@" -- {} + 2>/dev/null; exit 0';
  const { stdout } = await host.script(script, [folder, ...patterns]);
  return stdout
    .toString('utf8')
    .split('\n')
    .filter((line) => line.startsWith('./'))
    .map((line) => line.slice(2));
}

async function readsRootHome(catalogue: Catalogue, tree: ReadonlyMap<string, FileState>): Promise<boolean> {
  const { file, rootHome } = catalogue.overlay;
  const text = decode(tree.get(file)?.bytes ?? Buffer.alloc(0));
  if (text === null || text === '') return false;
  const functions = (await parsePython(text)).functions(rootHome.function);
  return functions.some((each) => each.parameters.some(({ name }) => name === rootHome.parameter));
}

async function readOverlayFolder(host: Host, folder: string): Promise<Map<string, FileState>> {
  const files = new Map<string, FileState>();
  for (const name of await namesIn(host, folder)) {
    if (name === '__pycache__' || name.startsWith('.hermes-compat-')) continue;
    const state = await readState(host, join(folder, name));
    if (state.bytes !== null) files.set(name, state);
  }
  return files;
}

export async function namesIn(host: Host, folder: string): Promise<string[]> {
  try {
    return (await host.readdir(folder)).sort();
  } catch (error) {
    if (error instanceof FileError && (error.code === 'not-found' || error.code === 'not-a-directory'))
      return [];
    throw error;
  }
}

async function otherPlugins(host: Host, home: string): Promise<string[]> {
  const folder = join(home, 'plugins');
  const found: string[] = [];
  for (const name of await namesIn(host, folder)) {
    if (name === 'hermes-compat') continue;
    for (const manifest of ['plugin.yaml', 'plugin.yml']) {
      if ((await host.stat(join(folder, `${name}/${manifest}`), true)) !== null) found.push(name);
    }
  }
  return [...new Set(found)];
}
