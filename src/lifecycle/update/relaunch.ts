import { launchFolder } from '../../engine/compat-places.ts';
import type { EngineProcess, Home, Install } from '../../engine/schema.ts';
import type { Host } from '../../host/types.ts';
import { launch } from '../../launch/launch.ts';
import { readRecords, removeTraces } from '../../launch/record.ts';
import { endProcess } from '../../launch/stop.ts';
import { readOrNull } from './edits.ts';
import type { NotedLaunch } from './state.ts';

/** What became of a dashboard that `launch` had started. */
export interface Relaunched {
  port: number;
  /** `running`: the same process, and it has the code that is on disk. */
  outcome: 'running' | 'started' | 'failed';
  pid: number | null;
  url: string | null;
  why: string | null;
}

/**
 * Sees to it that a dashboard which `launch` started runs again, on its port, with its token, and with the code that is on disk.
 * A second call finds it running.
 *
 * @param fresh the process must be younger than what was written
 */
export async function relaunch(
  place: { host: Host; home: Home; install: Install; env: Record<string, string> },
  noted: NotedLaunch,
  processes: readonly EngineProcess[],
  fresh: boolean,
  signal: AbortSignal,
): Promise<Relaunched> {
  const { host, home, install, env } = place;
  const records = await readRecords(host, home.root);
  for (const record of records.filter((each) => each.port === noted.port)) {
    const process = processes.find(
      (each) => each.pid === record.pid && each.startTicks === record.startTicks,
    );
    if (process === undefined) continue;
    const isOld = process.newerFiles.length > 0 || (fresh && record.id === noted.id);
    if (!isOld)
      return { port: noted.port, outcome: 'running', pid: record.pid, url: urlOf(noted), why: null };
  }
  const token = await tokenOf(
    host,
    home.root,
    [noted.id, ...records.map(({ id }) => id)],
    noted.port,
    records,
  );
  // Their records and the token stay until the new one is up: a cut here must lose neither.
  const old = records.filter((each) => each.port === noted.port);
  for (const record of old) await endProcess(host, record);
  const options = {
    port: noted.port,
    host: noted.host,
    webDist: null,
    engineArgs: noted.engineArgs,
    env,
    seconds: 180,
  };
  const started = await launch({ host, install, home, options, token }, signal);
  if (started.outcome === 'failed') {
    const { code, evidence } = started.failure;
    return {
      port: noted.port,
      outcome: 'failed',
      pid: null,
      url: null,
      why: `${code}: ${evidence.at(-1) ?? ''}`,
    };
  }
  const { record, url } = started;
  for (const { id } of old) await removeTraces(host, home.root, id);
  return { port: noted.port, outcome: 'started', pid: record.pid, url, why: null };
}

const urlOf = ({ host, port }: NotedLaunch): string =>
  `http://${host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${port}`;

/** Its clients know the old token. Read before the record goes. */
async function tokenOf(
  host: Host,
  root: string,
  ids: readonly string[],
  port: number,
  records: readonly { id: string; port: number }[],
): Promise<string | null> {
  for (const id of ids) {
    const record = records.find((each) => each.id === id);
    if (record !== undefined && record.port !== port) continue;
    const text = (await readOrNull(host, `${launchFolder(root)}/${id}.token`))?.toString('utf8').trim() ?? '';
    if (text !== '') return text;
  }
  return null;
}
