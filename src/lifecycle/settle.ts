import { CompatError } from '../errors.ts';
import { change, recoverFirst, type Session } from '../patch/change.ts';
import { forget } from '../patch/forget.ts';
import type { MarkerEntry, PlanDocument, PlanOptions, StatusDocument } from '../patch/schema.ts';
import { statusOf } from '../patch/status.ts';
import { readWorld, type World } from '../patch/world.ts';

type PatchStatus = StatusDocument['patches'][number];

/** What became of one recorded patch. */
export interface SettledPatch {
  patch: string;
  carrier: MarkerEntry['carrier'];
  /**
   * `kept`: it is there · `reapplied` · `retired`: the engine has it of its own now, and what was left of ours is gone ·
   * `taken-over`: another's edit does it, or our other carrier · `not-missed`: it is gone, and the dashboard works without · `refused`
   */
  outcome: 'kept' | 'reapplied' | 'retired' | 'taken-over' | 'not-missed' | 'refused';
  /** Finding code of a refusal. */
  code: string | null;
  reason: string;
}

export interface Settled {
  patches: SettledPatch[];
  /** What was written, for the question which processes are older than it. */
  plans: PlanDocument[];
}

/** Entries of our marker that are about this home and this install. */
export function recordedHere(world: World): MarkerEntry[] {
  const { home, install, overlayHome, markers } = world;
  const homes = new Set([home.path, home.root, overlayHome]);
  return (markers.ours?.entries ?? []).filter((entry) =>
    entry.carrier === 'overlay' ? homes.has(entry.home) : install !== null && entry.install === install.id,
  );
}

/**
 * Brings back what the marker records as ours, with the same carrier, and takes away what the engine has of its own by now.
 * Never asks; what is refused is told and left. With nothing to do, nothing is written.
 *
 * @param more.isMissed false keeps a lost patch away: the dashboard was asked and has what it gives
 * @param more.taken entries that were taken out for an update, and so are in the marker no more
 */
export async function settle(
  session: Session,
  more: { isMissed?(patch: string): boolean; taken?: readonly MarkerEntry[] } = {},
): Promise<Settled> {
  const { isMissed = () => true, taken = [] } = more;
  await recoverFirst(session);
  const world = await readWorld(session.host, session.scene, session.catalogue);
  const recorded = recordedHere(world);
  const entries = [...recorded, ...taken.filter((entry) => !recorded.some((each) => isSame(each, entry)))];
  const settled: Settled = { patches: [], plans: [] };
  if (entries.length === 0) return settled;
  const status = await statusOf(world, session.catalogue);
  const missing: Missing[] = [];
  for (const entry of entries) {
    const now = status.patches.find(({ id }) => id === entry.patch);
    if (now === undefined) {
      settled.patches.push(unknownPatch(entry));
      continue;
    }
    const kept = standing(entry, now, isMissed);
    if (kept !== null) settled.patches.push(kept);
    else if (now.state === 'not-needed') await retire(session, entry, now, settled);
    else missing.push({ entry, now });
  }
  for (const group of grouped(missing)) await reapply(session, group, settled);
  return settled;
}

const unknownPatch = (entry: MarkerEntry): SettledPatch => ({
  ...of(entry),
  outcome: 'refused',
  code: 'MARKER_MISMATCH',
  reason: 'this version does not know that patch',
});

/** null: something is to be done. */
function standing(
  entry: MarkerEntry,
  now: PatchStatus,
  isMissed: (patch: string) => boolean,
): SettledPatch | null {
  if (now.state === 'not-needed') return null;
  const base = { ...of(entry), code: null, reason: now.reason };
  if (now.state === 'applied' && now.carrier === entry.carrier && now.effective !== 'no')
    return { ...base, outcome: 'kept' };
  if (now.state === 'applied-by-other' && now.effective !== 'no') return { ...base, outcome: 'taken-over' };
  if (now.state === 'absent' && !isMissed(entry.patch)) return { ...base, outcome: 'not-missed' };
  return null;
}

const of = ({ patch, carrier }: MarkerEntry): Pick<SettledPatch, 'patch' | 'carrier'> => ({ patch, carrier });

/** A recorded patch that is not as its entry says. */
interface Missing {
  entry: MarkerEntry;
  now: PatchStatus;
}

/** One verification a group: patches of one carrier and one width go in together. */
function grouped(missing: readonly Missing[]): Missing[][] {
  const groups = new Map<string, Missing[]>();
  for (const each of missing) {
    const key = `${each.entry.carrier} ${each.entry.allowNonLoopback}`;
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups.values()];
}

async function reapply(session: Session, group: readonly Missing[], settled: Settled): Promise<void> {
  const entries = group.map(({ entry }) => entry);
  try {
    const plan = await perform(session, entries, 'apply');
    if (plan !== null) settled.plans.push(plan);
    for (const each of group) {
      const isWritten = plan?.steps.some(({ patch }) => patch === each.entry.patch) === true;
      const reapplied = { outcome: 'reapplied' as const, code: null, reason: 'it was gone' };
      if (isWritten) settled.patches.push({ ...of(each.entry), ...reapplied });
      else await alreadyThere(session, each, settled);
    }
  } catch (error) {
    if (!isAnswer(error)) throw error;
    // All or nothing would leave out a patch that fits because of one that does not.
    if (group.length > 1) for (const each of group) await reapply(session, [each], settled);
    else settled.patches.push(refused(entries[0] as MarkerEntry, error));
  }
}

/** Nothing was to be written: it is there as recorded, or by the other carrier, and then this entry is over. */
async function alreadyThere(session: Session, { entry, now }: Missing, settled: Settled): Promise<void> {
  const base = { ...of(entry), code: null, reason: now.reason };
  if (now.carrier === null || now.carrier === entry.carrier) {
    settled.patches.push({ ...base, outcome: 'kept' });
    return;
  }
  await forget(session, (each) => isSame(each, entry));
  settled.patches.push({ ...base, outcome: 'taken-over' });
}

async function retire(
  session: Session,
  entry: MarkerEntry,
  now: PatchStatus,
  settled: Settled,
): Promise<void> {
  try {
    const plan = await perform(session, [entry], 'revert');
    if (plan !== null) settled.plans.push(plan);
    await forget(session, (each) => isSame(each, entry));
    settled.patches.push({ ...of(entry), outcome: 'retired', code: null, reason: now.reason });
  } catch (error) {
    if (!isAnswer(error)) throw error;
    settled.patches.push(refused(entry, error));
  }
}

/** The plan that was carried out; null when nothing was to be done. */
async function perform(
  session: Session,
  group: MarkerEntry[],
  action: PlanOptions['do'],
): Promise<PlanDocument | null> {
  const [first] = group as [MarkerEntry];
  const options: PlanOptions = {
    do: action,
    patches: group.map(({ patch }) => patch),
    carrier: first.carrier,
    allowNonLoopback: first.allowNonLoopback,
    replace: false,
  };
  const outcome = await change(session, { options, saved: null, consent: async () => true });
  return outcome.changed ? outcome.plan.document : null;
}

const isSame = (a: MarkerEntry, b: MarkerEntry): boolean =>
  a.patch === b.patch && a.carrier === b.carrier && a.home === b.home && a.install === b.install;

/** A change that was refused or rolled back left all as it was: that is a result. */
const isAnswer = (error: unknown): error is CompatError =>
  error instanceof CompatError &&
  (error.kind === 'refused' || error.kind === 'rolled-back') &&
  error.details.finding !== 'LOCK_HELD';

const refused = (entry: MarkerEntry, error: CompatError): SettledPatch => ({
  ...of(entry),
  outcome: 'refused',
  code: error.details.finding ?? null,
  reason: error.message,
});
