import { CompatError } from '../../errors.ts';
import type { UpdateRun } from './run.ts';
import type { UpdateStep } from './state.ts';

/** Where a run that ended after this step leaves things. */
const where: Record<UpdateStep, string> = {
  noted: 'nothing was changed yet',
  'taken-out': 'our source edits are out, the engine is as upstream left it',
  updated: 'the engine has run its update; our source edits are out',
  'edits-back': 'the engine has run its update; our source edits are out',
  settled: 'all is in place; only the last check is missing',
};

/** @throws CompatError interrupted, once a signal came */
export function stopIfAsked(run: UpdateRun, step: UpdateStep): void {
  if (run.signal.aborted) throw interruptedAfter(run, step);
}

const interruptedAfter = ({ again }: UpdateRun, step: UpdateStep): CompatError =>
  new CompatError('interrupted', `interrupted after the step "${step}": ${where[step]}`, {
    finding: 'UPDATE_INTERRUPTED',
    args: { step },
    commands: [[...again]],
  });

/** Whatever ended a run between its steps: where it stands, and what goes on from there. */
export function sayWhere(run: UpdateRun, step: UpdateStep, error: unknown): never {
  const said = error instanceof CompatError && error.details.finding === 'UPDATE_INTERRUPTED';
  if (said) throw error;
  if (error instanceof CompatError && error.kind === 'interrupted') throw interruptedAfter(run, step);
  run.say(`it ended after the step "${step}": ${where[step]}; to go on: ${run.again.join(' ')}`);
  throw error;
}
