import { updateFolder } from '../../engine/compat-places.ts';
import type { EngineProcess } from '../../engine/schema.ts';
import { CompatError } from '../../errors.ts';
import type { Report } from '../../judge/schema.ts';
import { change, recoverFirst } from '../../patch/change.ts';
import { takeLock } from '../../patch/lock.ts';
import { outdated } from '../patch-change.ts';
import { type Settled, settle } from '../settle.ts';
import { keepEdits } from './edits.ts';
import { noteAll, takeOutOptions, versionOf } from './note.ts';
import { type Relaunched, relaunch } from './relaunch.ts';
import { type EditOutcome, restoreEdits } from './restore-edits.ts';
import { installOf, type Place, type UpdateRun } from './run.ts';
import {
  clearState,
  ensureUpdateFolder,
  readState,
  steps,
  type UpdateState,
  type UpdateStep,
  type UpdateVersion,
  writeState,
} from './state.ts';
import { forgetUpdater, readReceipt, runUpdater, updaterStart } from './updater.ts';

export interface UpdateResult {
  state: UpdateState;
  continuedFrom: UpdateStep | null;
  after: UpdateVersion | null;
  command: string[];
  receipt: { outcome: string; localChanges: string | null } | null;
  edits: EditOutcome[];
  parked: string[];
  settled: Settled;
  dashboards: Relaunched[];
  /** Dashboards with older code that are not ours to end. */
  restart: EngineProcess[];
  /** Pids of the noted processes that run no more. */
  ended: number[];
  report: Report | null;
}

/** What an update would do; nothing is written, and the remote is not asked. */
export async function previewUpdate(run: UpdateRun): Promise<UpdateState> {
  const place = await run.open(null);
  const earlier = await readState(run.host, place.session.scene.home.root);
  return earlier ?? (await noteAll(run, place, false)).state;
}

/** Up to which step to go: `pre-update` ends before the engine's own updater, `post-update` begins after it. */
export interface Range {
  from: 'begin' | 'updated';
  to: 'taken-out' | 'end';
}

/**
 * Takes our edits out, lets the engine update itself, puts back what was lost, and proves the end. Every step is written down; a
 * run after one that was cut goes on where it stood.
 *
 * @throws CompatError refused, interrupted, unchecked, rolled-back, half-done
 */
export async function update(
  run: UpdateRun,
  range: Range = { from: 'begin', to: 'end' },
): Promise<UpdateResult> {
  const { host } = run;
  let place = await run.open(null);
  const { root } = place.session.scene.home;
  await ensureUpdateFolder(host, root);
  const lock = await takeLock(host, `${updateFolder(root)}/lock`, place.session.who, '');
  try {
    await lock.clear();
    const earlier = await readState(host, root);
    if (earlier !== null) place = await run.open({ install: earlier.install, home: earlier.home });
    const job = new Map<'place', Place>([['place', place]]);
    const state = await begin(run, place, earlier, range);
    return await goOn(run, { state, job, root, continuedFrom: earlier?.step ?? null }, range);
  } finally {
    await lock.release();
    await removeIfEmpty(run, updateFolder(root));
  }
}

async function begin(
  run: UpdateRun,
  place: Place,
  earlier: UpdateState | null,
  range: Range,
): Promise<UpdateState> {
  const { root } = place.session.scene.home;
  await recoverFirst(place.session);
  if (earlier !== null) {
    run.say(`an update was cut after the step "${earlier.step}"; going on from there`);
    if (range.from === 'updated' && steps.indexOf(earlier.step) < steps.indexOf('updated'))
      return { ...earlier, step: 'updated', exitCode: earlier.exitCode ?? 0 };
    return earlier;
  }
  if (range.from === 'updated') {
    const { state } = await noteAfter(run, place);
    return state;
  }
  const { state, edits } = await noteAll(run, place, true);
  if (!(await run.consent(state)))
    throw new CompatError('refused', 'nothing was touched: nobody agreed to the update', {
      args: { consent: false },
    });
  await run.reached?.('begun');
  await forgetUpdater(run.host, root);
  await keepEdits(run.host, root, edits);
  await writeState(run.host, root, state);
  await run.reached?.('noted');
  return state;
}

/** `post-update` without a `pre-update`: nothing is known of before, so nothing of the user's is compared. */
async function noteAfter(run: UpdateRun, place: Place): Promise<{ state: UpdateState }> {
  const { state } = await noteAll(run, place, false);
  return { state: { ...state, step: 'edits-back', taken: [], edits: [], exitCode: 0 } };
}

interface Job {
  state: UpdateState;
  job: Map<'place', Place>;
  root: string;
  continuedFrom: UpdateStep | null;
}

async function goOn(
  run: UpdateRun,
  { state, job, root, continuedFrom }: Job,
  range: Range,
): Promise<UpdateResult> {
  const { host } = run;
  const here = (): Place => job.get('place') as Place;
  const result: UpdateResult = {
    state,
    continuedFrom,
    after: null,
    command: updaterStart(installOf(here()), here().session.scene.home, state.engineArgs, {}).argv,
    receipt: null,
    edits: [],
    parked: [],
    settled: { patches: [], plans: [] },
    dashboards: [],
    restart: [],
    ended: [],
    report: null,
  };
  const done = async (step: UpdateStep): Promise<void> => {
    state.step = step;
    await writeState(host, root, state);
    await run.reached?.(step);
    stopIfAsked(run, step);
  };
  const isBefore = (step: UpdateStep): boolean => steps.indexOf(state.step) < steps.indexOf(step);

  if (isBefore('taken-out')) {
    await takeOut(run, here(), state);
    await done('taken-out');
  }
  if (range.to === 'taken-out') return result;
  if (isBefore('updated')) {
    run.say(`running the engine's own update: ${result.command.join(' ')}`);
    const { home } = here().session.scene;
    const start = updaterStart(installOf(here()), home, state.engineArgs, run.env);
    state.exitCode = await runUpdater(host, root, start, run);
    await done('updated');
  }
  // The updater may have brought another generation, and with it other rules.
  job.set('place', await run.open({ install: state.install, home: state.home }));
  result.receipt = await readReceipt(host, here().session.scene.home, state.at);
  Object.assign(result, await restoreEdits(host, root, state));
  if (isBefore('edits-back')) await done('edits-back');
  await bringBack(run, here(), state, result);
  await done('settled');
  await finishUp(run, job, state, result);
  await clearState(host, root);
  await run.reached?.('ended');
  return result;
}

async function takeOut(run: UpdateRun, { session }: Place, state: UpdateState): Promise<void> {
  if (state.taken.length === 0) return;
  run.say(`taking our edits out: ${state.taken.map(({ patch }) => patch).join(', ')}`);
  await change(session, {
    options: takeOutOptions(state.taken),
    saved: null,
    consent: async () => true,
  });
}

/** Re-applies what is recorded and missing. With a dashboard of ours it is asked first; else the structure of the code decides. */
async function bringBack(
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
  const wrote = settled.plans.length > 0;
  for (const { patch, outcome } of settled.patches) run.say(`${patch}: ${outcome}`);
  result.dashboards = await relaunchAll(run, place, state, wrote);
}

/** Patches whose capability the new engine was asked for and lacks; null: nobody was asked. */
async function missingNow(
  run: UpdateRun,
  place: Place,
  state: UpdateState,
  result: UpdateResult,
): Promise<ReadonlySet<string> | null> {
  if (state.taken.length === 0 || run.examine === null) return null;
  result.dashboards = await relaunchAll(run, place, state, false);
  const { capabilities } = await run.examine();
  const { patches } = place.session.catalogue;
  const lacks = (capability: string): boolean =>
    capabilities.find(({ id }) => id === capability)?.state !== 'yes';
  // A dashboard that we start has chat on by its environment; one that is started plainly may not: there structure decides.
  const isProved = (capability: string): boolean => capability !== 'embedded-chat' && !lacks(capability);
  return new Set(patches.filter(({ capability }) => !isProved(capability)).map(({ id }) => id));
}

async function relaunchAll(
  run: UpdateRun,
  place: Place,
  state: UpdateState,
  fresh: boolean,
): Promise<Relaunched[]> {
  if (state.launches.length === 0) return [];
  const { session } = place;
  const { processes } = (await run.open({ install: state.install, home: state.home })).located;
  const at = { host: run.host, home: session.scene.home, install: installOf(place), env: run.env };
  const dashboards: Relaunched[] = [];
  for (const noted of state.launches)
    dashboards.push(await relaunch(at, noted, processes, fresh, run.signal));
  return dashboards;
}

async function finishUp(
  run: UpdateRun,
  job: Map<'place', Place>,
  state: UpdateState,
  result: UpdateResult,
): Promise<void> {
  const place = await run.open({ install: state.install, home: state.home });
  job.set('place', place);
  const { processes } = place.located;
  result.after = versionOf(place);
  result.ended = await endedOf(run, state);
  const old = new Map<number, EngineProcess>();
  for (const plan of result.settled.plans)
    for (const process of outdated(plan, place.session, processes)) old.set(process.pid, process);
  for (const process of processes)
    if (process.install === state.install && process.newerFiles.length > 0) old.set(process.pid, process);
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

const where: Record<UpdateStep, string> = {
  noted: 'nothing was changed yet',
  'taken-out': 'our source edits are out, the engine is as upstream left it',
  updated: 'the engine has run its update; our source edits are out',
  'edits-back': 'the engine has run its update; our source edits are out',
  settled: 'all is in place; only the last check is missing',
};

function stopIfAsked({ signal }: UpdateRun, step: UpdateStep): void {
  if (!signal.aborted) return;
  throw new CompatError('interrupted', `interrupted after the step "${step}": ${where[step]}`, {
    finding: 'UPDATE_INTERRUPTED',
    args: { step },
    commands: [['hermes-compat', 'update']],
  });
}

async function removeIfEmpty({ host }: UpdateRun, folder: string): Promise<void> {
  try {
    await host.removeDir(folder);
  } catch {
    // The log of the updater stays there.
  }
}
