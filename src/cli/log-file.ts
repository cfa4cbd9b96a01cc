import { open } from 'node:fs/promises';
import { usageError } from '../errors.ts';

/** Lines are held until `flush` or `close`. */
export interface LogFile {
  add(line: string): void;
  flush(): Promise<void>;
  /** How many were added. */
  lines(): number;
  close(): Promise<void>;
}

/** A frame log holds a chat: only for its owner, and never over another file. @throws CompatError usage */
export async function newLogFile(path: string): Promise<LogFile> {
  const handle = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw usageError(`cannot write ${path} (${error.code ?? 'unknown reason'})`, { cause: error });
  });
  let lines = 0;
  let waiting: string[] = [];
  const flush = async (): Promise<void> => {
    const text = waiting.join('');
    waiting = [];
    if (text !== '') await handle.appendFile(text);
  };
  return {
    add(line) {
      lines += 1;
      waiting.push(line);
    },
    flush,
    lines: () => lines,
    async close() {
      try {
        await flush();
      } finally {
        await handle.close();
      }
    },
  };
}
