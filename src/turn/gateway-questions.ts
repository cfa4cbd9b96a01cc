import type { Link } from './gateway-link.ts';
import { listOf, objectOf, textOf, type Json } from './json.ts';

/**
 * A question of the engine. Up to the contract 6 it is an event and the answer a request (`approval.respond`, `clarify.respond`); from 7 on it is a
 * request of the engine and the answer its result.
 */
export interface GatewayQuestion {
  kind: 'approval' | 'clarify';
  style: 'event' | 'request';
  runtimeId: string;
  id: unknown;
  payload: Json;
}

const kinds: Readonly<Record<string, GatewayQuestion['kind']>> = {
  'approval.request': 'approval',
  'clarify.request': 'clarify',
  approval: 'approval',
  clarify: 'clarify',
};

export function questionOfEvent(params: Json): GatewayQuestion | null {
  const kind = kinds[textOf(params['type']) ?? ''];
  if (kind === undefined) return null;
  const payload = objectOf(params['payload']);
  return {
    kind,
    style: 'event',
    runtimeId: textOf(params['session_id']) ?? '',
    id: payload['request_id'] ?? null,
    payload,
  };
}

export function questionOfRequest(id: unknown, method: string, params: Json): GatewayQuestion | null {
  const kind = kinds[method];
  if (kind === undefined) return null;
  return { kind, style: 'request', runtimeId: textOf(params['session_id']) ?? '', id, payload: params };
}

/** Sends the answer in the style in which the question came. Approvals: once, session, always, deny. */
export async function answerQuestion(link: Link, question: GatewayQuestion, answer: string): Promise<void> {
  const { kind, style, id, runtimeId, payload } = question;
  if (style === 'request') {
    if (kind === 'approval') return link.reply(id, { choice: answer });
    const asked = listOf(payload['questions']).map((each) => textOf(objectOf(each)['qid']) ?? '');
    return link.reply(id, { answers: Object.fromEntries(asked.map((qid) => [qid, answer])) });
  }
  const named = id === null ? {} : { request_id: id };
  await (kind === 'approval'
    ? link.request('approval.respond', { session_id: runtimeId, choice: answer, ...named }, 15_000)
    : link.request('clarify.respond', { session_id: runtimeId, answer, ...named }, 15_000));
}
