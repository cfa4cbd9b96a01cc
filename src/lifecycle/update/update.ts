import { updateFolder, updateLockFolder } from '../../engine/compat-places.ts';
import { CompatError } from '../../errors.ts';
import type { Host } from '../../host/types.ts';
import { change, recoverFirst } from '../../patch/change.ts';
import { takeLock } from '../../patch/lock.ts';
import { updateOf } from '../../patch/update-state.ts';
import { bringBack, finishUp } from './bring-back.ts';
import { keepEdits } from './edits.ts';
import { sayWhere, stopIfAsked } from './interrupt.ts';
import { noteAll, takeOutOptions } from './note.ts';
import { restoreEdits } from './restore-edits.ts';
import { emptyResult, type UpdateResult } from './result.ts';
import { installOf, type Place, type UpdateRun } from './run.ts';
import {
  clearState,
  ensureUpdateFolder,
  readState,
  steps,
  type UpdateState,
  type UpdateStep,
  writeState,
} from './state.ts';
import { forgetUpdater, readReceipt, runUpdater, updaterLog, updaterStart } from './updater.ts';

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
  const lock = await takeLock(host, updateLockFolder(root), place.session.who, '');
  try {
    await lock.clear();
    const earlier = await readState(host, root);
    if (earlier !== null) place = await run.open({ install: earlier.install, home: earlier.home });
    const state = await begin(run, place, earlier, range);
    const job = { state, place, root, continuedFrom: earlier?.step ?? null };
    return await goOn(run, job, range).catch((error: unknown) => sayWhere(run, state.step, error));
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
  place: Place;
  root: string;
  continuedFrom: UpdateStep | null;
}

async function goOn(run: UpdateRun, job: Job, range: Range): Promise<UpdateResult> {
  const { host } = run;
  const { state, root, place } = job;
  const { scene } = place.session;
  const { argv } = await updaterStart(host, installOf(place), scene.home, state.engineArgs, {});
  const result = emptyResult(state, job.continuedFrom, argv, updaterLog(root));
  const done = async (step: UpdateStep): Promise<void> => {
    state.step = step;
    await writeState(host, root, state);
    await run.reached?.(step);
    stopIfAsked(run, step);
  };
  const isBefore = (step: UpdateStep): boolean => steps.indexOf(state.step) < steps.indexOf(step);

  if (isBefore('taken-out')) {
    await takeOut(run, place, state);
    await done('taken-out');
  }
  state.prepared = range.to === 'taken-out';
  if (state.prepared) {
    await writeState(host, root, state);
    return result;
  }
  if (isBefore('updated')) {
    run.say(`running the engine's own update: ${argv.join(' ')}`);
    const start = await updaterStart(host, installOf(place), scene.home, state.engineArgs, run.env);
    state.exitCode = await runUpdater(host, root, start, run);
    if (state.exitCode === 0) await removeStaleLock(host, root);
    await done('updated');
  }
  // The updater may have brought another generation, and with it other rules.
  const after = await run.open({ install: state.install, home: state.home });
  result.receipt = await readReceipt(host, after.session.scene.home, state.at);
  Object.assign(result, await restoreEdits(host, root, state));
  if (isBefore('edits-back')) await done('edits-back');
  await bringBack(run, after, state, result);
  await done('settled');
  await finishUp(run, state, result);
  await clearState(host, root);
  await run.reached?.('ended');
  return result;
}

/** Releases up to 0.19 know no lock: one that a cut updater of another release left has had its end with this one. */
async function removeStaleLock(host: Host, root: string): Promise<void> {
  const left = await updateOf(host, root, []);
  if (left?.state === 'stale') await host.removeFile(left.path);
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

async function removeIfEmpty({ host }: UpdateRun, folder: string): Promise<void> {
  try {
    await host.removeDir(folder);
  } catch {
    // The log of the updater stays there.
  }
}
