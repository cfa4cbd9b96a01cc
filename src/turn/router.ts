import type { Connection } from './connections.ts';
import type { Session, World } from './core.ts';

/** What the parts of the reducer share while a recording is read. */
export interface Router {
  world: World;
  sessions: Map<string, Session>;
  connections: Map<string, Connection>;
  /** Open requests of the engine to the client: id → runtime session. */
  asked: Map<string, string>;
  /** Socket and place of the client's answer to each. */
  answered: Map<string, { conn: string; order: number }>;
  /** Number of records so far: the place of the one that is read now. */
  order: number;
}

/** Where and when a frame came. */
export interface Place {
  conn: string;
  connection: Connection;
  at: number | null;
  order: number;
}
