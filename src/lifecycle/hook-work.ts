import { setTimeout as sleep } from 'node:timers/promises';
import { hookLockFolder, updateLockFolder } from '../engine/compat-places.ts';
import type { EngineProcess } from '../engine/schema.ts';
import { CompatError } from '../errors.ts';
import { writeWhole } from '../patch/journal.ts';
import { claimsIn, type Lock, takeLock } from '../patch/lock.ts';
import { updateOf } from '../patch/update-state.ts';
import {
  differences,
  fingerprint,
  isSame,
  readSeen,
  seenFile,
  seenText,
  type Watched,
  watchedBy,
} from './fingerprint.ts';
import { addToLog, ensureHookFolder } from './hook-log.ts';
import { type HookResult, type HookRun, result } from './hook-run.ts';
import { outdated } from './patch-change.ts';
import { type Settled, settle } from './settle.ts';

/** The part of a hook that only runs after a change. */
export async function workAlone(run: HookRun, watched: Watched): Promise<HookResult> {
  await ensureHookFolder(run.host, run.root);
  // Our own update puts things back itself.
  const updating = await claimsIn(run.host, updateLockFolder(run.root), await run.who());
  if (updating.some(({ alive }) => alive !== false)) return result('busy');
  const lock = await lockOrLeave(run, watched);
  if (lock === null) return result('busy');
  try {
    await lock.clear();
    return await work(run, watched);
  } finally {
    await lock.release();
  }
}

/** null: another run works. A claim of a run that was cut is taken over by the next. */
async function lockOrLeave(run: HookRun, watched: Watched): Promise<Lock | null> {
  const { host, root } = run;
  const who = await run.who();
  for (let tries = 0; tries < 3; tries++) {
    try {
      return await takeLock(host, hookLockFolder(root), who, '');
    } catch (error) {
      if (!isHeld(error)) throw error;
    }
    await sleep(100 + Math.random() * 200);
    // All that met may have stepped back: leave only where somebody did the work, or does it now.
    const [now, seen] = await Promise.all([fingerprint(host, watched), readSeen(host, root)]);
    if (seen !== null && isSame(now, seen)) return null;
  }
  return null;
}

const isHeld = (error: unknown): boolean =>
  error instanceof CompatError && error.details.finding === 'LOCK_HELD';

async function work(run: HookRun, watched: Watched): Promise<HookResult> {
  const { host, root } = run;
  if (!(await untilNoUpdate(run, watched.installs))) {
    await addToLog(host, root, run.now(), ['an engine update is still running; left']);
    return result('updating');
  }
  const seen = await readSeen(host, root);
  const first = await fingerprint(host, watched);
  if (seen !== null && isSame(first, seen)) return result('unchanged');
  const changed = seen === null ? [] : differences(seen, first);
  const patches = new Map<string, Settled['patches'][number]>();
  const restart = new Map<number, EngineProcess>();
  let before = first;
  for (let pass = 0; pass < 3; pass++) {
    const settled = await settleAll(run, (await watchedBy(host, root)) ?? watched);
    for (const each of settled.patches) {
      const key = `${each.patch} ${each.carrier}`;
      // A later pass finds it kept; what was done stays told.
      if (each.outcome !== 'kept' || !patches.has(key)) patches.set(key, each);
    }
    for (const running of settled.restart) restart.set(running.pid, running);
    if (!settled.wrote) break;
    // Our own writing changed the fingerprint; another look says whether anything else did.
    before = await fingerprint(host, (await watchedBy(host, root)) ?? watched);
  }
  const done = result('checked', { patches: [...patches.values()], restart: [...restart.values()], changed });
  await addToLog(host, root, run.now(), logLines(done));
  await writeWhole(host, seenFile(root), seenText(before));
  return done;
}

async function settleAll(
  run: HookRun,
  { places }: Watched,
): Promise<{ patches: Settled['patches']; restart: EngineProcess[]; wrote: boolean }> {
  const patches: Settled['patches'] = [];
  const restart: EngineProcess[] = [];
  let wrote = false;
  for (const place of places) {
    const { session, located } = await run.open(place);
    const settled = await settle(session);
    wrote ||= settled.patches.some(({ outcome }) => outcome === 'reapplied' || outcome === 'retired');
    patches.push(...settled.patches);
    for (const plan of settled.plans) restart.push(...outdated(plan, session, located.processes));
  }
  return { patches, restart, wrote };
}

/** False: it did not end in time. */
async function untilNoUpdate(run: HookRun, installs: readonly string[]): Promise<boolean> {
  const until = Date.now() + run.patienceMs;
  for (;;) {
    if ((await updateOf(run.host, run.root, installs))?.state !== 'live') return true;
    if (Date.now() > until) return false;
    await sleep(1000, undefined, { signal: run.signal });
  }
}

function logLines({ patches, restart, changed }: HookResult): string[] {
  const told = patches.filter(({ outcome }) => outcome !== 'kept');
  return [
    ...(changed.length === 0 ? [] : [`changed: ${changed.slice(0, 8).join(', ')}`]),
    ...told.map(
      ({ patch, carrier, outcome, code, reason }) =>
        `${patch} (${carrier}) ${outcome}${code === null ? '' : ` ${code}`}: ${reason}`,
    ),
    ...restart.map(
      ({ pid, owner }) =>
        `RESTART_REQUIRED: process ${pid} (${owner.kind}${owner.name === null ? '' : ` ${owner.name}`}) is older than this`,
    ),
    ...(told.length === 0 && changed.length > 0 ? ['all that is recorded is there'] : []),
  ];
}
