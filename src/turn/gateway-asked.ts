import type { Link } from './gateway-link.ts';
import { answerQuestion, questionOfRequest, type GatewayQuestion } from './gateway-questions.ts';
import type { State } from './gateway-state.ts';
import { isObject, listOf, objectOf, textOf, type Json } from './json.ts';

/** What only the window that shows the session can answer; every other one declines (contract of 0.22.2, client.capabilities). */
const windowOwned = new Set(['preview.read', 'preview.act', 'terminal.read', 'window.read', 'tour']);

/**
 * A request of the engine, once for each socket. What is no question of ours is refused in a session that was made here. In a joined one it
 * is another client's: a refusal would settle it for both, so it is left alone, or declined where the engine counts that.
 */
export function takeRequest(state: State, link: Link, id: unknown, method: string, params: Json): void {
  if (state.asked.has(id)) return;
  state.asked.add(id);
  const question = questionOfRequest(id, method, params);
  if (question !== null) return void putQuestion(state, question);
  if (isCreatedHere(state, params['session_id'])) return link.refuse(id, method);
  if (state.countsDeclines && windowOwned.has(method)) link.decline(id);
}

/** The requests that an attach or a replay says are still open: the ones sent while no socket was there come in no other way. */
export function takeOpenRequests(state: State, link: Link, answer: Json): void {
  for (const entry of listOf(answer['open_requests'])) {
    if (!isObject(entry)) continue;
    const method = textOf(entry['method']);
    if (method !== null) takeRequest(state, link, entry['id'], method, objectOf(entry['params']));
  }
}

export async function putQuestion(state: State, question: GatewayQuestion): Promise<void> {
  const { options, answering } = state;
  const key = question.style === 'request' ? question.id : question;
  if (answering.has(key)) return;
  answering.add(key);
  try {
    const answer = (await options.onQuestion?.(question)) ?? null;
    if (answer === null || state.link === null) return;
    // The turn may have ended in between, or the socket; then the question is gone.
    await answerQuestion(state.link, question, answer).catch(() => undefined);
  } catch (error) {
    options.onError?.(error);
  } finally {
    answering.delete(key);
  }
}

function isCreatedHere(state: State, runtimeId: unknown): boolean {
  return [...state.sessions].some((session) => session.runtimeId === runtimeId && state.created.has(session));
}
