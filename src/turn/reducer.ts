import { createConnection, hold, isAttaching, isSubmitting, type Connection } from './connections.ts';
import type { EventInput, Session, World } from './core.ts';
import { isForeground } from './events.ts';
import { isObject, numberOf, textOf, type Json } from './json.ts';
import { takeNumbered } from './numbers.ts';
import { onReply, onRequest, onServerRequest } from './requests.ts';
import { onResponse } from './responses.ts';
import { take } from './rewind.ts';
import type { Place, Router } from './router.ts';
import { createSlotList, type Slot } from './slots.ts';
import { squeeze } from './text.ts';
import type { Timeline, Turn } from './types.ts';
import { createView } from './view.ts';
import { eventOf, wireOf } from './wire.ts';

export interface ReducerOptions {
  /** Tool arguments and results longer than this many characters are kept as the beginning of their text. Default: no limit. */
  valueLimit?: number;
  /** Take a completed text that is nothing but a provider's failure for an error. Default: no, because text proves nothing. */
  detectCompletionErrors?: boolean;
}

/**
 * Turns frames into turns. `push` takes one line of a recording (`LogRecord`), or anything else, and never throws. The views are plain data
 * that never changes afterwards; turns that did not change are the same objects.
 */
export interface Reducer {
  push(record: unknown): void;
  /** The turns now; what is open has no outcome yet. */
  snapshot(): Timeline;
  /** The turns as if the recording ended here. Reading may go on. */
  finish(): Timeline;
  /** Takes out the first turns, as far as they are settled and nothing can change them any more. */
  drain(): Turn[];
  /** Every stored id that a runtime session was seen with so far; it may be told after its turns. */
  storedIds(session: string): readonly string[];
}

export function createReducer(options: ReducerOptions = {}): Reducer {
  const router = createRouter(options);
  const { slots } = router.world;
  const view = createView();
  const sessionOf = (slot: Slot) => router.sessions.get(slot.session) ?? null;
  const indexOf = (place: number) => slots.dropped() + place;
  return {
    push(record) {
      router.order += 1;
      if (isObject(record)) read(router, record);
    },
    snapshot: () => ({
      turns: slots
        .all()
        .map((slot, i) => view.turn(slot, indexOf(i), sessionOf(slot), isRestoring(router, slot))),
    }),
    finish: () => ({ turns: slots.all().map((slot, i) => view.ended(slot, indexOf(i), sessionOf(slot))) }),
    drain() {
      const turns: Turn[] = [];
      const before = firstDoubt(router);
      for (let slot = slots.all()[0]; slot !== undefined && isFinal(slot, before); slot = slots.all()[0]) {
        turns.push(view.turn(slot, slots.dropped(), sessionOf(slot), false));
        router.world.forget(slot, sessionOf(slot));
        slots.drop();
      }
      return turns;
    },
    storedIds: (session) => [...(router.sessions.get(session)?.stored ?? [])],
  };
}

/** The turns of a whole recording. */
export function reduce(records: Iterable<unknown>, options: ReducerOptions = {}): Timeline {
  const reducer = createReducer(options);
  for (const record of records) reducer.push(record);
  return reducer.finish();
}

function createRouter(options: ReducerOptions): Router {
  const slots = createSlotList();
  const forgotten = new Map<string, number>();
  const key = (slot: Slot, session: Session | null) =>
    `${session?.stored[0] ?? slot.session} ${squeeze(slot.prompt ?? '')}`;
  const world: World = {
    slots,
    options: {
      valueLimit: options.valueLimit ?? Infinity,
      detectCompletionErrors: options.detectCompletionErrors ?? false,
    },
    earlier(slot, session) {
      const wanted = key(slot, session);
      const here = slots
        .all()
        .filter((other) => other !== slot && other.order < slot.order && other.origin === slot.origin);
      const listed = here.filter(
        (other) => key(other, router.sessions.get(other.session) ?? null) === wanted,
      ).length;
      return listed + (forgotten.get(wanted) ?? 0);
    },
    forget(slot, session) {
      const name = key(slot, session);
      if (slot.origin === 'user') forgotten.set(name, (forgotten.get(name) ?? 0) + 1);
    },
  };
  const router: Router = {
    world,
    sessions: new Map(),
    connections: new Map(),
    asked: new Map(),
    answered: new Map(),
    order: 0,
  };
  return router;
}

function read(router: Router, record: Json): void {
  const { dir, frame } = record;
  if (!isObject(frame) || (dir !== 'in' && dir !== 'out')) return;
  const conn = textOf(record['conn']) ?? '';
  const place = {
    conn,
    connection: connectionOf(router, conn),
    at: numberOf(record['t']),
    order: router.order,
  };
  if (dir === 'out') sent(router, place, frame);
  else if (frame['method'] === 'event') onEvent(router, place, frame['params']);
  else received(router, place, frame);
}

function connectionOf(router: Router, conn: string): Connection {
  let connection = router.connections.get(conn);
  if (connection === undefined) {
    connection = createConnection();
    router.connections.set(conn, connection);
  }
  return connection;
}

function sent(router: Router, place: Place, frame: Json): void {
  const wire = wireOf(frame);
  if (wire?.kind === 'request') onRequest(router, place, wire);
  else if (wire?.kind === 'response') onReply(router, place, frame['id'], wire.result);
}

function received(router: Router, place: Place, frame: Json): void {
  const wire = wireOf(frame);
  if (wire === null) return;
  switch (wire.kind) {
    case 'response': {
      const pending = place.connection.pending.get(wire.id);
      if (pending === undefined) return;
      place.connection.pending.delete(wire.id);
      return onResponse(router, place, pending, wire);
    }
    case 'request':
      return onServerRequest(router, place, { id: frame['id'], method: wire.method, params: wire.params });
    default:
      wire satisfies never;
  }
}

function onEvent(router: Router, place: Place, params: unknown): void {
  if (!isObject(params)) return;
  const input = eventOf(params, place.at, place.order);
  if (input === null) return;
  const id = params['session_id'];
  if (typeof id !== 'string' || id === '') return onUnscoped(router, place, input);
  const session = router.sessions.get(id);
  const { connection } = place;
  if (session === undefined) return hold(connection, id, input);
  if (input.seq !== null) {
    if (session.owner !== place.conn && isAttaching(connection, session)) return hold(connection, id, input);
    return takeNumbered(session, input, input.seq, router.world);
  }
  if (session.owner === place.conn || isSubmitting(connection, session))
    return take(session, input, router.world);
  hold(connection, id, input);
}

/** A foreground event without a session belongs to the one turn that runs on its socket; any other to nobody. */
function onUnscoped(router: Router, place: Place, input: EventInput): void {
  if (!isForeground(input.type)) return;
  let running: Session | null = null;
  for (const session of router.sessions.values()) {
    if (session.core.current === null || session.owner !== place.conn) continue;
    if (running !== null) return;
    running = session;
  }
  if (running !== null) take(running, { ...input, seq: null }, router.world);
  else hold(place.connection, '', input);
}

function isRestoring(router: Router, slot: Slot): boolean {
  const session = router.sessions.get(slot.session);
  if (session === undefined || slot.state.ending !== null) return false;
  for (const connection of router.connections.values()) if (isAttaching(connection, session)) return true;
  return false;
}

/** Place of the first frame that may still be read anew. */
function firstDoubt(router: Router): number {
  let first = Infinity;
  for (const { rewind } of router.sessions.values())
    if (rewind !== null && rewind.order < first) first = rewind.order;
  return first;
}

function isFinal(slot: Slot, before: number): boolean {
  return slot.state.ending !== null && slot.settledOrder < before && slot.order < before;
}
