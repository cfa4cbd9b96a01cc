import { FileError, type Host } from '../../host/types.ts';
import { sha256 } from '../../patch/text.ts';

/** What lies at one path of a tree: a file with its bytes, or a symlink with its text as bytes. */
export interface Entry {
  bytes: Buffer;
  link: boolean;
  /** Permission bits; null: as what stands there, or 0644. Of no meaning for a link. */
  mode: number | null;
}

/** null: nothing, a folder, or what cannot be read. Links are never followed: what one leads to is no edit. */
export async function readEntry(host: Host, path: string): Promise<Entry | null> {
  try {
    const stat = await host.stat(path);
    if (stat?.kind === 'symlink')
      return { bytes: Buffer.from(await host.readlink(path)), link: true, mode: null };
    if (stat?.kind !== 'file') return null;
    return { bytes: await host.readFile(path), link: false, mode: stat.mode };
  } catch (error) {
    if (error instanceof FileError) return null;
    throw error;
  }
}

/** As git sees it: of a mode only whether its owner may execute the file. */
export const isSameEntry = (a: Entry, b: Entry): boolean =>
  a.link === b.link &&
  a.bytes.equals(b.bytes) &&
  (a.link || a.mode === null || b.mode === null || (a.mode & 0o100) === (b.mode & 0o100));

/**
 * Never in place: files of an install can be hard links into a cache.
 *
 * @throws FileError
 */
export async function putEntry(host: Host, path: string, { bytes, link, mode }: Entry): Promise<void> {
  const folder = path.slice(0, path.lastIndexOf('/'));
  const fresh = `${folder}/.hermes-compat-${sha256(path).slice(0, 12)}.new`;
  // An updater that leaves out the only file of a folder takes the folder with it.
  await must(host, path, ['mkdir', '-p', folder]);
  await host.removeFile(fresh);
  const stands = await host.stat(path);
  if (link) await must(host, path, ['ln', '-s', '--', bytes.toString('utf8'), fresh]);
  else {
    await host.createFile(fresh, bytes, mode ?? 0o644);
    if (stands?.kind === 'file') {
      await host.copyOwnership(path, fresh);
      if (mode !== null) await must(host, path, ['chmod', mode.toString(8), fresh]);
    }
  }
  await host.rename(fresh, path);
}

async function must(host: Host, path: string, argv: readonly string[]): Promise<void> {
  const { code, stderr } = await host.run(argv);
  if (code !== 0)
    throw new FileError('other', path, `${argv[0] ?? ''}: ${stderr.toString('utf8').trim().slice(0, 300)}`);
}
