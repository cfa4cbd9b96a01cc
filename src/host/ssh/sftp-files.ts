import type { Attributes, SFTPWrapper, Stats } from 'ssh2';
import { FileError, type FileErrorCode, type FileStat } from '../types.ts';
import { checkPath, type FileMethods } from './file-methods.ts';
import { cutError, sshError } from './failures.ts';

const MiB = 1024 * 1024;
/** Servers must take packets of 32 KiB of data (draft-ietf-secsh-filexfer-02 §3). */
const chunk = 32 * 1024;
const parallel = 16;

type Call = <T>(
  path: string,
  start: (give: (error: Error | null | undefined, value: T) => void) => unknown,
) => Promise<T>;

/**
 * File methods by SFTP, for accounts on which nothing can be run. Its errors are coarse, it has no link counts, and only
 * OpenSSH's extension replaces a file in one step.
 *
 * @param gone settles when the connection is cut: ssh2 does not call back then
 */
export function sftpFiles(
  sftp: SFTPWrapper,
  host: string,
  gone: Promise<unknown>,
  timeoutMs: number,
): FileMethods {
  const call: Call = (path, start) => {
    checkPath(path);
    return new Promise((resolve, reject) => {
      const cut = (): void =>
        reject(new FileError('cut', path, `the connection to ${host} was cut`, cutError(host)));
      const timer = setTimeout(cut, timeoutMs);
      void gone.then(cut);
      start((error, value) => {
        clearTimeout(timer);
        if (error) reject(sftpError(path, error));
        else resolve(value);
      });
    });
  };
  const stat = async (path: string, follow = false): Promise<FileStat | null> => {
    try {
      return fileStat(
        await call<Stats>(path, (give) => (follow ? sftp.stat(path, give) : sftp.lstat(path, give))),
      );
    } catch (error) {
      if (error instanceof FileError && error.code === 'not-found') return null;
      throw error;
    }
  };
  const done = (path: string, start: (give: (error?: Error | null) => void) => unknown): Promise<void> =>
    call<void>(path, (give) => start((error) => give(error)));
  /** SFTP says "failure" for both: what is there tells. */
  const mustBeFree = async (path: string): Promise<void> => {
    if ((await stat(path)) !== null)
      throw new FileError('exists', path, `${path}: there is something already`);
  };
  const setAttributes = (path: string, attributes: Attributes): Promise<void> =>
    done(path, (give) => sftp.setstat(path, attributes, give));
  return {
    stat,
    readFile: (path, maxBytes = 16 * MiB) => readAll(sftp, call, path, maxBytes),
    realpath: async (path) => {
      const real = await call<string>(path, (give) => sftp.realpath(path, give));
      await call<Stats>(path, (give) => sftp.stat(real, give));
      return real;
    },
    readlink: (path) => call<string>(path, (give) => sftp.readlink(path, give)),
    readdir: async (path) => {
      const entries = await call<{ filename: string }[]>(path, (give) => sftp.readdir(path, give));
      return entries.map(({ filename }) => filename).filter((name) => name !== '.' && name !== '..');
    },
    mkdir: async (path, mode) => {
      await mustBeFree(path);
      await done(path, (give) => sftp.mkdir(path, { mode }, give));
      await done(path, (give) => sftp.chmod(path, mode, give));
    },
    createFile: async (path, bytes, mode) => {
      await mustBeFree(path);
      const handle = await call<Buffer>(path, (give) => sftp.open(path, 'wx', 0o600, give));
      try {
        for (let at = 0; at < bytes.length; at += chunk) {
          const part = Buffer.from(bytes.subarray(at, at + chunk));
          await done(path, (give) => sftp.write(handle, part, 0, part.length, at, give));
        }
        await done(path, (give) => sftp.fchmod(handle, mode, give));
        await call<unknown>(path, (give) => sftp.ext_openssh_fsync(handle, give)).catch(() => {});
        await done(path, (give) => sftp.close(handle, give));
        const written = await readAll(sftp, call, path, bytes.length);
        if (!written.equals(bytes))
          throw new FileError('other', path, `${path}: what arrived is not what was sent`);
      } catch (error) {
        await done(path, (give) => sftp.unlink(path, give)).catch(() => {});
        throw error;
      }
    },
    copyOwnership: async (from, to) => {
      const [source, copy] = [await stat(from, true), await stat(to, true)];
      if (source === null || copy === null)
        throw new FileError('not-found', source === null ? from : to, 'no such file');
      const { uid, gid, mode } = source;
      if (uid !== copy.uid) await setAttributes(to, { uid, gid } as Attributes);
      else if (gid !== copy.gid) await setAttributes(to, { uid, gid } as Attributes).catch(() => {});
      await setAttributes(to, { mode } as Attributes);
    },
    rename: async (from, to) => {
      const call2 = done(to, (give) => sftp.ext_openssh_rename(from, to, give));
      await call2.catch((error: unknown) => {
        if (!/does not support this extended request/i.test(String((error as Error).cause))) throw error;
        throw sshError('SSH_SFTP_UNUSABLE', `${host}: this server cannot replace a file in one step`, {
          host,
        });
      });
    },
    removeFile: (path) => ignoreMissing(done(path, (give) => sftp.unlink(path, give))),
    removeDir: (path) => ignoreMissing(done(path, (give) => sftp.rmdir(path, give))),
  };
}

async function readAll(sftp: SFTPWrapper, call: Call, path: string, maxBytes: number): Promise<Buffer> {
  const { size, mode } = await call<Stats>(path, (give) => sftp.stat(path, give));
  if ((mode & 0o170000) === 0o040000) throw new FileError('is-a-directory', path, `${path} is a directory`);
  if (size > maxBytes) throw new FileError('too-large', path, `${path} is larger than ${maxBytes} bytes`);
  const handle = await call<Buffer>(path, (give) => sftp.open(path, 'r', give));
  try {
    const parts: Buffer[] = [];
    for (let at = 0; at < size; at += chunk * parallel) {
      const offsets = Array.from({ length: parallel }, (_, i) => at + i * chunk).filter(
        (offset) => offset < size,
      );
      parts.push(
        ...(await Promise.all(
          offsets.map((offset) => readPart(sftp, call, path, handle, offset, Math.min(chunk, size - offset))),
        )),
      );
    }
    return Buffer.concat(parts);
  } finally {
    await call<void>(path, (give) => sftp.close(handle, (error) => give(error, undefined))).catch(() => {});
  }
}

async function readPart(
  sftp: SFTPWrapper,
  call: Call,
  path: string,
  handle: Buffer,
  offset: number,
  length: number,
): Promise<Buffer> {
  const part = Buffer.alloc(length);
  let have = 0;
  while (have < length) {
    const got = await call<number>(path, (give) =>
      sftp.read(handle, part, have, length - have, offset + have, (error, bytes) => give(error, bytes)),
    );
    if (got === 0) throw new FileError('changed', path, `${path} became shorter while it was read`);
    have += got;
  }
  return part;
}

function fileStat({ mode, size, uid, gid, mtime }: Stats): FileStat {
  const kinds: Record<number, FileStat['kind']> = { 0o100000: 'file', 0o040000: 'dir', 0o120000: 'symlink' };
  return {
    kind: kinds[mode & 0o170000] ?? 'other',
    size,
    mode: mode & 0o7777,
    uid,
    gid,
    nlink: 1,
    mtimeMs: mtime * 1000,
  };
}

/** Status codes of draft-ietf-secsh-filexfer-02 §7; 4 is all that has no code of its own. */
const codes: Record<number, FileErrorCode> = { 2: 'not-found', 3: 'permission' };

const sftpError = (path: string, error: Error & { code?: unknown }): FileError =>
  new FileError(codes[Number(error.code)] ?? 'other', path, `${path}: ${error.message}`, error);

async function ignoreMissing(action: Promise<void>): Promise<void> {
  try {
    await action;
  } catch (error) {
    if (!(error instanceof FileError && error.code === 'not-found')) throw error;
  }
}
