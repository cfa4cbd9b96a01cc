import { hookFolder } from '../../engine/compat-places.ts';
import { textIfThere } from '../../host/read-text.ts';
import type { Host } from '../../host/types.ts';
import { fileErrorsAs } from '../../patch/file-trouble.ts';
import { writeWhole } from '../../patch/journal.ts';
import { ensureHookFolder } from '../hook-log.ts';
import { hookIds, type HookRecord } from './types.ts';

const recordFile = (root: string): string => `${hookFolder(root)}/installed.json`;

/** Hooks that were installed for this root home. @throws CompatError unchecked HOME_UNREADABLE */
export async function readHooks(host: Host, root: string): Promise<HookRecord[]> {
  const text = await fileErrorsAs('unchecked', 'which hooks are installed cannot be read', () =>
    textIfThere(host, recordFile(root)),
  );
  try {
    const { hooks } = JSON.parse(text ?? '{}') as { hooks?: unknown };
    return Array.isArray(hooks) ? hooks.filter(isRecord) : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

const isRecord = (value: unknown): value is HookRecord => {
  const record = value as Partial<HookRecord> | null;
  return (
    typeof record?.id === 'string' &&
    hookIds.some((id) => id === record.id) &&
    Array.isArray(record.files) &&
    record.files.every(({ path, sha256: hash }) => typeof path === 'string' && typeof hash === 'string')
  );
};

/** @throws FileError */
export async function keepHooks(host: Host, root: string, hooks: readonly HookRecord[]): Promise<void> {
  if (hooks.length === 0) return host.removeFile(recordFile(root));
  await ensureHookFolder(host, root);
  await writeWhole(host, recordFile(root), `${JSON.stringify({ hooks }, null, 2)}\n`);
}
