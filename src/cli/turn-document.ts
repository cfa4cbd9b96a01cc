import type { TurnsDocument } from '../live/schema.ts';
import type { ScenarioResult } from '../live/suite.ts';
import type { Target } from '../target/types.ts';
import { documentHead } from '../tool.ts';

/** What a run of scenarios came to, before it is judged. */
export type TurnsParts = Pick<TurnsDocument, 'suite' | 'transport' | 'notes'> & {
  target: Target;
  url: string | null;
  version: string | null;
  results: readonly ScenarioResult[];
};

/** `aborted`: the user ended it. Nothing that was run is not a success. */
export async function turnsDocument(parts: TurnsParts, aborted: boolean): Promise<TurnsDocument> {
  const { findingsOf } = await import('../live/judge.ts');
  const { target, results, url } = parts;
  const failed = results.some(({ status }) => status === 'fail');
  const ran = results.filter(({ status }) => status !== 'skip');
  const broken = ran.length === 0 || ran.some(({ status }) => status === 'error');
  return {
    ...documentHead('turns'),
    target: { kind: target.kind, name: target.name, url },
    suite: parts.suite,
    transport: parts.transport,
    engine: { version: parts.version },
    scenarios: [...results],
    findings: findingsOf(results),
    notes: parts.notes,
    exitCode: aborted ? 130 : failed ? 1 : broken ? 3 : 0,
  };
}
