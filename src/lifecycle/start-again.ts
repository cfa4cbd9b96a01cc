import type { Home, Install } from '../engine/schema.ts';
import type { Host } from '../host/types.ts';
import type { LaunchFailure } from '../launch/classify.ts';
import { type LaunchRecord, removeTraces } from '../launch/record.ts';
import type { Launched } from '../launch/start.ts';

/** How a dashboard that `launch` started is started again: as it was. */
export interface Again {
  port: number;
  /** Address that it binds. */
  host: string;
  /** HERMES_HOME that it was started with. */
  home: string;
  webDist: string | null;
  /** What the user gave behind `--`. */
  engineArgs: readonly string[];
}

export interface AgainPlace {
  host: Host;
  /** The root of this home holds the records. */
  home: Home;
  install: Install;
  /** The user's environment on this machine; nothing over ssh. */
  env: Record<string, string>;
  signal: AbortSignal;
}

/** `not-ended`: one of the old ones would not go, so nothing was started. */
export type StartedAgain =
  | { outcome: 'started'; launched: Launched }
  | { outcome: 'not-ended'; why: string }
  | { outcome: 'failed'; failure: LaunchFailure };

/**
 * Ends what these records name, and starts it again with the same token. Records and token of the old ones stay until the new
 * one is up: a cut here must lose neither.
 *
 * @throws CompatError interrupted
 */
export async function startAgain(
  { host, home, install, env, signal }: AgainPlace,
  again: Again,
  old: readonly LaunchRecord[],
  token: string | null,
): Promise<StartedAgain> {
  const [{ launch }, { endProcess }] = await Promise.all([
    import('../launch/launch.ts'),
    import('../launch/stop.ts'),
  ]);
  for (const record of old) {
    const outcome = await endProcess(host, record);
    if (outcome === 'denied' || outcome === 'alive')
      return { outcome: 'not-ended', why: `process ${record.pid} could not be ended (${outcome})` };
  }
  const { port, host: bind, webDist, engineArgs } = again;
  const options = { port, host: bind, webDist, engineArgs, env, seconds: 180 };
  const started = await launch(
    { host, install, home: { ...home, path: again.home }, options, token },
    signal,
  );
  if (started.outcome === 'failed') return { outcome: 'failed', failure: started.failure };
  for (const { id } of old) await removeTraces(host, home.root, id);
  return { outcome: 'started', launched: started };
}

/** What the user gave behind `--`: the words of the command line that are not ours. */
export function argumentsOf(argv: readonly string[]): string[] {
  const words = argv.slice(argv.indexOf('dashboard') + 1);
  const kept: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--host' || word === '--port') at++;
    else if (word !== '--no-open') kept.push(word);
  }
  // A word that was hidden in the facts cannot be given again.
  return kept.some((word) => word.includes('[redacted]')) ? [] : kept;
}
