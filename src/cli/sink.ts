import { open, rename, rm } from 'node:fs/promises';
import { usageError } from '../errors.ts';
import type { Io } from './io.ts';
import { write } from './io.ts';
import { pathResolver, type RawOptions } from './request.ts';

/** Where a report goes that is written piece by piece. */
export interface Sink {
  write(text: string): Promise<void>;
  /** The report is whole. */
  close(): Promise<void>;
  /** It is not, and will not be. */
  drop(): Promise<void>;
}

/** stdout, or `--output FILE`: a reader of that file never sees half of a report. */
export async function openSink(io: Io, options: RawOptions): Promise<Sink> {
  const file = options['output'];
  if (typeof file !== 'string' || file === '-') {
    return {
      write: (text) => (text === '' ? Promise.resolve() : write(io.stdout, text)),
      close: async () => {},
      drop: async () => {},
    };
  }
  const path = pathResolver(io)(file);
  const temporary = `${path}.${io.pid}.part`;
  const refuse = (error: unknown): never => {
    throw usageError(
      `cannot write the report to ${path} (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`,
      { cause: error },
    );
  };
  const handle = await open(temporary, 'w').catch(refuse);
  return {
    write: (text) => handle.appendFile(text).catch(refuse),
    async close() {
      await handle.close();
      await rename(temporary, path).catch(refuse);
    },
    async drop() {
      await handle.close().catch(() => undefined);
      await rm(temporary, { force: true });
    },
  };
}
