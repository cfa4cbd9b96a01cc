import type { Io } from './io.ts';
import { isInteractive } from './io.ts';
import type { RawOptions } from './request.ts';

/** One piece of long work that a person may want to see. */
interface Work<T> {
  title: string;
  run(say: (step: string) => void): Promise<T>;
}

interface How {
  /** Draws nothing, also because a question may come. */
  quiet: boolean;
  /** One after the other: for work that changes something. */
  oneByOne?: boolean;
}

/** Runs all at once. Progress is drawn on stderr, on a terminal only; a program sees nothing. */
export async function withProgress<T>(io: Io, how: How, works: readonly Work<T>[]): Promise<T[]> {
  const { quiet, oneByOne = false } = how;
  const silent = !isInteractive(io) || quiet || io.stdout.isTTY !== true;
  if (silent && !oneByOne) return Promise.all(works.map((work) => work.run(() => {})));
  if (silent) return inOrder(works);
  const { Listr, ProcessOutput } = await import('listr2');
  const results: T[] = [];
  const list = new Listr(
    works.map((work, index) => ({
      title: work.title,
      task: async (_context: unknown, task: { output: string }) => {
        results[index] = await work.run((step) => (task.output = step));
      },
    })),
    {
      concurrent: !oneByOne,
      exitOnError: true,
      registerSignalListeners: false,
      rendererOptions: { clearOutput: true, collapseErrors: false },
      processOutput: new ProcessOutput(io.stderr as NodeJS.WriteStream, io.stderr as NodeJS.WriteStream),
    } as never,
  );
  await list.run();
  return results;
}

async function inOrder<T>(works: readonly Work<T>[]): Promise<T[]> {
  const results: T[] = [];
  for (const work of works) results.push(await work.run(() => {}));
  return results;
}

/** How far a long list is, on one line of stderr that is drawn over; on a terminal only. */
export function counter(io: Io, options: RawOptions, total: number): { next: () => void; end: () => void } {
  const isDrawn = isInteractive(io) && options['quiet'] !== true;
  let done = 0;
  return {
    next: () => {
      done += 1;
      if (isDrawn) io.stderr.write(`\r${done} of ${total} targets checked`);
    },
    end: () => {
      if (isDrawn) io.stderr.write('\r\u001b[K');
    },
  };
}
