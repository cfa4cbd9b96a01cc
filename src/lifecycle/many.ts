/**
 * Runs the works with at most `limit` at once and gives results in the order of the works; null for those that had not begun
 * when the signal came.
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
      results[index] = await run(works[index] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, works.length) }, worker));
  return results;
}

/** The i-th of n parts, contiguous, so that merged parts stand in the order of the file. Parts differ by one at most. */
export function shardOf<T>(works: readonly T[], index: number, count: number): T[] {
  const edge = (part: number): number => Math.floor((works.length * part) / count);
  return works.slice(edge(index - 1), edge(index));
}
