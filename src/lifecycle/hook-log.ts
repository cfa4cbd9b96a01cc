import { compatFolder, hookFolder } from '../engine/compat-places.ts';
import { FileError, type Host } from '../host/types.ts';
import { ensureFolder } from '../patch/journal.ts';

const maxBytes = 128 * 1024;

export const hookLog = (root: string): string => `${hookFolder(root)}/hook.log`;

export async function ensureHookFolder(host: Host, root: string): Promise<void> {
  await ensureFolder(host, compatFolder(root));
  await ensureFolder(host, hookFolder(root));
}

/**
 * Adds lines to the log of `hook run`. One that is larger than 128 KiB becomes `hook.log.1`, and the one before that goes. Only the
 * run that holds the lock of hooks writes here.
 */
export async function addToLog(
  host: Host,
  root: string,
  at: string,
  lines: readonly string[],
): Promise<void> {
  if (lines.length === 0) return;
  await ensureHookFolder(host, root);
  const path = hookLog(root);
  const before = await readIfThere(host, path);
  if (before.length > maxBytes) await host.rename(path, `${path}.1`);
  const kept = before.length > maxBytes ? Buffer.alloc(0) : before;
  const text = lines.map((line) => `${at} ${line.replaceAll('\n', ' ')}\n`).join('');
  await host.removeFile(`${path}.new`);
  await host.createFile(`${path}.new`, Buffer.concat([kept, Buffer.from(text)]), 0o600);
  await host.rename(`${path}.new`, path);
}

async function readIfThere(host: Host, path: string): Promise<Buffer> {
  try {
    return await host.readFile(path);
  } catch (error) {
    if (error instanceof FileError) return Buffer.alloc(0);
    throw error;
  }
}
