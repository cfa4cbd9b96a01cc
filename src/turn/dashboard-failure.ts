import { isGatewayFailure } from './gateway-link.ts';
import type { Submitted } from './gateway-submit.ts';
import { markTurnFailed } from './reconcile.ts';
import type { ActiveTurn, Row } from './rows.ts';

/**
 * What a failed dashboard leaves a client.
 *
 * - `before-submit`: the engine never took the prompt, so the API server (legacy path) may carry it
 * - `in-turn`: it may have run, so it is sent nowhere again; the error stands at its own turn in `rows`
 */
export type DashboardFailure =
  | { when: 'before-submit'; legacy: true; why: string; rows: readonly Row[] }
  | { when: 'in-turn'; legacy: false; why: string; rows: readonly Row[] };

/**
 * `submitted` is the answer of `submit`, null when it was not reached or rejected. `cause` is the error, or what `onLost` said.
 * A submit that timed out or whose socket closed gives `unknown`: the engine may have taken it.
 */
export function afterDashboardFailure(
  cause: unknown,
  submitted: Submitted | null,
  active: ActiveTurn,
  rows: readonly Row[],
): DashboardFailure {
  const why = reasonOf(cause);
  if (submitted === null || submitted.status === 'busy' || submitted.status === 'held')
    return { when: 'before-submit', legacy: true, why, rows };
  return {
    when: 'in-turn',
    legacy: false,
    why,
    rows: markTurnFailed(rows, active, `The dashboard was lost in the middle of this turn: ${why}.`),
  };
}

function reasonOf(cause: unknown): string {
  if (isGatewayFailure(cause)) return cause.message;
  if (cause instanceof Error) return cause.message;
  return typeof cause === 'string' ? cause : 'unknown reason';
}
