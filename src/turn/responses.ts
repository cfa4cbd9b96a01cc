import { attachAnswerOf } from './attach.ts';
import { release, type Pending } from './connections.ts';
import { addStored, createSession, type EventInput, type Session } from './core.ts';
import { filledText, isObject, listOf, numberOf, objectOf, textOf, type Json } from './json.ts';
import { takeNumbered, takeReplay } from './numbers.ts';
import { onOpenRequests } from './requests.ts';
import { closeRewind, openRewind, rerun, take } from './rewind.ts';
import type { Place, Router } from './router.ts';
import type { SubmitAnswer } from './slots.ts';
import { eventOf } from './wire.ts';

/** The engine's answer to a request of the client. */
export function onResponse(
  router: Router,
  place: Place,
  pending: Pending,
  response: { result: unknown; error: unknown },
): void {
  const refused = response.error !== undefined && response.error !== null;
  const result = objectOf(response.result);
  const { at, order } = place;
  switch (pending.kind) {
    case 'create':
    case 'attach':
      if (refused) return void release(place.connection, null);
      attached(router, place, pending, result);
      if (pending.kind === 'attach') onOpenRequests(router, place, pending.order, result);
      return;
    case 'submit':
      if (refused) return refusedSubmit(router, place, pending, response.error);
      return submitted(router, place, pending, answerWord(result), result);
    case 'interrupt':
      if (refused) return;
      return take(
        pending.session,
        { kind: 'interrupt-confirmed', mark: pending.mark, at, order },
        router.world,
      );
    case 'since':
      if (refused) return;
      replayed(router, place, pending.session, result);
      return onOpenRequests(router, place, pending.order, result);
    case 'title': {
      const session = router.sessions.get(pending.session);
      if (session !== undefined) addStored(session, filledText(result['session_key']));
      return;
    }
    case 'compress': {
      const session = router.sessions.get(pending.session);
      if (session !== undefined && !refused) take(session, { kind: 'compacted', at, order }, router.world);
      return;
    }
    default:
      pending satisfies never;
  }
}

function answerWord(result: Json): SubmitAnswer {
  const status = result['status'];
  return status === 'queued' || status === 'redirected' ? status : 'streaming';
}

/** The session is ours from here on, and its unnumbered events come through this socket. */
function attached(
  router: Router,
  place: Place,
  pending: Extract<Pending, { kind: 'create' | 'attach' }>,
  result: Json,
): void {
  const id = filledText(result['session_id']);
  if (id === null) return void release(place.connection, null);
  const session = router.sessions.get(id) ?? createSession(id, place.conn);
  router.sessions.set(id, session);
  session.owner = place.conn;
  session.ours = true;
  session.created ||= pending.kind === 'create';
  const ids = ['stored_session_id', 'session_key', 'resumed'].map((key) => filledText(result[key]));
  addStored(session, ...ids);
  const held = release(place.connection, id);
  if (pending.kind === 'attach') {
    if (pending.target !== id) addStored(session, pending.target);
    if (kinOf(router, session).some((other) => other.core.compacted)) session.core.compacted = true;
    attachTo(router, place, pending, session, result, held);
  }
  for (const input of held) {
    if (input.seq === null) take(session, input, router.world);
    else takeNumbered(session, input, input.seq, router.world);
  }
}

function attachTo(
  router: Router,
  place: Place,
  pending: Extract<Pending, { kind: 'attach' }>,
  session: Session,
  result: Json,
  held: readonly EventInput[],
): void {
  const { at, order } = place;
  const following = held
    .filter((input) => input.type === 'message.delta' && isNew(input, session, held))
    .map((input) => textOf(input.payload['text']) ?? '');
  const answer = attachAnswerOf(result);
  const kin = kinOf(router, session);
  const joins = ![session, ...kin].some((one) => one.hadTurn);
  const input = { kind: 'attach' as const, answer, following, requested: pending.order, joins, at, order };
  if (joins && answer.running === true) session.hadTurn = true;
  // Between the last number and now events may have been missed; a replay can still bring them.
  if (session.lastSeq !== null) openRewind(session, order).gap = true;
  take(session, input, router.world);
  if (answer.running === true) return;
  for (const other of kin) {
    if (other.core.current !== null) take(other, input, router.world);
  }
}

/** A numbered event counts once, also among those that were held. */
function isNew(input: EventInput, session: Session, held: readonly EventInput[]): boolean {
  if (input.seq === null) return true;
  return input.seq > (session.lastSeq ?? -1) && held.find((other) => other.seq === input.seq) === input;
}

/** Other runtime sessions of the same conversation. */
function kinOf(router: Router, session: Session): Session[] {
  const others = [...router.sessions.values()].filter((other) => other !== session);
  return others.filter((other) => other.stored.some((id) => session.stored.includes(id)));
}

function submitted(
  router: Router,
  place: Place,
  pending: Extract<Pending, { kind: 'submit' }>,
  answer: SubmitAnswer,
  result: Json,
): void {
  const { slot, session } = pending;
  slot.answer = answer;
  slot.rowId = numberOf(result['user_row_id']);
  if (answer !== 'refused') {
    session.owner = place.conn;
    session.ours = true;
  }
  const input = { kind: 'answer' as const, slot, at: place.at, order: place.order };
  const { rewind } = session;
  rewind?.submits.delete(slot);
  if (rewind === null || (answer === 'streaming' && pending.alone) || !hasEventsSince(rewind.entries, slot)) {
    take(session, input, router.world);
  } else {
    rewind.entries.push(input);
    rerun(session, router.world);
  }
  closeRewind(session);
}

/** `session not found`; every later refusal comes after the engine has turned the stream to the socket that asked (0.16 to 0.19). */
const notFound = 4001;

function refusedSubmit(
  router: Router,
  place: Place,
  pending: Extract<Pending, { kind: 'submit' }>,
  error: unknown,
): void {
  const { session } = pending;
  submitted(router, place, pending, 'refused', {});
  const code = numberOf(objectOf(error)['code']) ?? 0;
  if (!session.ours) router.sessions.delete(session.id);
  else if (code > notFound) session.owner = place.conn;
}

function hasEventsSince(entries: readonly { kind: string; slot?: unknown }[], slot: unknown): boolean {
  const sent = entries.findIndex((entry) => entry.kind === 'send' && entry.slot === slot);
  return entries.slice(sent + 1).some((entry) => entry.kind === 'event');
}

function replayed(router: Router, place: Place, sessionId: string, result: Json): void {
  const session = router.sessions.get(sessionId);
  if (session === undefined) return;
  const events = listOf(result['events'])
    .filter(isObject)
    .map((params) => eventOf(params, place.at, place.order))
    .filter((event) => event !== null);
  const numbered = events.flatMap((event) => (event.seq === null ? [] : [{ ...event, seq: event.seq }]));
  const truncated = result['truncated'] === true;
  takeReplay(session, { events: numbered, truncated, at: place.at, order: place.order }, router.world);
  if (session.lastSeq !== null) return;
  for (const event of events) take(session, event, router.world);
}
