import type { EngineProcess } from '../../engine/schema.ts';
import type { Report } from '../../judge/schema.ts';
import type { Settled } from '../settle.ts';
import type { Relaunched } from './relaunch.ts';
import type { EditOutcome } from './restore-edits.ts';
import type { UpdateState, UpdateStep, UpdateVersion } from './state.ts';

/** How an update went. */
export interface UpdateResult {
  state: UpdateState;
  continuedFrom: UpdateStep | null;
  after: UpdateVersion | null;
  /** argv of the engine's own update. */
  command: string[];
  /** File with what the updater said. */
  log: string;
  receipt: { outcome: string; localChanges: string | null } | null;
  edits: EditOutcome[];
  parked: string[];
  settled: Settled;
  dashboards: Relaunched[];
  /** Dashboards with older code that are not ours to end. */
  restart: EngineProcess[];
  /** Pids of the noted processes that run no more. */
  ended: number[];
  report: Report | null;
}

export const emptyResult = (
  state: UpdateState,
  continuedFrom: UpdateStep | null,
  command: string[],
  log: string,
): UpdateResult => ({
  state,
  continuedFrom,
  after: null,
  command,
  log,
  receipt: null,
  edits: [],
  parked: [],
  settled: { patches: [], plans: [] },
  dashboards: [],
  restart: [],
  ended: [],
  report: null,
});
