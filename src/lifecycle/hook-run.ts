import type { Located } from '../engine/locate.ts';
import type { EngineProcess } from '../engine/schema.ts';
import type { Whoami } from '../host/holder.ts';
import type { Host } from '../host/types.ts';
import type { Session } from '../patch/change.ts';
import { fingerprint, isSame, readSeen, watchedBy } from './fingerprint.ts';
import type { Settled } from './settle.ts';

/** What a run of the hook needs. Nothing is asked of a person. */
export interface HookRun {
  host: Host;
  root: string;
  /** Asked for only when there is work. */
  who(): Promise<Whoami>;
  signal: AbortSignal;
  now(): string;
  /** Looks at one install and home of the marker. */
  open(place: { install: string | null; home: string }): Promise<{ session: Session; located: Located }>;
  /** Milliseconds to wait for a live update. */
  patienceMs: number;
}

export interface HookResult {
  /** `nothing-recorded` · `unchanged` · `busy`: another run works on it · `updating`: the update did not end in time · `checked` */
  outcome: 'nothing-recorded' | 'unchanged' | 'busy' | 'updating' | 'checked';
  patches: Settled['patches'];
  /** Running dashboards that are older than what was written. They are told, never ended. */
  restart: EngineProcess[];
  changed: string[];
}

export const result = (outcome: HookResult['outcome'], over: Partial<HookResult> = {}): HookResult => ({
  outcome,
  patches: [],
  restart: [],
  changed: [],
  ...over,
});

/**
 * Brings back what the marker records, when something has changed since the last look. Unchanged costs one look at files and
 * the process table, writes nothing and uses no network. Of several at once, one works and the others leave.
 */
export async function runHook(run: HookRun): Promise<HookResult> {
  const { host, root } = run;
  const watched = await watchedBy(host, root);
  if (watched === null) return result('nothing-recorded');
  const [now, seen] = await Promise.all([fingerprint(host, watched), readSeen(host, root)]);
  if (seen !== null && isSame(now, seen)) return result('unchanged');
  const { workAlone } = await import('./hook-work.ts');
  return workAlone(run, watched);
}
