import type { Messages } from './message.ts';
import { value } from './message.ts';

/** Sessions and turns. */
export const turnMessages: Messages = {
  SESSION_ROW_STALE_ACTIVE: {
    says: (args) => `The session list calls ${value(args, 'count', 'a session')} active that runs no turn`,
    means: 'A client that trusts the list shows a spinner that never ends.',
    seen: 'The stored list against the sessions that really run.',
    todo: 'Let the client ask session.active_list; a restart of the dashboard corrects the list.',
  },
  SESSION_ROW_MISSING_ACTIVE: {
    says: (args) => `A running turn is not called active in the session list (${value(args, 'count', '1')})`,
    means: 'A client that trusts the list shows it as finished.',
    seen: 'The sessions that really run against the stored list.',
    todo: 'Let the client ask session.active_list.',
  },
  TURN_DIFFERS: {
    says: (args) => `The turn looks different after a reload: ${value(args, 'differences', 'parts differ')}`,
    means: 'What was shown live is not what the stored session gives back.',
    seen: 'The live timeline against the timeline of the stored rows.',
    todo: 'Record such a turn (`hermes-compat record --prompt-file FILE --output turn.jsonl`) and report it, with what `hermes-compat bundle` gathers.',
  },
  TURN_OUTCOME_WRONG: {
    says: (args) =>
      `The turn ended as ${value(args, 'outcome', '?')}; ${value(args, 'expected', 'another end')} was expected`,
    means: 'The client would tell its user something else than what happened.',
    seen: 'The outcome of the settled turn against the expected one.',
    todo: 'Record such a turn (`hermes-compat record --prompt-file FILE --output turn.jsonl`); `hermes-compat replay turn.jsonl --verbose` says which step ended it.',
  },
  TURN_LOST: {
    says: (args) =>
      typeof args['error'] === 'string' ? args['error'] : 'The turn is missing from the stored session',
    means: 'After a reload the user’s question or its answer is gone, or nobody can see how it ended.',
    seen: 'No stored row belongs to the live turn, or the dashboard went away in the middle of it.',
    todo: 'Check that the home is writable, that one process owns the session, and that it keeps running.',
  },
  TURN_RAN_TWICE: {
    says: () => 'The same prompt ran twice',
    means: 'It was answered and paid for twice.',
    seen: 'Two stored turns with the client’s one prompt.',
    todo: 'Let the client send an own turn id and not repeat a prompt after a reconnect.',
  },
};
