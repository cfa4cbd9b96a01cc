import type { Io } from './io.ts';
import { isInteractive } from './io.ts';
import type { RawOptions } from './request.ts';

/** One piece of long work that a person may want to see. */
interface Work<T> {
  title: string;
  run(say: (step: string) => void): Promise<T>;
}

/** Runs all at once. Progress is drawn on stderr, on a terminal only; a program sees nothing. */
export async function withProgress<T>(io: Io, options: RawOptions, works: readonly Work<T>[]): Promise<T[]> {
  const silent = !isInteractive(io) || options['quiet'] === true || io.stdout.isTTY !== true;
  if (silent) return Promise.all(works.map((work) => work.run(() => {})));
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
      concurrent: true,
      exitOnError: true,
      registerSignalListeners: false,
      rendererOptions: { clearOutput: true, collapseErrors: false },
      processOutput: new ProcessOutput(io.stderr as NodeJS.WriteStream, io.stderr as NodeJS.WriteStream),
    } as never,
  );
  await list.run();
  return results;
}
