import { spawn } from 'node:child_process';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  realpath,
  rename,
  rmdir,
  stat,
  unlink,
} from 'node:fs/promises';
import { connect } from 'node:net';
import { hostname, userInfo } from 'node:os';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';
import { fileError } from './file-error.ts';
import type { FileStat, Host, RunOptions, RunResult } from './types.ts';
import { FileError } from './types.ts';

const MiB = 1024 * 1024;
const readsScript = 'hc_script=$(cat <&3); exec 3<&-; eval "$hc_script"';

/** This machine. `path` and `home` are the only environment that commands get unless options add to it. */
export function localHost(environment: { path: string; home: string; platform: string }): Host {
  const base = { PATH: environment.path, HOME: environment.home, LANG: 'C.UTF-8' };
  const run = (argv: readonly string[], options: RunOptions = {}): Promise<RunResult> =>
    runProcess(argv, { ...options, env: { ...base, ...options.env } });
  return {
    kind: 'local',
    name: 'this machine',
    async identity() {
      const user = userInfo();
      return { user: user.username, uid: user.uid, hostname: hostname(), os: environment.platform };
    },
    run,
    script: (text, args = [], options = {}) =>
      runProcess(
        ['/bin/sh', '-c', readsScript, 'sh', ...args],
        { ...options, env: { ...base, ...options.env } },
        text,
      ),
    readFile: readWhole,
    stat: (path, follow = false) => statOf(path, follow),
    realpath: (path) => attempt(path, () => realpath(path)),
    readlink: (path) => attempt(path, () => readlink(path)),
    readdir: (path) => attempt(path, () => readdir(path)),
    async mkdir(path, mode) {
      await attempt(path, () => mkdir(path, { mode }));
      await attempt(path, () => chmod(path, mode));
    },
    createFile,
    copyOwnership,
    async rename(from, to) {
      await attempt(to, () => rename(from, to));
      await syncFolder(dirname(to));
    },
    removeFile: (path) => ignoreMissing(attempt(path, () => unlink(path))),
    removeDir: (path) => ignoreMissing(attempt(path, () => rmdir(path))),
    connect: (host, port, signal) =>
      new Promise((resolve, reject) => {
        const socket = connect({ host, port, ...(signal ? { signal } : {}) });
        socket.once('connect', () => resolve(socket));
        socket.once('error', reject);
      }),
    close: async () => {},
  };
}

async function attempt<T>(path: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw fileError(path, error);
  }
}

async function ignoreMissing(action: Promise<unknown>): Promise<void> {
  try {
    await action;
  } catch (error) {
    if (!(error instanceof FileError && error.code === 'not-found')) throw error;
  }
}

async function readWhole(path: string, maxBytes = 16 * MiB): Promise<Buffer> {
  return attempt(path, async () => {
    const file = await open(path, 'r');
    try {
      const chunks: Buffer[] = [];
      let total = 0;
      for await (const chunk of file.createReadStream({ autoClose: false, end: maxBytes })) {
        chunks.push(chunk as Buffer);
        total += (chunk as Buffer).length;
      }
      if (total > maxBytes)
        throw new FileError('too-large', path, `${path} is larger than ${maxBytes} bytes`);
      return Buffer.concat(chunks, total);
    } finally {
      await file.close();
    }
  });
}

async function statOf(path: string, follow: boolean): Promise<FileStat | null> {
  try {
    const s = await attempt(path, () => (follow ? stat(path) : lstat(path)));
    const kind = s.isFile() ? 'file' : s.isDirectory() ? 'dir' : s.isSymbolicLink() ? 'symlink' : 'other';
    const { size, uid, gid, nlink, mtimeMs } = s;
    return { kind, size, mode: s.mode & 0o7777, uid, gid, nlink, mtimeMs };
  } catch (error) {
    if (error instanceof FileError && (error.code === 'not-found' || error.code === 'not-a-directory'))
      return null;
    throw error;
  }
}

async function createFile(path: string, bytes: Uint8Array, mode: number): Promise<void> {
  await attempt(path, async () => {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(bytes);
      await file.chmod(mode);
      await file.sync();
    } catch (error) {
      await unlink(path).catch(() => {});
      throw error;
    } finally {
      await file.close();
    }
  });
}

async function copyOwnership(from: string, to: string): Promise<void> {
  await attempt(to, async () => {
    const source = await stat(from);
    const copy = await stat(to);
    if (source.uid !== copy.uid || source.gid !== copy.gid) await chown(to, source.uid, source.gid);
    await chmod(to, source.mode & 0o7777);
  });
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } catch {
    // Some file systems cannot sync a folder; the rename itself is done.
  } finally {
    await folder.close();
  }
}

/**
 * Runs argv to its end, without a shell. The whole process group is ended at the deadline. `script` arrives on descriptor 3, so
 * that standard input stays free for what the script runs.
 */
function runProcess(
  argv: readonly string[],
  options: RunOptions & { env: Record<string, string> },
  script?: string,
): Promise<RunResult> {
  const { timeoutMs = 30_000, maxOutput = 32 * MiB } = options;
  const [command = '', ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env: options.env,
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', ...(script === undefined ? [] : (['pipe'] as const))],
    });
    let timedOut = false;
    let overflow = false;
    const end = (): void => {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        child.kill('SIGKILL');
      }
    };
    const timer = setTimeout(() => {
      timedOut = true;
      end();
    }, timeoutMs);
    options.signal?.addEventListener('abort', end, { once: true });
    const collect = (stream: NodeJS.ReadableStream, tell?: (bytes: Buffer) => void): (() => Buffer) => {
      const chunks: Buffer[] = [];
      let total = 0;
      stream.on('data', (chunk: Buffer) => {
        tell?.(chunk);
        if (total + chunk.length > maxOutput) {
          overflow = true;
          end();
          return;
        }
        total += chunk.length;
        chunks.push(chunk);
      });
      return () => Buffer.concat(chunks, total);
    };
    const stdout = collect(child.stdout, options.onOutput);
    const stderr = collect(child.stderr);
    feed(child.stdio[3] as Writable | null | undefined, script);
    child.stdin.on('error', () => {});
    child.stdin.end(options.stdin ?? '');
    const settled = (): void => {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', end);
    };
    child.once('error', (error) => {
      settled();
      reject(fileError(command, error));
    });
    child.once('close', (code, signal) => {
      settled();
      resolve({ code, signal, stdout: stdout(), stderr: stderr(), timedOut, overflow });
    });
  });
}

/** A script that ends early closes its end first. */
function feed(stream: Writable | null | undefined, text: string | undefined): void {
  stream?.on('error', () => {});
  stream?.end(text);
}
