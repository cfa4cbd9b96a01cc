import { createHash } from 'node:crypto';
import { CompatError } from '../../errors.ts';
import { FileError, type FileErrorCode, type FileStat, type RunOptions, type RunResult } from '../types.ts';
import { firstLine } from './failures.ts';
import { checkPath, type FileMethods } from './file-methods.ts';
import {
  createScript,
  mkdirScript,
  ownershipScript,
  readdirScript,
  readlinkScript,
  readScript,
  realpathScript,
  removeDirScript,
  removeFileScript,
  renameScript,
  statScript,
} from './file-scripts.ts';

type RunScript = (text: string, args: readonly string[], options: RunOptions) => Promise<RunResult>;

const MiB = 1024 * 1024;
/** Files of tens of MiB take their time over slow lines. */
const transferMs = 30_000;
const bytesPerMs = 100;

/** File methods by scripts: they work wherever `sh` does, tell why something failed, and need one round trip each. */
export function scriptedFiles(script: RunScript, uid: number): FileMethods {
  const attempt = async (
    path: string,
    text: string,
    args: string[],
    options: RunOptions = {},
  ): Promise<Buffer> => {
    checkPath(path);
    let result: RunResult;
    try {
      result = await script(text, args, options);
    } catch (error) {
      if (error instanceof CompatError && error.details.finding === 'SSH_CUT')
        throw new FileError('cut', path, error.message, error);
      throw error;
    }
    if (result.code !== 0) throw failure(path, result);
    return result.stdout;
  };
  const stat = async (path: string, follow = false): Promise<FileStat | null> => {
    try {
      return parseStat(path, await attempt(path, statScript, [path, follow ? 'L' : '']));
    } catch (error) {
      if (error instanceof FileError && (error.code === 'not-found' || error.code === 'not-a-directory'))
        return null;
      throw error;
    }
  };
  const text = async (path: string, body: string): Promise<string> =>
    (await attempt(path, body, [path])).toString('utf8');
  const quiet = async (path: string, body: string, args: string[]): Promise<void> => {
    await attempt(path, body, args);
  };
  return {
    readFile: async (path, maxBytes = 16 * MiB) => {
      const bytes = await attempt(path, readScript, [path, String(maxBytes + 1)], {
        maxOutput: maxBytes + MiB,
        timeoutMs: transferMs + maxBytes / bytesPerMs,
      });
      if (bytes.length > maxBytes)
        throw new FileError('too-large', path, `${path} is larger than ${maxBytes} bytes`);
      return bytes;
    },
    stat,
    realpath: (path) => text(path, realpathScript),
    readlink: (path) => text(path, readlinkScript),
    readdir: async (path) =>
      (await text(path, readdirScript))
        .split('\0')
        .filter((name) => name !== '')
        .toSorted(),
    mkdir: (path, mode) => quiet(path, mkdirScript, [path, octal(mode)]),
    createFile: async (path, bytes, mode) => {
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      await attempt(path, createScript, [path, octal(mode), sha256], {
        stdin: bytes,
        timeoutMs: transferMs + bytes.length / bytesPerMs,
      });
    },
    copyOwnership: async (from, to) => {
      const [source, copy] = await Promise.all([stat(from, true), stat(to, true)]);
      if (source === null || copy === null)
        throw new FileError('not-found', source === null ? from : to, 'no such file');
      const chown = source.uid !== copy.uid;
      if (chown && uid !== 0)
        throw new FileError(
          'permission',
          to,
          `${from} belongs to uid ${source.uid}, which only root can give`,
        );
      await quiet(to, ownershipScript, [
        to,
        octal(source.mode),
        chown ? String(source.uid) : '',
        chown || source.gid !== copy.gid ? String(source.gid) : '',
      ]);
    },
    rename: (from, to) => {
      checkPath(from);
      return quiet(to, renameScript, [from, to]);
    },
    removeFile: (path) => quiet(path, removeFileScript, [path]),
    removeDir: (path) => quiet(path, removeDirScript, [path]),
  };
}

const octal = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, '0');

const kinds: Record<number, FileStat['kind']> = { 0o100000: 'file', 0o040000: 'dir', 0o120000: 'symlink' };

function parseStat(path: string, output: Buffer): FileStat {
  const [mode = '', ...rest] = output.toString('utf8').trim().split(' ');
  const bits = Number.parseInt(mode, 16);
  const numbers = rest.map(Number);
  const [size = 0, uid = 0, gid = 0, nlink = 0, mtime = 0] = numbers;
  if (numbers.length !== 5 || ![bits, ...numbers].every(Number.isFinite))
    throw new FileError('other', path, `stat answered "${firstLine(output)}"`);
  const kind = kinds[bits & 0o170000] ?? 'other';
  return { kind, size, mode: bits & 0o7777, uid, gid, nlink, mtimeMs: Math.round(mtime * 1000) };
}

/** What the tools of every host say in the C locale, from `strerror` or the shell itself. */
const reasons: readonly [RegExp, FileErrorCode][] = [
  [/No such file|nonexistent|cannot open .*: No such/i, 'not-found'],
  [/File exists|Directory not empty|cannot overwrite existing file/i, 'exists'],
  [/Permission denied|Operation not permitted/i, 'permission'],
  [/Read-only file system/i, 'read-only'],
  [/No space left|quota exceeded/i, 'no-space'],
  [/Not a directory/i, 'not-a-directory'],
  [/Is a directory|cannot overwrite (?:non-)?directory/i, 'is-a-directory'],
  [/Too many levels of symbolic links|Symbolic link loop/i, 'loop'],
];

function failure(path: string, result: RunResult): FileError {
  const said = firstLine(result.stderr);
  if (result.timedOut) return new FileError('other', path, `${path}: no answer before the deadline`);
  const [, code] = reasons.find(([pattern]) => pattern.test(said)) ?? [null, 'other' as const];
  return new FileError(code, path, said === '' ? `${path}: exit ${result.code}` : said);
}
