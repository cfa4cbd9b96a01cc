import type { Located } from '../../engine/locate.ts';
import type { Install } from '../../engine/schema.ts';
import { CompatError } from '../../errors.ts';
import type { Host } from '../../host/types.ts';
import type { Report } from '../../judge/schema.ts';
import type { Session } from '../../patch/change.ts';
import type { UpdateState, UpdateStep } from './state.ts';

/** One install with one home, looked at anew. */
export interface Place {
  session: Session;
  located: Located;
}

/** What an update runs with. */
export interface UpdateRun {
  host: Host;
  signal: AbortSignal;
  now(): string;
  /** Looks again: what was true before an update need not be true after. */
  open(at: { install: string; home: string } | null): Promise<Place>;
  /** argv that goes on with this update after a cut. */
  again: readonly string[];
  /** Words behind `--`. */
  engineArgs: readonly string[];
  /** The engine's environment on this machine; nothing over ssh. */
  env: Record<string, string>;
  say(line: string): void;
  output(bytes: Buffer): void;
  /** Shows what would happen and asks. False: nothing is done. */
  consent(state: UpdateState): Promise<boolean>;
  /** Probes the dashboard of the home, or one that is started for it; null where that is left out (tests of the file work). */
  examine: (() => Promise<Report>) | null;
  /** Called when a step is written down: where tests cut. */
  reached?(step: UpdateStep | 'begun' | 'ended'): Promise<void>;
}

/** @throws CompatError unchecked */
export function installOf({ session }: Place): Install {
  const { install } = session.scene;
  if (install === null)
    throw new CompatError('unchecked', 'no Hermes install was found to update', {
      finding: 'INSTALL_NOT_FOUND',
    });
  return install;
}
