import type { Line } from './frames.ts';
import { field } from './json.ts';
import type { SessionListFact } from './schema.ts';

/** What the session list says against what really runs; counts only, because rows hold chats. */

/** A row of `GET /api/sessions` in what matters here. */
export interface ListedRow {
  id: string;
  active: boolean;
  /** Made by a gateway client; rows of other programs can run where this gateway does not see them. */
  ours: boolean;
}

export function listedRows(json: unknown): ListedRow[] | null {
  const rows = field(json, 'sessions');
  if (!Array.isArray(rows)) return null;
  return rows.flatMap((row: unknown) => {
    const id = field(row, 'id');
    if (typeof id !== 'string') return [];
    return [{ id, active: field(row, 'is_active') === true, ours: field(row, 'source') === 'tui' }];
  });
}

/** Stored ids of the sessions that this gateway holds, and whether a turn runs in each; null where it cannot say (before 0.16). Attaches to none. */
export async function liveSessions(line: Line): Promise<Map<string, boolean> | null> {
  const answer = await line.call('session.active_list', {}).catch(() => null);
  const rows = field(field(answer?.json, 'result'), 'sessions');
  if (!Array.isArray(rows)) return null;
  const live = new Map<string, boolean>();
  for (const row of rows as unknown[]) {
    const key = field(row, 'session_key');
    const status = field(row, 'status');
    if (typeof key === 'string') live.set(key, status === 'working' || status === 'waiting');
  }
  return live;
}

export function compareLists(
  rows: readonly ListedRow[] | null,
  live: ReadonlyMap<string, boolean> | null,
): SessionListFact | null {
  if (rows === null || live === null) return null;
  const stale = rows.filter(
    ({ id, active, ours }) => active && live.get(id) !== true && (ours || live.has(id)),
  );
  const missing = rows.filter(({ id, active }) => !active && live.get(id) === true);
  return {
    rows: rows.length,
    running: [...live.values()].filter((running) => running).length,
    stale: stale.length,
    missing: missing.length,
  };
}
