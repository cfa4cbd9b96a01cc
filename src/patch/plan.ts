import { usageError } from '../errors.ts';
import { documentHead } from '../tool.ts';
import type { Catalogue } from './catalogue.ts';
import { changesOf, type Draft, type FileChange } from './draft.ts';
import { planApply } from './plan-apply.ts';
import { planRevert } from './plan-revert.ts';
import type { PlanDocument, PlanOptions } from './schema.ts';
import { decode, sha256 } from './text.ts';
import type { World } from './world.ts';

/** A change that was thought out: its document, and the bytes that the document names by hash. */
export interface Plan {
  document: PlanDocument;
  draft: Draft;
  changes: FileChange[];
}

/** The same world and options give the same plan; nothing is read or written. */
export async function makePlan(world: World, catalogue: Catalogue, options: PlanOptions): Promise<Plan> {
  const unknown = options.patches.find((id) => !catalogue.patches.some((patch) => patch.id === id));
  if (unknown !== undefined) {
    const known = catalogue.patches.map(({ id }) => id).join(', ');
    throw usageError(`there is no patch "${unknown}"; there are: ${known}`);
  }
  const draft =
    options.do === 'apply'
      ? await planApply(world, catalogue, options)
      : await planRevert(world, catalogue, options);
  const changes = changesOf(draft, options.do);
  return { document: await documentOf(world, options, draft, changes), draft, changes };
}

async function documentOf(
  world: World,
  options: PlanOptions,
  draft: Draft,
  changes: FileChange[],
): Promise<PlanDocument> {
  const hash = (bytes: Buffer | null): string | null => (bytes === null ? null : sha256(bytes));
  const steps = await Promise.all(
    draft.steps.map(async (step, index) => ({
      ...step,
      diff: await unifiedDiff(
        step.path,
        draft.texts[index]?.before ?? null,
        draft.texts[index]?.after ?? null,
      ),
    })),
  );
  return {
    ...documentHead('plan'),
    planVersion: 1,
    target: world.target,
    install: world.install?.id ?? null,
    home: world.home.path,
    options,
    steps,
    files: changes.map(({ state, before, after }) => ({
      path: state.path,
      action: after === null ? 'remove' : 'write',
      beforeSha256: hash(before),
      afterSha256: hash(after),
    })),
    refusals: draft.refusals,
    notes: draft.notes,
  };
}

/** As `git diff` shows it, with three lines of context; empty for what is no UTF-8. */
export async function unifiedDiff(
  path: string,
  before: Buffer | null,
  after: Buffer | null,
): Promise<string> {
  const [old, now] = [before, after].map((bytes) => (bytes === null ? '' : decode(bytes)));
  if (old === null || now === null || old === undefined || now === undefined) return '';
  const { createTwoFilesPatch } = await import('diff');
  const name = path.replace(/^\//, '');
  return createTwoFilesPatch(
    before === null ? '/dev/null' : `a/${name}`,
    after === null ? '/dev/null' : `b/${name}`,
    old,
    now,
    undefined,
    undefined,
    { context: 3, stripTrailingCr: false },
  ).replace(/^=+\n/, '');
}

/**
 * Why a saved plan is not the one that would be made now; null when it is. Every difference is one: other bytes, other
 * options, another version of ours that would write something else.
 */
export function driftFrom(saved: PlanDocument, now: PlanDocument): string | null {
  if (saved.home !== now.home || saved.install !== now.install)
    return `it was made for ${saved.install ?? 'no install'} with ${saved.home}, and this is ${now.install ?? 'no install'} with ${now.home}`;
  for (const file of now.files) {
    const then = saved.files.find(({ path }) => path === file.path);
    if (then === undefined) return `${file.path} would be written too`;
    if (then.beforeSha256 !== file.beforeSha256) return `${file.path} has changed since`;
    if (then.afterSha256 !== file.afterSha256) return `${file.path} would be written differently now`;
  }
  const gone = saved.files.find(({ path }) => !now.files.some((file) => file.path === path));
  if (gone !== undefined) return `${gone.path} needs no change any more`;
  if (saved.refusals.length !== now.refusals.length) return 'what is refused has changed';
  return null;
}

/** True when neither bytes nor our marker would change. */
export const isEmpty = (plan: Plan): boolean => plan.changes.length === 0;
