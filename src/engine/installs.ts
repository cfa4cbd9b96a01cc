import { type Gathered, linesOf, record, recordsOf } from './gather.ts';
import { checkoutOf } from './checkout.ts';
import { methodOf, onReadOnlyMount, writability } from './install-method.ts';
import { againstGit, againstRecord } from './install-state.ts';
import { constantOf, mainDist, versionClaims } from './install-versions.ts';
import { type RawInstall, rawInstall, unique } from './raw-install.ts';
import { residueOf } from './residue.ts';
import type { CodeFile, Install } from './schema.ts';
import { contractOnDisk, readStructure } from './structure.ts';
import { type FoundLine, type TreeFacts, treeFacts } from './tree-facts.ts';

/** Every install that the script found, in the order of finding. Paths of files are relative to the install root. */
export function installsOf(gathered: Gathered): Install[] {
  const tree = treeFacts(gathered);
  return (gathered.records.get('install') ?? []).map((fields) =>
    installOf(rawInstall(gathered, tree, fields), gathered, tree),
  );
}

function installOf(raw: RawInstall, gathered: Gathered, tree: TreeFacts): Install {
  const { index, root } = raw;
  const main = mainDist(raw, tree);
  const claims = versionClaims(raw, tree, main);
  const checkout = checkoutOf(raw, gathered);
  return {
    id: root,
    root,
    packageDir: `${root}/hermes_cli`,
    distribution: main?.name ?? null,
    version: claims[0]?.version ?? null,
    releaseDate: constantOf(raw.code, '__release_date__'),
    ...sourceFacts(raw),
    interpreter: raw.python === '' ? null : { path: raw.python, version: raw.flag('python') },
    commands: unique(recordsOf(gathered, 'command', index).flat()),
    onPath: record(gathered, 'onpath')[0] === index,
    ...(checkout === null ? againstRecord(root, tree) : againstGit(checkout.edited)),
    ...ownership(raw, gathered, tree, main),
    missingModules: missingModules(raw, gathered),
    wsLibrary: library(raw, ['websockets', 'wsproto']),
    webBuild: raw.flag('web') ? 'present' : raw.flag('web-server') ? 'missing' : 'unknown',
    git: checkout?.git ?? null,
    residue: residueOf(raw, gathered, claims),
    codeFiles: codeFiles(root, tree),
  };
}

function sourceFacts(
  raw: RawInstall,
): Pick<
  Install,
  | 'generation'
  | 'chatAssignment'
  | 'chatDefaultOnly'
  | 'profileServesFrom'
  | 'contract'
  | 'modelLibrary'
  | 'pluginMount'
> {
  const { root, code } = raw;
  const server = code.filter(({ file }) => file === `${root}/hermes_cli/web_server.py`);
  const readable = raw.flag('web-server') !== null;
  return {
    ...readStructure(server, raw.flag('chat-ws') !== null),
    contract: contractOnDisk(
      code.filter(({ file }) => file.startsWith(`${root}/tui_gateway/`)),
      readable && raw.flag('gateway') !== null,
    ),
    ...(readable ? { pluginMount: mountsPlugins(server) ? 'known' : 'unknown' } : {}),
    modelLibrary: hasLibraryRoute(code) ? 'present' : readable ? 'absent' : 'unknown',
  };
}

/** The call before which both carriers of the model library come. */
const mountsPlugins = (lines: FoundLine[]): boolean =>
  lines.filter(({ text }) => text.startsWith('_mount_plugin_api_routes()')).length === 1;

const hasLibraryRoute = (lines: FoundLine[]): boolean =>
  lines.some(({ text }) =>
    // Our own source edit names its route in a module beside, and says so in the line above its include.
    /(\.(get|post|patch|put|delete|route|api_route|add_api_route)\(\s*|^\s*)["']\/api\/model\/library["'/]|^\s*# Adds \/api\/model\/library from hermes_compat_model_library\.py/.test(
      text,
    ),
  );

function ownership(
  raw: RawInstall,
  gathered: Gathered,
  tree: TreeFacts,
  main: ReturnType<typeof mainDist>,
): Pick<Install, 'method' | 'writable' | 'notWritable' | 'owner'> {
  const [, , uid, , container] = record(gathered, 'host');
  const installer = main?.installer ?? null;
  const method = methodOf({
    ...raw,
    installer,
    editable: raw.dists.some(({ editable }) => editable),
    container: container === 'yes',
  });
  const owner = tree.stats.get(`${raw.root}/hermes_cli`)?.uid ?? null;
  const signs = {
    root: raw.root,
    method,
    installer,
    managedHome: managedHome(gathered),
    writable: raw.flag('writable') !== null,
    owner,
    uid: Number(uid),
    readOnly: onReadOnlyMount(raw.root, linesOf(gathered, 'mounts')),
  };
  return {
    method,
    ...writability(signs),
    owner: owner === null ? null : { uid: owner, name: userName(gathered, owner) },
  };
}

/** The home of the target says that a package manager owns this engine (`get_managed_system` of `hermes_cli/config.py`). */
const managedHome = (gathered: Gathered): boolean =>
  (gathered.records.get('homedir') ?? []).some(
    ([number, , state = '']) => number === '1' && state.split(',').includes('managed'),
  );

/** Name of a user on that host; null where its list of users does not have it. */
export function userName(gathered: Gathered, uid: number): string | null {
  const [, , ownUid, ownName] = record(gathered, 'host');
  if (String(uid) === ownUid && ownName) return ownName;
  const line = linesOf(gathered, 'passwd').find((entry) => entry.endsWith(`:${uid}`));
  return line?.slice(0, line.lastIndexOf(':')) ?? null;
}

/** Whether its environment has one of these packages; unknown where it may see packages of the system. */
function library(raw: RawInstall, names: string[]): 'present' | 'missing' | 'unknown' {
  if (names.some((name) => raw.flag(name) !== null)) return 'present';
  return raw.flag('site') !== null && raw.flag('isolated') !== null ? 'missing' : 'unknown';
}

/** Modules of its own that are not there, and the two libraries without which a dashboard ends at once. */
function missingModules(raw: RawInstall, gathered: Gathered): string[] {
  const own = recordsOf(gathered, 'missing', raw.root).flat();
  const libraries = ['fastapi', 'uvicorn'].filter((name) => library(raw, [name]) === 'missing');
  return unique([...own, ...libraries]);
}

function codeFiles(root: string, tree: TreeFacts): CodeFile[] {
  return [...tree.stats].flatMap(([path, { size, mtimeMs }]) => {
    if (!path.startsWith(`${root}/`) || !path.endsWith('.py')) return [];
    return [{ path: path.slice(root.length + 1), sha256: tree.sha256.get(path) ?? '', mtimeMs, size }];
  });
}
