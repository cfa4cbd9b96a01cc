import { CompatError, type ErrorKind } from '../errors.ts';
import { FileError, type FileErrorCode } from '../host/types.ts';

const findings: Partial<Record<FileErrorCode, string>> = {
  permission: 'NOT_WRITABLE',
  'read-only': 'READ_ONLY_FS',
  cut: 'SSH_CUT',
};

/** The finding code of a failed file operation; null where none fits. */
export const findingOf = (error: unknown): string | null =>
  error instanceof FileError ? (findings[error.code] ?? null) : null;

/** Runs work whose file errors mean this kind of end. Other errors pass. */
export async function fileErrorsAs<T>(kind: ErrorKind, what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    const finding =
      kind === 'unchecked' && error.code === 'permission' ? 'HOME_UNREADABLE' : findingOf(error);
    throw new CompatError(error.code === 'cut' ? 'unchecked' : kind, `${what}: ${error.message}`, {
      ...(finding === null ? {} : { finding }),
      args: { path: error.path },
      cause: error,
    });
  }
}
