import type { TurnsDocument } from './schema.ts';
import type { ScenarioResult } from './suite.ts';

type Finding = TurnsDocument['findings'][number];

/** Findings of CODES: what a cell that is not as expected means. */
export function findingsOf(results: readonly ScenarioResult[]): Finding[] {
  return results.flatMap((result) => (result.status === 'fail' ? [findingOf(result)] : []));
}

function findingOf({ id, got, expected, lost }: ScenarioResult): Finding {
  const seen = got ?? '';
  const scenario = id;
  if (lost !== undefined)
    return { code: 'TURN_LOST', args: { scenario, turn: lost.turn, error: lost.error } };
  if (seen.includes('prompt-ran-twice') && !expected.includes('prompt-ran-twice'))
    return { code: 'TURN_RAN_TWICE', args: { scenario } };
  const outcomes = (cell: string): string => cell.split(' · ')[0] ?? '';
  if (outcomes(seen) !== outcomes(expected))
    return {
      code: 'TURN_OUTCOME_WRONG',
      args: { scenario, outcome: outcomes(seen), expected: outcomes(expected) },
    };
  if (/missing-user|prompt-never-ran/.test(seen) && !/missing-user|prompt-never-ran/.test(expected))
    return { code: 'TURN_LOST', args: { scenario } };
  return { code: 'TURN_DIFFERS', args: { scenario, differences: `${seen} instead of ${expected}` } };
}
