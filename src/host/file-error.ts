import type { FileErrorCode } from './types.ts';
import { FileError } from './types.ts';

const codes: Record<string, FileErrorCode> = {
  ENOENT: 'not-found',
  EEXIST: 'exists',
  ENOTEMPTY: 'exists',
  EACCES: 'permission',
  EPERM: 'permission',
  EROFS: 'read-only',
  ENOSPC: 'no-space',
  EDQUOT: 'no-space',
  ENOTDIR: 'not-a-directory',
  EISDIR: 'is-a-directory',
  ELOOP: 'loop',
};

/** A FileError for whatever the platform threw about this path. */
export function fileError(path: string, error: unknown): FileError {
  if (error instanceof FileError) return error;
  const code = (error as NodeJS.ErrnoException | null)?.code ?? '';
  return new FileError(
    codes[code] ?? 'other',
    path,
    error instanceof Error ? error.message : String(error),
    error,
  );
}
