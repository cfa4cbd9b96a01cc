import { CompatError } from '../errors.ts';
import { hookProblem, installHook, refuseProblem } from '../lifecycle/hooks/install.ts';
import { hookKind } from '../lifecycle/hooks/kinds.ts';
import type { HookId, HookPlace } from '../lifecycle/hooks/types.ts';

/**
 * All are asked before the first is installed. One that was named has to be possible; of our own choice one is enough, and `left`
 * says of the others why they are not.
 *
 * @throws CompatError refused
 */
export async function askAll(
  place: HookPlace,
  ids: readonly HookId[],
  ownChoice: boolean,
): Promise<{ possible: HookId[]; left: string[] }> {
  const asked: { id: HookId; problem: string | null }[] = [];
  for (const id of ids) asked.push({ id, problem: await hookProblem(place, id) });
  const possible = asked.flatMap(({ id, problem }) => (problem === null ? [id] : []));
  if (!ownChoice || possible.length === 0) for (const { id, problem } of asked) refuseProblem(id, problem);
  const left = asked.flatMap(({ id, problem }) =>
    problem === null ? [] : [`${id} is not installed: ${problem}.`],
  );
  return { possible, left };
}

/** What was done, a sentence each. @throws CompatError */
export async function installAll(place: HookPlace, ids: readonly HookId[]): Promise<string[]> {
  const done: string[] = [];
  for (const id of ids) {
    try {
      const outcome = await installHook(place, id, new Date().toISOString());
      done.push(
        outcome === 'kept' ? `${id} was installed already.` : `${id} is installed: ${hookKind(id).does}.`,
      );
    } catch (error) {
      if (!(error instanceof CompatError) || done.length === 0) throw error;
      throw new CompatError(error.kind, `${error.message}. Before that: ${done.join(' ')}`, error.details);
    }
  }
  return done;
}
