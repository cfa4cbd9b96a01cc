import { expect, type Pending } from './connections.ts';
import { createSession, type InterruptMark, type Session } from './core.ts';
import { filledText, listOf, objectOf, textOf, type Json } from './json.ts';
import { questionKind, questionOf } from './questions.ts';
import { openRewind, take } from './rewind.ts';
import type { Place, Router } from './router.ts';
import { idOf, promptOf } from './wire.ts';

interface Request {
  id: string | null;
  method: string;
  params: Json;
}

const attaching = new Set(['session.resume', 'session.activate', 'session.branch']);

/** What the client asks of the engine. */
export function onRequest(router: Router, place: Place, request: Request): void {
  const { method, params } = request;
  const sessionId = filledText(params['session_id']);
  const session = sessionId === null ? undefined : router.sessions.get(sessionId);
  if (method === 'prompt.submit')
    return sessionId === null ? undefined : submit(router, place, request, sessionId);
  if (method.endsWith('.respond')) return respond(router, place, method, params);
  if (method === 'session.interrupt')
    return session === undefined ? undefined : interrupt(router, place, request, session);
  const pending = pendingOf(method, sessionId, place.order);
  if (pending !== null && request.id !== null) expect(place.connection, request.id, pending);
}

function pendingOf(method: string, sessionId: string | null, order: number): Pending | null {
  if (method === 'session.create') return { kind: 'create' };
  if (sessionId === null) return null;
  if (attaching.has(method)) return { kind: 'attach', target: sessionId, order };
  if (method === 'session.events.since') return { kind: 'since', session: sessionId, order };
  if (method === 'session.title') return { kind: 'title', session: sessionId };
  return method === 'session.compress' ? { kind: 'compress', session: sessionId } : null;
}

/** A turn exists from here on; the frame that begins it may come before the answer, or never. */
function submit(router: Router, place: Place, request: Request, sessionId: string): void {
  const { at, order } = place;
  const known = router.sessions.get(sessionId);
  const session = known ?? createSession(sessionId, place.conn);
  if (known === undefined) router.sessions.set(sessionId, session);
  const prompt = promptOf(request.params['text']);
  const fields = { session: sessionId, origin: 'user' as const, prompt, answer: null, rowId: null, order };
  const slot = router.world.slots.add(fields, at);
  session.hadTurn = true;
  if (request.id !== null) openRewind(session, order).submits.add(slot);
  take(session, { kind: 'send', slot, at, order }, router.world);
  if (request.id === null) return;
  const alone = session.core.current === slot;
  expect(place.connection, request.id, { kind: 'submit', slot, session, alone });
}

function interrupt(router: Router, place: Place, request: Request, session: Session): void {
  const { at, order } = place;
  const mark: InterruptMark = { target: null };
  take(session, { kind: 'interrupt', mark, at, order }, router.world);
  if (request.id !== null) expect(place.connection, request.id, { kind: 'interrupt', mark, session });
}

/** Answers to questions of engines that ask by events: `approval.respond`, `clarify.respond`, … */
function respond(router: Router, place: Place, method: string, params: Json): void {
  const { at, order } = place;
  const id = filledText(params['request_id']);
  const session = router.sessions.get(textOf(params['session_id']) ?? '') ?? askedIn(router, id);
  if (session === undefined) return;
  const what = method.slice(0, -'.respond'.length);
  take(session, { kind: 'reply', id, what, denied: params['choice'] === 'deny', at, order }, router.world);
}

function askedIn(router: Router, id: string | null): Session | undefined {
  if (id === null) return undefined;
  return [...router.sessions.values()].find((s) => s.core.current?.state.questions.some((q) => q.id === id));
}

/** The client's answer to a request of the engine. */
export function onReply(router: Router, place: Place, id: unknown, result: unknown): void {
  const { at, order } = place;
  const asked = idOf(id);
  const session = router.sessions.get(asked === null ? '' : (router.asked.get(asked) ?? ''));
  if (session === undefined || asked === null) return;
  router.asked.delete(asked);
  router.answered.set(asked, { conn: place.conn, order });
  const denied = objectOf(result)['choice'] === 'deny';
  take(session, { kind: 'reply', id: String(id), what: '', denied, at, order }, router.world);
}

interface ServerRequest {
  id: unknown;
  method: string;
  params: Json;
}

/** Engines that ask by requests: the turn waits until the client answers. */
export function onServerRequest(router: Router, place: Place, { id, method, params }: ServerRequest): void {
  const session = router.sessions.get(textOf(params['session_id']) ?? '');
  const kind = questionKind(method);
  const key = idOf(id);
  if (session === undefined || kind === null || key === null || router.asked.has(key)) return;
  router.asked.set(key, session.id);
  const question = questionOf(kind, String(id), params);
  take(session, { kind: 'question', question, at: place.at, order: place.order }, router.world);
}

/**
 * The requests that an answer of the engine calls open, as if they came now. One that was answered here is open again only when its answer
 * got lost with an earlier socket: given before the request at place `requested`, on another one.
 */
export function onOpenRequests(router: Router, place: Place, requested: number, result: Json): void {
  for (const entry of listOf(result['open_requests'])) {
    const { id, method, params } = objectOf(entry);
    const answered = router.answered.get(idOf(id) ?? '');
    const isAnswered = answered !== undefined && (answered.conn === place.conn || answered.order > requested);
    if (typeof method === 'string' && !isAnswered)
      onServerRequest(router, place, { id, method, params: objectOf(params) });
  }
}
