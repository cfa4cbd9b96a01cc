import type { ScenarioResult, SuiteOptions } from '../live/suite.ts';
import { isInteractive, type Io, write } from './io.ts';
import { watchSessions } from './left-behind.ts';
import type { RawOptions } from './request.ts';

/** What every suite takes from the command line. */
type Shared = Required<Pick<SuiteOptions, 'only' | 'signal' | 'keep' | 'onResult' | 'onLeft' | 'made'>>;

/** Runs a suite over this dashboard or API server. `notes`: of the sessions that stay there. */
export async function runWatched<T>(
  url: string,
  options: RawOptions,
  io: Io,
  run: (shared: Shared) => Promise<T>,
): Promise<{ results: T; notes: readonly string[] }> {
  const only = options['only'];
  const { made, add: onLeft, notes, close } = watchSessions(io, url);
  try {
    const results = await run({
      only: Array.isArray(only) ? only : null,
      signal: io.signal,
      keep: options['keep'] === true,
      onResult: progress(options, io),
      onLeft,
      made,
    });
    return { results, notes };
  } finally {
    close();
  }
}

const progress =
  (options: RawOptions, io: Io) =>
  ({ status, id, ms }: ScenarioResult): void => {
    if (options['quiet'] !== true && isInteractive(io))
      void write(io.stderr, `${status.padEnd(6)}${id} (${(ms / 1000).toFixed(1)} s)\n`);
  };
