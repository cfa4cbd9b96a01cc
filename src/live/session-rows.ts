import { ask, type Reply, type Way } from './way.ts';

/** For one request on the way out. */
export const askLimitMs = 3000;

const path = (id: string): string => `/api/sessions/${encodeURIComponent(id)}`;
const timeoutMs = askLimitMs;

/** How a server shows and deletes sessions. */
export interface Rows {
  has(id: string): Promise<boolean>;
  /** The session, and behind it what compaction made of it, newest last. */
  chain(id: string): Promise<readonly string[]>;
  remove(id: string): Promise<unknown>;
}

export function dashboardRows(way: Way): Rows {
  return {
    async has(id) {
      const { status } = await ask(way, 'GET', `${path(id)}/messages`, { timeoutMs });
      return status !== 404;
    },
    async chain(id) {
      const { status, json } = await ask(way, 'GET', `${path(id)}/latest-descendant`, { timeoutMs });
      const ids = status === 200 ? (json as { path?: unknown } | null)?.path : null;
      // Ids are also found by their beginning: what does not begin with ours is another's.
      if (!Array.isArray(ids) || ids[0] !== id) return [id];
      return ids.filter((each) => typeof each === 'string');
    },
    remove: (id) => ask(way, 'DELETE', path(id), { timeoutMs }),
  };
}

export function apiServerRows(way: Way): Rows {
  const read = (id: string): Promise<Reply> => ask(way, 'GET', `${path(id)}/messages`, { timeoutMs });
  return {
    has: async (id) => (await read(id)).status !== 404,
    async chain(id) {
      const tip = ((await read(id)).json as { session_id?: unknown } | null | undefined)?.session_id;
      return typeof tip === 'string' && tip !== id ? [id, tip] : [id];
    },
    remove: (id) => ask(way, 'DELETE', path(id), { timeoutMs }),
  };
}
