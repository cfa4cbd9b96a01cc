import type { EngineProcess } from '../../engine/schema.ts';
import { outdated } from '../patch-change.ts';
import { settle } from '../settle.ts';
import { versionOf } from './note.ts';
import { relaunchAll } from './relaunch.ts';
import type { UpdateResult } from './result.ts';
import type { Place, UpdateRun } from './run.ts';
import type { UpdateState } from './state.ts';

/** Re-applies what is recorded and missing. With a dashboard of ours it is asked first; else the structure of the code decides. */
export async function bringBack(
  run: UpdateRun,
  place: Place,
  state: UpdateState,
  result: UpdateResult,
): Promise<void> {
  const missing = await missingNow(run, place, state, result);
  const settled = await settle(place.session, {
    taken: state.taken,
    isMissed: (patch) => missing === null || missing.has(patch),
  });
  result.settled = settled;
  for (const { patch, outcome } of settled.patches) run.say(`${patch}: ${outcome}`);
  result.dashboards = await relaunchAll(run, state, settled.plans.length > 0);
}

/** Patches whose capability the new engine was asked for and lacks; null: nobody was asked. */
async function missingNow(
  run: UpdateRun,
  place: Place,
  state: UpdateState,
  result: UpdateResult,
): Promise<ReadonlySet<string> | null> {
  if (state.taken.length === 0 || run.examine === null) return null;
  result.dashboards = await relaunchAll(run, state, false);
  const { capabilities } = await run.examine();
  const { patches } = place.session.catalogue;
  const lacks = (capability: string): boolean =>
    capabilities.find(({ id }) => id === capability)?.state !== 'yes';
  // A dashboard that we start has chat on by its environment; one that is started plainly may not: there structure decides.
  const isProved = (capability: string): boolean => capability !== 'embedded-chat' && !lacks(capability);
  return new Set(patches.filter(({ capability }) => !isProved(capability)).map(({ id }) => id));
}

/** The state after the update: version, processes that run no more or run old code, and the last check. */
export async function finishUp(run: UpdateRun, state: UpdateState, result: UpdateResult): Promise<void> {
  const place = await run.open({ install: state.install, home: state.home });
  const { processes } = place.located;
  result.after = versionOf(place);
  result.ended = await endedOf(run, state);
  const old = new Map<number, EngineProcess>();
  for (const plan of result.settled.plans)
    for (const running of outdated(plan, place.session, processes)) old.set(running.pid, running);
  for (const running of processes)
    if (running.install === state.install && running.newerFiles.length > 0) old.set(running.pid, running);
  const ours = new Set(result.dashboards.map(({ pid }) => pid));
  result.restart = [...old.values()].filter(({ pid, port }) => !ours.has(pid) && port !== null);
  if (run.examine !== null) result.report = await run.examine();
}

async function endedOf({ host }: UpdateRun, { processes }: UpdateState): Promise<number[]> {
  if (processes.length === 0) return [];
  const { stdout } = await host.script(
    'for pid do ps -p "$pid" >/dev/null 2>&1 || echo "$pid"; done',
    processes.map(({ pid }) => String(pid)),
  );
  return stdout
    .toString('utf8')
    .split('\n')
    .filter((each) => each !== '')
    .map(Number);
}
