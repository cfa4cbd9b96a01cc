import { FileError, type Host } from '../types.ts';
import { firstLine } from './failures.ts';

/** The part of a Host that is about files. Implementations: `files.ts` (scripts) and `sftp-files.ts`. */
export type FileMethods = Pick<
  Host,
  | 'readFile'
  | 'stat'
  | 'realpath'
  | 'readlink'
  | 'readdir'
  | 'mkdir'
  | 'createFile'
  | 'copyOwnership'
  | 'rename'
  | 'removeFile'
  | 'removeDir'
>;

/** @throws FileError for a path that is not absolute, or that no file system can hold */
export function checkPath(path: string): void {
  if (!path.startsWith('/') || path.includes('\0'))
    throw new FileError('other', path, `"${firstLine(path)}" is not an absolute path`);
}
