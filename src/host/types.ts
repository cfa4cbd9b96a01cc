import type { Duplex } from 'node:stream';

/** Who we are on a host. Implementations: `host/local.ts`, `host/ssh/`. */
export interface HostIdentity {
  user: string;
  uid: number;
  hostname: string;
  /** `uname -s` in lower case: linux, darwin … */
  os: string;
}

export interface RunResult {
  /** Exit status; null when killed by a signal, by the deadline, or when the connection was cut. */
  code: number | null;
  signal: string | null;
  stdout: Buffer;
  stderr: Buffer;
  /** The deadline ended it. */
  timedOut: boolean;
  /** Output went over `maxOutput` and was ended there. */
  overflow: boolean;
}

export interface RunOptions {
  stdin?: Uint8Array | string;
  /** Added to a minimal environment (PATH, HOME, LANG); local HERMES_* never pass to another host. */
  env?: Record<string, string>;
  cwd?: string;
  /** Milliseconds; the process is ended then. Default 30 000. */
  timeoutMs?: number;
  /** Bytes of stdout and of stderr that are kept. Default 32 MiB. */
  maxOutput?: number;
  signal?: AbortSignal;
  /** Standard output as it comes, for a person who watches. */
  onOutput?: (bytes: Buffer) => void;
}

/** Metadata of one path, symlinks not followed unless said. */
export interface FileStat {
  kind: 'file' | 'dir' | 'symlink' | 'other';
  size: number;
  /** Permission bits, e.g. 0o644. */
  mode: number;
  uid: number;
  gid: number;
  nlink: number;
  mtimeMs: number;
}

/** Why a file operation failed, the same words on every transport. */
export type FileErrorCode =
  | 'not-found'
  | 'exists'
  | 'permission'
  | 'read-only'
  | 'no-space'
  | 'not-a-directory'
  | 'is-a-directory'
  | 'loop'
  | 'changed'
  | 'too-large'
  | 'cut'
  | 'other';

export class FileError extends Error {
  readonly code: FileErrorCode;
  readonly path: string;

  constructor(code: FileErrorCode, path: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'FileError';
    this.code = code;
    this.path = path;
  }
}

/**
 * One machine, this one or another. Small on purpose: every method has one contract suite over both transports.
 * Paths are absolute POSIX paths on that machine. File methods throw FileError.
 */
export interface Host {
  readonly kind: 'local' | 'ssh';
  /** For people: `this machine` or `user@host:port`. */
  readonly name: string;
  /** What the way to that machine got in the way of; grows while the host is used. Codes of CODES.md. */
  readonly notes?: readonly { code: string; args: Record<string, string | number> }[];
  identity(): Promise<HostIdentity>;
  /** Runs argv without a shell (quoted rightly where a shell is in between). */
  run(argv: readonly string[], options?: RunOptions): Promise<RunResult>;
  /** Runs a POSIX sh script given as text, the one way that works behind every login shell. Arguments arrive as $1 … */
  script(text: string, args?: readonly string[], options?: RunOptions): Promise<RunResult>;
  /** Whole file; `too-large` beyond maxBytes (default 16 MiB). Follows symlinks. */
  readFile(path: string, maxBytes?: number): Promise<Buffer>;
  /** null when there is nothing. `lstat` semantics unless follow. */
  stat(path: string, follow?: boolean): Promise<FileStat | null>;
  realpath(path: string): Promise<string>;
  readlink(path: string): Promise<string>;
  readdir(path: string): Promise<string[]>;
  /** `exists` when there already is something at path. Parents must be there. */
  mkdir(path: string, mode: number): Promise<void>;
  /** New file with these bytes and mode, exclusively (`exists` otherwise), data synced before it returns. */
  createFile(path: string, bytes: Uint8Array, mode: number): Promise<void>;
  /** Copies owner, group and mode bits of `from` onto `to`, as far as we may; throws `permission` when the owner would differ. */
  copyOwnership(from: string, to: string): Promise<void>;
  /** Atomic replace in one directory; the directory is synced. */
  rename(from: string, to: string): Promise<void>;
  /** Nothing there is no error. */
  removeFile(path: string): Promise<void>;
  removeDir(path: string): Promise<void>;
  /** A byte stream to a port as that machine reaches it (a tunnel over ssh). */
  connect(host: string, port: number, signal?: AbortSignal): Promise<Duplex>;
  /**
   * A free loopback port on that machine that leads to this loopback port here; absent where both are the same machine.
   *
   * @throws CompatError SSH_FORWARD_FORBIDDEN
   */
  reverse?(port: number): Promise<ReverseTunnel>;
  close(): Promise<void>;
}

/** `port` is the one on the other machine. */
export interface ReverseTunnel {
  port: number;
  close(): Promise<void>;
}
