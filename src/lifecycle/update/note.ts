import { CompatError } from '../../errors.ts';
import { planNow } from '../../patch/change.ts';
import type { FileChange } from '../../patch/draft.ts';
import { makePlan } from '../../patch/plan.ts';
import type { MarkerEntry } from '../../patch/schema.ts';
import { updateOf } from '../../patch/update-state.ts';
import { readWorld, type World } from '../../patch/world.ts';
import { recordedHere } from '../settle.ts';
import { type Edits, noteEdits, refuseRisk } from './edits.ts';
import { endangered, launchesOf } from './processes.ts';
import { installOf, type Place, type UpdateRun } from './run.ts';
import type { UpdateState } from './state.ts';

/**
 * Everything that has to be known before anything is touched, and every reason not to begin.
 *
 * @param fetch ask the remote what is new, to know whether the user's edits fit
 * @throws CompatError refused, unchecked
 */
export async function noteAll(
  run: UpdateRun,
  place: Place,
  fetch: boolean,
): Promise<{ state: UpdateState; edits: Edits }> {
  const { session, located } = place;
  const install = installOf(place);
  const { home } = session.scene;
  refuseSealed(place);
  const live = await updateOf(run.host, home.root, [install.id]);
  if (live?.state === 'live')
    throw new CompatError(
      'refused',
      `an engine update is running (pid ${live.pid ?? 'unknown'}, ${live.path})`,
      {
        finding: 'UPDATE_IN_PROGRESS',
        args: { pid: live.pid },
      },
    );
  const { taken, notTaken, changes } = await oursToTake(place);
  const edits = await noteEdits(run.host, install, changes, run.engineArgs, fetch);
  refuseRisk(edits, install);
  const launches = await launchesOf(run.host, home.root, located.processes);
  const homes = [home.path, home.root];
  const state: UpdateState = {
    stateVersion: 1,
    step: 'noted',
    at: run.now(),
    prepared: false,
    install: install.id,
    home: home.path,
    engineArgs: [...run.engineArgs],
    before: versionOf(place),
    taken,
    notTaken,
    edits: edits.noted,
    branchChange: edits.branchChange,
    stashes: edits.stashes,
    processes: await endangered(
      run.host,
      { install, homes, located, target: session.scene.target },
      launches,
    ),
    launches,
    exitCode: null,
    retired: [],
  };
  return { state, edits };
}

export function versionOf(place: Place): UpdateState['before'] {
  const { version, generation, git } = installOf(place);
  return { version, generation, head: git?.head ?? null };
}

const noWay = {
  docker: 'this install is a layer of a container image: pull a newer image and recreate the container',
  nix: 'this install lies in the Nix store: update its flake or channel and rebuild',
};

function refuseSealed(place: Place): void {
  const { session } = place;
  const install = installOf(place);
  const { method, root, notWritable, owner } = install;
  const why =
    method === 'docker'
      ? noWay.docker
      : method === 'nix' || root.startsWith('/nix/store/')
        ? noWay.nix
        : notWritable === 'managed' || session.scene.home.managed
          ? 'this install is managed by another program: update it there'
          : notWritable === 'sealed'
            ? 'this install is a sealed bundle: its own updater replaces it as a whole'
            : null;
  if (why !== null)
    throw new CompatError('refused', `${why}; nothing was touched`, {
      finding: 'SEALED_INSTALL',
      args: { install: root, method },
    });
  if (notWritable === null || install.writable !== 'no') return;
  const codes = { permission: 'NOT_WRITABLE', 'other-owner': 'NOT_OWNER', 'read-only-fs': 'READ_ONLY_FS' };
  const finding = notWritable in codes ? codes[notWritable as keyof typeof codes] : 'NOT_WRITABLE';
  throw new CompatError(
    'refused',
    `${root} cannot be written by this account (${notWritable}${owner?.name == null ? '' : `, it belongs to ${owner.name}`}); nothing was touched`,
    { finding, args: { install: root } },
  );
}

/** Source edits that the marker records here, and what the tree is without them. */
async function oursToTake(
  place: Place,
): Promise<{ taken: MarkerEntry[]; notTaken: string | null; changes: FileChange[] }> {
  const { session } = place;
  const world = await readWorld(session.host, session.scene, session.catalogue);
  const taken = recordedHere(world).filter(({ carrier }) => carrier === 'source');
  if (taken.length === 0) return { taken, notTaken: null, changes: [] };
  const { plan } = await planNow(session, takeOutOptions(taken));
  const [refusal] = plan.document.refusals;
  if (refusal === undefined) return { taken, notTaken: null, changes: plan.changes };
  if (refusal.code === 'UPDATE_INTERRUPTED')
    return { taken: [], notTaken: refusal.reason, changes: await replacedAnyway(place, world, taken) };
  throw new CompatError(
    'refused',
    `nothing was touched: our edit cannot be taken out first: ${refusal.reason}${refusal.alternative === null ? '' : `\n  instead: ${refusal.alternative}`}`,
    { finding: refusal.code, args: { patch: refusal.patch } },
  );
}

/**
 * A cut update of the engine is what this one ends. In a checkout its updater carries our edits over, or parks them, like any other;
 * elsewhere every file is replaced, and what is ours there is no edit of the user that would be lost: the marker brings it back.
 */
async function replacedAnyway(
  { session }: Place,
  world: World,
  taken: readonly MarkerEntry[],
): Promise<FileChange[]> {
  if (world.install?.git !== null) return [];
  const plan = await makePlan({ ...world, update: null }, session.catalogue, takeOutOptions(taken));
  return plan.document.refusals.length === 0 ? plan.changes : [];
}

export const takeOutOptions = (taken: readonly MarkerEntry[]) => ({
  do: 'revert' as const,
  patches: taken.map(({ patch }) => patch),
  carrier: 'source' as const,
  allowNonLoopback: false,
  replace: false,
});
