import { launchFolder } from '../../engine/compat-places.ts';
import type { EngineProcess } from '../../engine/schema.ts';
import type { Host } from '../../host/types.ts';
import { type LaunchRecord, readRecords } from '../../launch/record.ts';
import { startAgain } from '../start-again.ts';
import { readOrNull } from './edits.ts';
import type { Place, UpdateRun } from './run.ts';
import type { NotedLaunch, UpdateState } from './state.ts';

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
 * Sees to it that every dashboard which `launch` had started runs again, as it was and with the code that is on disk. A second
 * call finds them running.
 *
 * @param fresh the process must be younger than what was written
 */
export async function relaunchAll(run: UpdateRun, state: UpdateState, fresh: boolean): Promise<Relaunched[]> {
  if (state.launches.length === 0) return [];
  const place = await run.open({ install: state.install, home: state.home });
  const dashboards: Relaunched[] = [];
  for (const noted of state.launches) dashboards.push(await relaunch(run, place, noted, fresh));
  return dashboards;
}

async function relaunch(
  { host, env, signal }: UpdateRun,
  { session, located }: Place,
  noted: NotedLaunch,
  fresh: boolean,
): Promise<Relaunched> {
  const { home } = session.scene;
  const { port } = noted;
  const failed = (why: string): Relaunched => ({ port, outcome: 'failed', pid: null, url: null, why });
  const records = await readRecords(host, home.root);
  const old = records.filter((each) => each.port === port);
  const changedMs = home.overlay.changedMs ?? null;
  const running = old.find(
    (record) => isCurrent(record, located.processes, changedMs) && !(fresh && record.id === noted.id),
  );
  if (running !== undefined)
    return { port, outcome: 'running', pid: running.pid, url: urlOf(noted), why: null };
  const install = located.installs.find(({ id }) => id === noted.install);
  if (install === undefined) return failed(`its install ${noted.install} is not there any more`);
  const token = await tokenOf(host, home.root, noted, records);
  const started = await startAgain({ host, home, install, env, signal }, noted, old, token);
  if (started.outcome === 'not-ended') return failed(started.why);
  if (started.outcome === 'failed')
    return failed(`${started.failure.code}: ${started.failure.evidence.at(-1) ?? ''}`);
  const { record, url } = started.launched;
  return { port, outcome: 'started', pid: record.pid, url, why: null };
}

/** It runs, and it is younger than the code and the overlay on disk. */
function isCurrent(
  record: LaunchRecord,
  processes: readonly EngineProcess[],
  overlayMs: number | null,
): boolean {
  const running = processes.find(
    ({ pid, startTicks }) => pid === record.pid && startTicks === record.startTicks,
  );
  if (running === undefined || running.newerFiles.length > 0) return false;
  return !(overlayMs !== null && overlayMs > Date.parse(running.startedAt ?? '') + 1000);
}

const urlOf = ({ host, port }: NotedLaunch): string =>
  `http://${host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${port}`;

/** Its clients know the old token; where the record is gone, its file may still be there. */
async function tokenOf(
  host: Host,
  root: string,
  noted: NotedLaunch,
  records: readonly LaunchRecord[],
): Promise<string | null> {
  for (const id of [noted.id, ...records.filter(({ port }) => port === noted.port).map((each) => each.id)]) {
    const text = (await readOrNull(host, `${launchFolder(root)}/${id}.token`))?.toString('utf8').trim() ?? '';
    if (text !== '') return text;
  }
  return null;
}
