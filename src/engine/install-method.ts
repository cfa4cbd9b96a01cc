import type { Install } from './schema.ts';

/** What tells how an install came to be. */
export interface MethodSigns {
  root: string;
  prefix: string;
  flag: (name: string) => string | null;
  installer: string | null;
  editable: boolean;
  /** The host is a container. */
  container: boolean;
}

/**
 * By what lies on disk, not by what the engine says: 0.15 calls every container `docker` (`hermes_cli/config.py`,
 * detect_install_method). A tree inside a tool's own environment is that tool's, a checkout is git's wherever its venv is.
 */
export function methodOf({
  root,
  prefix,
  flag,
  installer,
  editable,
  container,
}: MethodSigns): Install['method'] {
  const inside = prefix !== '' && root.startsWith(`${prefix}/`);
  if (root.startsWith('/nix/store/')) return 'nix';
  if (flag('stamp')?.toLowerCase() === 'docker' || (container && root === '/opt/hermes')) return 'docker';
  if (inside && (flag('uv-receipt') || root.includes('/uv/tools/'))) return 'uv-tool';
  if (inside && (flag('pipx') || root.includes('/pipx/venvs/'))) return 'pipx';
  if (root === '/usr/local/lib/hermes-agent') return 'fhs';
  if (flag('git')) return 'git';
  if (editable) return 'editable';
  if (installer === 'uv' || installer === 'pip') return installer;
  return 'unknown';
}

/** Who may change the tree, and why nobody here may. `sealed`: lost with the image or store; `managed`: a package manager's. */
export function writability(signs: {
  root: string;
  method: Install['method'];
  installer: string | null;
  managedHome: boolean;
  writable: boolean;
  owner: number | null;
  uid: number;
  readOnly: boolean;
}): Pick<Install, 'writable' | 'notWritable'> {
  const { root, method, owner, uid } = signs;
  const no = (notWritable: Install['notWritable']) => ({ writable: 'no' as const, notWritable });
  if (method === 'docker' || method === 'nix') return no('sealed');
  if (signs.managedHome && method !== 'git' && method !== 'fhs') return no('managed');
  if (systemPackage(root, signs.installer)) return no('managed');
  if (signs.readOnly && !signs.writable) return no('read-only-fs');
  if (owner === null) return { writable: 'unknown', notWritable: null };
  if (uid !== 0 && owner !== uid) return no('other-owner');
  return signs.writable ? { writable: 'yes', notWritable: null } : no('permission');
}

const systemPackage = (root: string, installer: string | null): boolean =>
  /^\/usr\/lib\d*\/python3|\/Cellar\//.test(root) || installer === 'rpm' || installer === 'debian';

/** Is a path on a file system that is mounted read-only? `lines`: mount point and options of /proc/mounts. */
export function onReadOnlyMount(path: string, lines: readonly string[]): boolean {
  let nearest = { length: -1, readOnly: false };
  for (const line of lines) {
    const [point = '', options = ''] = line.split(' ');
    const folder = point.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
      String.fromCharCode(Number.parseInt(octal, 8)),
    );
    const covers = folder === '/' || path === folder || path.startsWith(`${folder}/`);
    // The later of two mounts on one point lies on top.
    if (covers && folder.length >= nearest.length)
      nearest = { length: folder.length, readOnly: /(^|,)ro(,|$)/.test(options) };
  }
  return nearest.readOnly;
}
