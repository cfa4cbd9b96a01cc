import { takeOpenRequests } from './gateway-asked.ts';
import { gatewayFailure, isGatewayFailure } from './gateway-link.ts';
import { noteAttached, noteEvent, sessionOf, type Attached, type GatewaySession } from './gateway-session.ts';
import { call, linkOf, type State } from './gateway-state.ts';
import { isObject, listOf, textOf, type Json } from './json.ts';

export async function create(state: State, params: Json): Promise<GatewaySession> {
  const session = sessionOf(await call(state, 'session.create', { cols: 100, ...params }));
  state.sessions.add(session);
  state.created.add(session);
  // 0.14 tells the stored id only here.
  if (session.storedId === null) {
    const title = await call(state, 'session.title', { session_id: session.runtimeId });
    session.storedId = textOf(title['session_key']);
  }
  return session;
}

export async function resume(state: State, storedId: string, known?: GatewaySession): Promise<Attached> {
  const session = known ?? { runtimeId: '', storedId, running: false, lastSeq: null, ends: 0 };
  return attachBy(state, 'session.resume', { session_id: storedId, cols: 100 }, session);
}

/** The answer is noted where it stands among the frames: an event behind it may already say that the session is idle. */
export async function attachBy(
  state: State,
  method: string,
  params: Json,
  session: GatewaySession,
): Promise<Attached> {
  const { ends } = session;
  const link = linkOf(state, method);
  let attached: Attached | null = null;
  const answer = await link.request(method, params, state.timeoutMs, (result) => {
    state.sessions.add(session);
    attached = noteAttached(session, result, ends);
    takeOpenRequests(state, link, result);
  });
  return attached ?? noteAttached(session, answer, ends);
}

/** After the attach: frames between the two would be in neither the other way round (facts of 0.22). */
export async function eventsSince(state: State, session: GatewaySession): Promise<Json | null> {
  if (session.lastSeq === null) return null;
  const link = linkOf(state, 'session.events.since');
  const params = { session_id: session.runtimeId, last_seen: session.lastSeq };
  const answer = await link
    .request('session.events.since', params, state.timeoutMs, (result) =>
      takeOpenRequests(state, link, result),
    )
    .catch((error: unknown) => {
      if (isGatewayFailure(error) && error.kind === 'refused') return null;
      throw error;
    });
  // An end between the attach answer and the attach itself is only here.
  for (const event of listOf(answer?.['events'])) if (isObject(event)) noteEvent(session, event);
  return answer;
}

/** The last event that was seen before the socket went, and the runtime id that numbered it. */
export type Seen = ReadonlyMap<GatewaySession, { runtimeId: string; lastSeq: number | null }>;

/** Attaches every session again. @throws GatewayFailure, `closed` also when the socket has gone since the last answer */
export async function joinAgain(state: State, seen: Seen): Promise<readonly Attached[]> {
  const attached: Attached[] = [];
  for (const session of state.sessions) {
    if (session.storedId === null) continue;
    attached.push(await resume(state, session.storedId, session));
    const before = seen.get(session);
    if (before?.runtimeId === session.runtimeId && before.lastSeq !== null)
      await sinceSeen(state, session, before.lastSeq);
  }
  if (state.link === null) throw gatewayFailure('closed', 'session.resume', 'the socket closed');
  return attached;
}

/** What came between the attach answer and now may already have moved `lastSeq`. */
async function sinceSeen(state: State, session: GatewaySession, seen: number): Promise<void> {
  const now = session.lastSeq;
  session.lastSeq = seen;
  await eventsSince(state, session);
  session.lastSeq = Math.max(now ?? seen, session.lastSeq ?? seen);
}
