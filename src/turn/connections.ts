import type { EventInput, InterruptMark, Session } from './core.ts';
import type { Slot } from './slots.ts';

/** A request of the client whose answer is out. */
export type Pending =
  | { kind: 'create' }
  | { kind: 'attach'; target: string; order: number }
  | { kind: 'submit'; slot: Slot; session: Session; alone: boolean }
  | { kind: 'interrupt'; mark: InterruptMark; session: Session }
  | { kind: 'since'; session: string; order: number }
  | { kind: 'title'; session: string }
  | { kind: 'compress'; session: string };

/** One socket: its open requests, and the events that cannot be judged before an attach is answered. */
export interface Connection {
  pending: Map<string, Pending>;
  held: { session: string; input: EventInput }[];
}

const pendingLimit = 10_000;
const heldLimit = 20_000;

export function createConnection(): Connection {
  return { pending: new Map(), held: [] };
}

/** Requests that are never answered do not pile up: the oldest is forgotten. */
export function expect(connection: Connection, id: string, pending: Pending): void {
  connection.pending.set(id, pending);
  if (connection.pending.size <= pendingLimit) return;
  for (const oldest of connection.pending.keys()) {
    connection.pending.delete(oldest);
    return;
  }
}

export function attachesOf(connection: Connection): Extract<Pending, { kind: 'attach' | 'create' }>[] {
  return [...connection.pending.values()].filter((p) => p.kind === 'attach' || p.kind === 'create');
}

/** True when an open attach of this socket names the session, by its runtime or its stored id. */
export function isAttaching(connection: Connection, session: Session): boolean {
  return attachesOf(connection).some(
    (p) => p.kind === 'attach' && (p.target === session.id || session.stored.includes(p.target)),
  );
}

/** Keeps an event until the open attaches are answered. */
export function hold(connection: Connection, session: string, input: EventInput): void {
  if (attachesOf(connection).length > 0 && connection.held.length < heldLimit)
    connection.held.push({ session, input });
}

/** The events kept for a session and those that named none; without any open attach the others are given up. */
export function release(connection: Connection, session: string | null): EventInput[] {
  const isMine = (held: { session: string }) =>
    session !== null && (held.session === session || held.session === '');
  const mine = connection.held.filter(isMine).map((held) => held.input);
  connection.held = attachesOf(connection).length > 0 ? connection.held.filter((held) => !isMine(held)) : [];
  return mine;
}

/** True when the socket has sent a prompt to the session that is not answered yet. */
export function isSubmitting(connection: Connection, session: Session): boolean {
  for (const p of connection.pending.values()) if (p.kind === 'submit' && p.session === session) return true;
  return false;
}
