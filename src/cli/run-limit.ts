import { CompatError } from '../errors.ts';
import type { Io } from './io.ts';
import { type RawOptions, readSeconds } from './request.ts';

/**
 * Runs something that `--timeout` limits as a whole: its signal ends at the limit as it ends when a person interrupts. Without the option there
 * is no limit.
 *
 * @throws CompatError unchecked when the limit ended it with an error
 */
export async function withinLimit<T>(
  options: RawOptions,
  io: Io,
  run: (limited: Io) => Promise<T>,
): Promise<T> {
  const text = options['timeout'];
  const limitMs = readSeconds(typeof text === 'string' ? text : null, '--timeout');
  if (limitMs === null) return run(io);
  const limit = AbortSignal.timeout(limitMs);
  try {
    return await run({ ...io, signal: AbortSignal.any([io.signal, limit]) });
  } catch (error) {
    const isOurs = !(error instanceof CompatError) || error.kind === 'interrupted';
    if (!limit.aborted || io.signal.aborted || !isOurs) throw error;
    throw new CompatError('unchecked', `ended at the limit of ${limitMs / 1000} s (--timeout)`, {
      cause: error,
    });
  }
}
