import { compare, type StoredSessions, type Turn } from '../turn/index.ts';
import { maskKeys } from './mask-keys.ts';

/**
 * What one scenario came to on one engine: the outcome of each turn, how the stored rows differ (`<turn> <code>`, codes of cases/README.md;
 * `- <code>` when it is about no turn), turns that were not seen whole, and faults of the engine by name.
 */
export interface Cell {
  outcomes: readonly string[];
  differences: readonly string[];
  degraded: readonly number[];
  faults: readonly string[];
}

export function cellOf(turns: readonly Turn[], stored: StoredSessions, faults: Iterable<string>): Cell {
  const { differences } = compare(turns, stored);
  return {
    outcomes: turns.map((turn) => turn.outcome ?? 'open'),
    differences: differences.map(({ turn, code }) => `${turn ?? '-'} ${code}`),
    degraded: turns.filter((turn) => turn.degraded).map((turn) => turn.index),
    faults: [...faults].sort(),
  };
}

/** One line for people and for the table: `completed, error · 1 missing-user · degraded 0 · no-file-attach`. */
export function cellText({ outcomes, differences, degraded, faults }: Cell): string {
  return [
    outcomes.join(', '),
    differences.join(', '),
    degraded.length === 0 ? '' : `degraded ${degraded.join(', ')}`,
    faults.join(', '),
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

/** The first error that the turns show, without keys, for people who read of a cell that is not as expected. */
export function firstError(turns: readonly Turn[]): string | null {
  for (const { parts } of turns)
    for (const part of parts) if (part.type === 'error') return maskKeys(part.error).slice(0, 300);
  return null;
}
