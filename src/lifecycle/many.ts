/** After a signal, what is still running may end by itself for this long: connections are closed, lines to other hosts said goodbye. */
const graceMs = 2000;

/**
 * Runs the works with at most `limit` at once and gives results in the order of the works; null for those that the signal kept
 * from beginning or from ending.
 */
export async function runMany<T, R>(
  works: readonly T[],
  limit: number,
  signal: AbortSignal,
  run: (work: T) => Promise<R>,
): Promise<(R | null)[]> {
  const results: (R | null)[] = works.map(() => null);
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < works.length && !signal.aborted) {
      const index = next;
      next += 1;
      const result = await run(works[index] as T).catch((error: unknown) => {
        if (signal.aborted) return null;
        throw error;
      });
      // What was cut short is no result.
      if (!signal.aborted) results[index] = result;
    }
  };
  const interrupted = afterSignal(signal);
  await Promise.race([
    Promise.all(Array.from({ length: Math.min(limit, works.length) }, worker)),
    interrupted.happened,
  ]);
  interrupted.clear();
  return results;
}

function afterSignal(signal: AbortSignal): { happened: Promise<void>; clear: () => void } {
  let timer: NodeJS.Timeout | undefined;
  let onAbort: () => void = () => undefined;
  const happened = new Promise<void>((resolve) => {
    onAbort = () => {
      timer = setTimeout(resolve, graceMs);
    };
    signal.addEventListener('abort', onAbort, { once: true });
  });
  return {
    happened,
    clear: () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    },
  };
}

/** The i-th of n parts, contiguous, so that merged parts stand in the order of the file. Parts differ by one at most. */
export function shardOf<T>(works: readonly T[], index: number, count: number): T[] {
  const edge = (part: number): number => Math.floor((works.length * part) / count);
  return works.slice(edge(index - 1), edge(index));
}
