import type { Readable, Writable } from 'node:stream';

/** Everything of the process that a command may touch. `cli/start.ts` makes the real one, tests make their own. */
export interface Io {
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean; columns?: number };
  stderr: Writable & { isTTY?: boolean };
  env: Record<string, string | undefined>;
  platform: string;
  cwd: string;
  /** The home folder of the person, from the passwd entry where HOME is unset. */
  home: string;
  pid: number;
  /** Aborts on SIGINT and SIGTERM. */
  signal: AbortSignal;
  /** What to say on stderr when a second signal ends us before we have cleaned up; an empty text says nothing. */
  lastWords: Set<() => string>;
}

/** May we draw progress and ask questions? Never when output goes to a program. */
export const isInteractive = (io: Io): boolean =>
  io.stdin.isTTY === true &&
  io.stderr.isTTY === true &&
  io.env['CI'] === undefined &&
  io.env['TERM'] !== 'dumb';

/** Colour on stdout: a terminal, NO_COLOR unset, not `--no-color`. FORCE_COLOR turns it on elsewhere. */
export function wantsColor(io: Io, flag: boolean | undefined): boolean {
  if (flag === false || (io.env['NO_COLOR'] ?? '') !== '') return false;
  if ((io.env['FORCE_COLOR'] ?? '') !== '' && io.env['FORCE_COLOR'] !== '0') return true;
  return io.stdout.isTTY === true && io.env['TERM'] !== 'dumb';
}

/** The disk that the output goes to is full, or the like: no bug of ours, and nothing that a command can mend. */
export class OutputError extends Error {
  constructor(cause: NodeJS.ErrnoException) {
    super(`the output could not be written (${cause.code ?? 'unknown reason'})`, { cause });
    this.name = 'OutputError';
  }
}

/**
 * Writes and waits until the stream took it, so that a pipe gets all of a large report. A reader that went away is no failure.
 *
 * @throws OutputError
 */
export function write(stream: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error: NodeJS.ErrnoException | null | undefined): void =>
      error == null || isGone(error) ? resolve() : reject(new OutputError(error));
    try {
      stream.write(text, done);
    } catch (error) {
      // Files are written at once; some releases of Node throw here.
      done(error as NodeJS.ErrnoException);
    }
  });
}

/** Whoever read from this stream does so no more. */
export const isGone = ({ code }: NodeJS.ErrnoException): boolean =>
  code === 'EPIPE' || code === 'ECONNRESET' || code === 'ERR_STREAM_DESTROYED';
