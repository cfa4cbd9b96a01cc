import { compatFolder, lockFolder, overlayFolder, treeLockFolder } from '../engine/compat-places.ts';
import { CompatError } from '../errors.ts';
import type { Whoami } from '../host/holder.ts';
import { FileError, type Host } from '../host/types.ts';
import type { Catalogue } from './catalogue.ts';
import { compileAll } from './compile.ts';
import type { FileChange } from './draft.ts';
import { fileErrorsAs } from './file-trouble.ts';
import { ensureStateFolder, journalFolder, readJournal } from './journal.ts';
import { forget } from './forget.ts';
import { type Lock, refuseForeignFolder, takeLock } from './lock.ts';
import { correctMarker } from './correct-marker.ts';
import { sharedMarkerText } from './marker.ts';
import { isDropped, nextMarker } from './next-marker.ts';
import { refuseOtherUpdate } from './other-update.ts';
import { draftedFiles } from './plan-overlay.ts';
import { driftFrom, isEmpty, makePlan, type Plan } from './plan.ts';
import { type Recovery, recover } from './recover.ts';
import { removeIfEmpty } from './roll-back.ts';
import type { PlanDocument, PlanOptions } from './schema.ts';
import { carryOut } from './transaction.ts';
import { refuseFailure, type VerifyResult, type verifyDashboard } from './verify.ts';
import { dirname, join, readWorld, type Scene, type World } from './world.ts';

/** What a change runs with. */
export interface Session {
  host: Host;
  scene: Scene;
  catalogue: Catalogue;
  who: Whoami;
  signal: AbortSignal | null;
  now(): string;
  /** Drives a throw-away dashboard with the change in place; tests of the file work leave it out. */
  verify: typeof verifyDashboard | null;
}

export interface Request {
  options: PlanOptions;
  /** The change must be this one. */
  saved: PlanDocument | null;
  /** Shows the plan and asks. False: nothing is done. */
  consent(plan: Plan): Promise<boolean>;
}

export interface Outcome {
  plan: Plan;
  changed: boolean;
  /** What the throw-away dashboard was asked. */
  verified: VerifyResult['steps'];
  /** A change of an earlier run that was ended first. */
  recovered: Recovery | null;
}

/** The plan for what is there now; nothing is written, no lock is taken. */
export async function planNow(session: Session, options: PlanOptions): Promise<{ plan: Plan; world: World }> {
  const { host, scene, catalogue } = session;
  const world = await fileErrorsAs('unchecked', 'what is there cannot be read', () =>
    readWorld(host, scene, catalogue),
  );
  return { plan: await makePlan(world, catalogue, options), world };
}

/**
 * Plans, asks, and carries out: lock, recover, plan again, compile, stage, journal, rename, read back, verify, marker.
 * When nothing is to be done, nothing is touched; only a marker that says another than the bytes is corrected.
 *
 * @throws CompatError refused, rolled-back, half-done, interrupted
 */
export async function change(session: Session, request: Request): Promise<Outcome> {
  await fileErrorsAs('unchecked', 'what is there cannot be read', () => refuseOtherUpdate(session));
  const recovered = await recoverFirst(session);
  const { plan: first, world: seen } = await planNow(session, request.options);
  if (request.saved !== null) refuseDrift(request.saved, first.document);
  refuseRefusals(first);
  if (isEmpty(first)) {
    if (request.options.do === 'apply') await correctMarker(session);
    else await forget(session, (entry) => isDropped(seen, first, entry));
    return { plan: first, changed: false, verified: [], recovered };
  }
  if (!(await request.consent(first)))
    throw new CompatError('refused', 'nothing was changed: nobody agreed to the plan', {
      args: { consent: false },
    });
  return withLocks(session, treesOf(session, first), async () => {
    const { plan, world } = await planNow(session, request.options);
    refuseDrift(first.document, plan.document);
    const verified = await perform(session, plan, world);
    return { plan, changed: true, verified, recovered };
  });
}

/** Ends what an earlier run left, when it left something: a journal, or no more than its claims. */
export async function recoverFirst(session: Session): Promise<Recovery | null> {
  const { host, scene, now } = session;
  const { root } = scene.home;
  const left = await fileErrorsAs('unchecked', 'what is there cannot be read', () => leftBehind(session));
  if (left === null) return null;
  return withLocks(session, left.trees, () =>
    fileErrorsAs('refused', 'what an earlier run left cannot be removed', () => recover(host, root, now())),
  );
}

/** Trees that a recovery must lock; null when there is nothing to recover. */
async function leftBehind({ host, scene }: Session): Promise<{ trees: string[] } | null> {
  const { root } = scene.home;
  const tree = scene.install?.packageDir ?? null;
  const there = async (path: string): Promise<boolean> => (await host.stat(path)) !== null;
  const inTree = tree !== null && (await there(treeLockFolder(tree)));
  if (!inTree && !(await there(journalFolder(root))) && !(await there(lockFolder(root)))) return null;
  for (const folder of [compatFolder(root), journalFolder(root)])
    if (await there(folder)) await refuseForeignFolder(host, folder);
  const journal = await readJournal(host, root);
  return { trees: [...new Set([...(journal?.trees ?? []), ...(inTree ? [tree] : [])])] };
}

/** Holds the lock of the home and of each tree; ends first what a cut run of another home left in such a tree. */
async function withLocks<T>(session: Session, trees: readonly string[], work: () => Promise<T>): Promise<T> {
  const { host, scene } = session;
  const locks: Lock[] = [];
  try {
    await fileErrorsAs('refused', 'the lock could not be taken', () => takeLocks(session, trees, locks));
    return await work();
  } finally {
    for (const lock of locks.toReversed()) await lock.release();
    // An empty folder that stays does no harm, and must not hide how the work ended.
    if (locks.length > 0) await removeIfEmpty(host, compatFolder(scene.home.root)).catch(() => {});
  }
}

/** Another run that ends may remove the empty folder of our records while we enter. */
async function takeHomeLock({ host, scene, who }: Session): Promise<Lock> {
  const { root } = scene.home;
  for (let tries = 0; ; tries++) {
    await ensureStateFolder(host, root);
    try {
      return await takeLock(host, lockFolder(root), who, '');
    } catch (error) {
      if (!(error instanceof FileError && error.code === 'not-found') || tries === 20) throw error;
    }
  }
}

async function takeLocks(session: Session, trees: readonly string[], locks: Lock[]): Promise<void> {
  const { host, scene, who, now } = session;
  const { root } = scene.home;
  const home = await takeHomeLock(session);
  locks.push(home);
  await home.clear();
  for (const tree of trees) {
    const lock = await takeLock(host, treeLockFolder(tree), who, root);
    locks.push(lock);
    for (const { note } of lock.cut) if (note !== '' && note !== root) await recover(host, note, now());
    await lock.clear();
  }
}

const treesOf = (session: Session, plan: Plan): string[] => {
  const { install } = session.scene;
  if (install === null) return [];
  const inTree = plan.changes.some(({ state }) => state.path.startsWith(`${install.packageDir}/`));
  return inTree ? [install.packageDir] : [];
};

function refuseDrift(saved: PlanDocument, now: PlanDocument): void {
  const why = driftFrom(saved, now);
  if (why !== null)
    throw new CompatError('refused', `the plan does not fit any more: ${why}`, {
      finding: 'FOREIGN_EDITS',
      args: { drift: true },
      commands: [['hermes-compat', 'patch', 'plan']],
    });
}

function refuseRefusals({ document }: Plan): void {
  const [first] = document.refusals;
  if (first === undefined) return;
  const parts = [
    `${first.patch} by ${first.carrier}: ${first.reason}`,
    ...(first.lookedFor === null ? [] : [`looked for: ${first.lookedFor}`]),
    ...(first.found === null ? [] : [`found: ${first.found}`]),
    ...(first.alternative === null ? [] : [`instead: ${first.alternative}`]),
  ];
  throw new CompatError('refused', parts.join('\n  '), {
    finding: first.code,
    args: { patch: first.patch, carrier: first.carrier, lookedFor: first.lookedFor, found: first.found },
  });
}

async function perform(session: Session, plan: Plan, world: World): Promise<VerifyResult['steps']> {
  const { host, scene, catalogue } = session;
  const { install, home } = scene;
  if (install?.interpreter != null) await compileAll(host, install.interpreter.path, plan.changes);
  const action = plan.document.options.do;
  const at = session.now();
  let verified: VerifyResult['steps'] = [];
  const folders = await fileErrorsAs('unchecked', 'what is there cannot be read', () =>
    foldersToMake(host, plan.changes),
  );
  const marker = nextMarker(world, catalogue, plan, folders, at);
  await carryOut(host, {
    root: home.root,
    action,
    at,
    patches: [...new Set(plan.document.steps.map(({ patch }) => patch))],
    changes: plan.changes,
    emptied: action === 'revert' ? emptiedFolders(world, plan) : [],
    marker,
    shared: sharedChange(world, plan, marker.entries.length, at),
    trees: treesOf(session, plan),
    modelFor: ({ state }) =>
      install !== null && state.path.startsWith(`${install.packageDir}/`)
        ? join(install.packageDir, catalogue.overlay.file)
        : null,
    isOriginal: (change) => isOriginal(change),
    verify: async () => {
      if (session.verify === null || install === null || action !== 'apply') return;
      const want = wantedChecks(plan, catalogue);
      const overlay = draftedFiles(world, plan.draft);
      const result = await session.verify(host, install, overlay, want, session.signal);
      refuseFailure(result);
      verified = result.steps;
    },
    signal: session.signal,
  });
  return verified;
}

const wantedChecks = (plan: Plan, catalogue: Catalogue): string[] => [
  ...new Set(
    plan.document.steps.flatMap(
      ({ patch }) => catalogue.patches.find(({ id }) => id === patch)?.verify ?? [],
    ),
  ),
];

/** Old bytes without anything of ours. */
const isOriginal = ({ state, before }: FileChange): boolean =>
  before !== null &&
  !state.path.includes('/plugins/hermes-compat/') &&
  !before.includes('hermes-compat') &&
  !before.includes('hermes_compat');

async function foldersToMake(host: Host, changes: readonly FileChange[]): Promise<string[]> {
  const missing = new Set<string>();
  for (const { state, after } of changes) {
    if (after === null) continue;
    for (let folder = dirname(state.real); (await host.stat(folder, true)) === null; folder = dirname(folder))
      missing.add(folder);
  }
  return [...missing];
}

/** Folders of the overlay, when its last file goes. */
function emptiedFolders(world: World, plan: Plan): string[] {
  if (draftedFiles(world, plan.draft).size > 0) return [];
  const folder = overlayFolder(world.overlayHome);
  if (!plan.changes.some(({ state }) => state.path.startsWith(`${folder}/`))) return [];
  const plugins = dirname(dirname(folder));
  const made = world.markers.ours?.folders.includes(plugins) === true;
  return [join(folder, '__pycache__'), folder, dirname(folder), ...(made ? [plugins] : [])];
}

function sharedChange(
  world: World,
  plan: Plan,
  entries: number,
  at: string,
): { action: 'write' | 'remove' | 'keep'; text: string } {
  const { shared } = world.markers;
  const keep = { action: 'keep' as const, text: '' };
  if (plan.document.options.do === 'revert')
    return shared.kind === 'ours' && entries === 0 ? { action: 'remove', text: '' } : keep;
  if (shared.kind !== 'absent' && shared.kind !== 'ours') return keep;
  const path = world.install === null ? null : join(world.install.packageDir, 'web_server.py');
  return { action: 'write', text: sharedMarkerText(world.target.kind === 'ssh' ? 'ssh' : 'local', path, at) };
}
