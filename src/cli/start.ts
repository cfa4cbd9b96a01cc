import { writeSync } from 'node:fs';
import { setMaxListeners } from 'node:events';
import { homedir } from 'node:os';
import { type Io, isGone } from './io.ts';

/** The entry of the program: binds `main` to the real process. */
const controller = new AbortController();
// Many targets at once all listen to it.
setMaxListeners(0, controller.signal);
const lastWords = new Set<() => string>();
const interrupt = (): void => {
  // The second signal ends us at once.
  if (controller.signal.aborted) {
    sayLastWords();
    process.exit(130);
  }
  controller.abort();
};
const sayLastWords = (): void => {
  try {
    for (const words of lastWords) writeSync(2, words());
  } catch {
    // Nobody is there to be told.
  }
};
process.on('SIGINT', interrupt);
process.on('SIGTERM', interrupt);
// A closed pipe (`| head`) is the reader's wish, not a fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (isGone(error)) process.exit(process.exitCode ?? 0);
});

// Nobody is there to be told.
process.stderr.on('error', () => undefined);

const io: Io = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  platform: process.platform,
  cwd: process.cwd(),
  home: homedir(),
  pid: process.pid,
  signal: controller.signal,
  lastWords,
};

// What slipped through everywhere is a bug of ours: no stack, which could hold a secret, and its own exit code.
const failed = async (error: unknown): Promise<void> => {
  try {
    const { printBug } = await import('./print-error.ts');
    await printBug(process.argv.slice(2), io, error);
  } finally {
    // Also when it cannot be said: a failure in here would come back to here for ever.
    process.exit(70);
  }
};
process.on('uncaughtException', (error) => void failed(error));
process.on('unhandledRejection', (error) => void failed(error));

const { main } = await import('./main.ts');
const code = await main(process.argv.slice(2), io);
process.exitCode = controller.signal.aborted && code === 0 ? 130 : code;
