import type { Answer } from '../provider/answer.ts';
import { since } from '../release/since.ts';
import { emit } from './hub.ts';
import type { Hub } from './hub.ts';
import { usageOf } from './info.ts';
import { addRow } from './run.ts';
import type { Run } from './run.ts';

/** How a turn of the stand-in ends: the last events, and what is stored of them. */

const noReply = (hub: Hub): string =>
  since(hub.world.release, '0.16.0') ? '⚠️ No reply: the model returned empty content.' : '(empty)';

type Status = 'complete' | 'interrupted' | 'error';

/** Which stored rows belong to the turn, in the newest release. */
const persisted = ({ hub, session, firstRow }: Run, status: Status): Record<string, unknown> => {
  if (!since(hub.world.release, '0.22.2')) return {};
  const rows = session.rows.slice(firstRow);
  const final = rows.at(-1);
  const whole = status === 'complete' && final !== undefined ? { final_assistant_row_id: final.id } : {};
  return {
    persisted_turn: {
      row_ids: rows.map(({ id }) => id),
      complete: status === 'complete',
      user_row_id: rows[0]?.id ?? null,
      ...whole,
    },
  };
};

const complete = (
  run: Run,
  text: string | null,
  status: Status,
  more: Record<string, unknown> = {},
): void => {
  const { hub, session } = run;
  const reasoning = status === 'complete' && run.reasoning !== '' ? { reasoning: run.reasoning } : {};
  const usage = usageOf(hub.world, session);
  emit(hub, session, 'message.complete', {
    text,
    usage,
    status,
    ...reasoning,
    ...persisted(run, status),
    ...more,
  });
};

/** What newer releases say about a failure besides the text. */
const surface = ({ hub }: Run, status: number, error: string): Record<string, unknown> => {
  if (!since(hub.world.release, '0.20.0')) return {};
  if (!since(hub.world.release, '0.21.0')) return { error, recoverable: true };
  const code =
    { 400: 'format_error', 401: 'auth', 402: 'billing', 429: 'rate_limit' }[status] ?? 'server_error';
  const retryable = status === 429 || status >= 500;
  return { error, recoverable: true, error_surface: { layer: 'provider', code, retryable } };
};

const unanswered = 'Your request was not processed. Send it again if you still want me to carry it out.';

/** `status`: what the provider answered; 0 for failures of the engine's own. */
export const fail = (run: Run, status: number, text: string): void => {
  emit(run.hub, run.session, 'status.update', { kind: 'lifecycle', text: `❌ ${text}` });
  const { release } = run.hub.world;
  const shown = since(release, '0.18.2') ? text : `Error: ${text}`;
  if (since(release, '0.21.4'))
    addRow(run.session, {
      role: 'assistant',
      content: unanswered,
      ...(since(release, '0.22.2') && { kind: 'failed_turn' }),
    });
  complete(run, shown, 'error', surface(run, status, text));
};

export const finish = (run: Run, answer: Answer, text: string): void => {
  const { hub, session } = run;
  if (text === '')
    emit(hub, session, 'status.update', { kind: 'lifecycle', text: '❌ Model returned no content' });
  else emit(hub, session, 'reasoning.available', { text: text.slice(0, 500) });
  const reasoning = answer.reasoning.join('');
  // An answer of nothing is a row since 0.18.2 only.
  if (text !== '' || since(hub.world.release, '0.18.2'))
    addRow(session, {
      role: 'assistant',
      content: text === '' ? '(empty)' : text,
      ...(reasoning !== '' && { reasoning }),
    });
  complete(run, text === '' ? noReply(hub) : text, 'complete');
};

export const interrupted = (run: Run): void => {
  const { text } = run.turn;
  const keeps = since(run.hub.world.release, '0.18.2');
  if (keeps && text !== '') addRow(run.session, { role: 'assistant', content: text });
  complete(run, keeps ? text || null : 'Operation interrupted: waiting for model response.', 'interrupted');
};
