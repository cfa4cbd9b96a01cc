import { randomBytes } from 'node:crypto';
import type { Player } from '../play/player.ts';
import { since } from '../release/since.ts';
import type { Session, World } from '../world.ts';

/** The connections of an engine, and which of them gets the events of a session. */

export interface Connection {
  send: (frame: unknown) => void;
  /** Ends it without a close frame, as a lost network does. */
  cut: () => void;
  /** It said that it answers requests of the server. */
  answersRequests: boolean;
  /** Requests of the server that wait for an answer of this client, by id. */
  waiting: Map<string, (result: unknown) => void>;
}

interface EventParams {
  type: string;
  session_id: string;
  payload?: unknown;
  seq?: number;
}

export interface Hub {
  world: World;
  connections: Set<Connection>;
  /** By runtime id; before events were numbered only the last one gets them. */
  attached: Map<string, Connection[]>;
  /** Plays a recording, where one was given. */
  player: Player | null;
  /** Numbered events of each runtime session, at most 512. */
  rings: Map<string, EventParams[]>;
}

const ringSize = 512;

export const createHub = (world: World): Hub => ({
  world,
  connections: new Set(),
  attached: new Map(),
  player: null,
  rings: new Map(),
});

export const attach = (hub: Hub, session: Session, connection: Connection): void => {
  const others = (hub.attached.get(session.id) ?? []).filter((other) => other !== connection);
  hub.attached.set(session.id, [...others, connection]);
};

export const detach = (hub: Hub, connection: Connection): void => {
  hub.connections.delete(connection);
  for (const [id, list] of hub.attached)
    hub.attached.set(
      id,
      list.filter((other) => other !== connection),
    );
};

/** Connections that get the events of this session now. */
export const receivers = (hub: Hub, sessionId: string): Connection[] => {
  const list = hub.attached.get(sessionId) ?? [];
  return hub.world.release.numbered ? list : list.slice(-1);
};

/** Sends one event of a session, numbered where the release does that. */
export const emit = (hub: Hub, session: Session, type: string, payload?: unknown): void => {
  const params: EventParams = { type, session_id: session.id, ...(payload !== undefined && { payload }) };
  if (hub.world.release.numbered) {
    const ring = hub.rings.get(session.id) ?? [];
    params.seq = (ring.at(-1)?.seq ?? 0) + 1;
    hub.rings.set(session.id, [...ring, params].slice(-ringSize));
  }
  for (const connection of receivers(hub, session.id))
    connection.send({ jsonrpc: '2.0', method: 'event', params });
};

/** Tells every client that the list of sessions changed, in releases that do. */
export const announceChange = (hub: Hub): void => {
  if (!since(hub.world.release, '0.20.0')) return;
  const params = { type: 'sessions.changed', session_id: '', payload: {} };
  for (const connection of hub.connections) connection.send({ jsonrpc: '2.0', method: 'event', params });
};

const two = (value: number): string => String(value).padStart(2, '0');

/** A new stored id; it carries the time, as the engine's do. */
export const newStoredId = (now: Date): string => {
  const day = `${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}`;
  const time = `${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`;
  return `${day}_${time}_${randomBytes(3).toString('hex')}`;
};

export const openSession = (hub: Hub, of: Partial<Session> = {}): Session => {
  const now = new Date();
  const session: Session = {
    id: randomBytes(4).toString('hex'),
    stored: newStoredId(now),
    rows: [],
    title: '',
    startedAt: now.getTime(),
    lastActive: now.getTime(),
    open: true,
    turn: null,
    model: null,
    files: [],
    images: [],
    compressions: 0,
    question: null,
    ...of,
  };
  hub.world.sessions.push(session);
  return session;
};

export const findOpen = (hub: Hub, id: unknown): Session | undefined =>
  hub.world.sessions.find((session) => session.open && session.id === id);
