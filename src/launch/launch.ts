import { recordPath, writeRecord } from './record.ts';
import type { Launched, LaunchRequest, NotLaunched } from './start.ts';
import { startEngine } from './start.ts';
import { stopLaunch } from './stop.ts';

/** A dashboard for one check. Its token lives in memory only. */
export interface CheckEngine extends Launched {
  token: string | null;
  /** Ends it and removes what we kept of it. */
  stop(this: void): Promise<void>;
}

/**
 * Starts the dashboard of this install detached, and returns when a client could talk to it. On failure nothing runs and
 * nothing of ours is left. The token is in a file of mode 0600 that the record names.
 *
 * @throws CompatError usage, refused, interrupted
 */
export async function launch(request: LaunchRequest, signal: AbortSignal): Promise<Launched | NotLaunched> {
  const running = await startEngine(request, signal, true);
  if (running.outcome === 'failed') return running;
  const { token, ...launched } = running;
  const { host, home } = request;
  try {
    const tokenFile =
      token === null ? null : recordPath(home.root, launched.record.id).replace(/json$/, 'token');
    const record = { ...launched.record, tokenFile };
    if (tokenFile !== null) await host.createFile(tokenFile, Buffer.from(`${token}\n`), 0o600);
    await writeRecord(host, home.root, record);
    return { ...launched, record };
  } catch (error) {
    await stopLaunch(host, home.root, launched.record);
    throw error;
  }
}

/**
 * The same for the time of a check: on any free port, ended by the caller. Started is what answers `/api/status`; whether and why
 * chat opens is for the check to find out, and `token` may be one that the engine refuses.
 */
export async function startForCheck(
  request: Omit<LaunchRequest, 'token'>,
  signal: AbortSignal,
): Promise<CheckEngine | NotLaunched> {
  const options = { ...request.options, port: 0 };
  const running = await startEngine({ ...request, options, token: null }, signal, false);
  if (running.outcome === 'failed') return running;
  const { host, home } = request;
  return {
    ...running,
    async stop() {
      await stopLaunch(host, home.root, running.record);
    },
  };
}
