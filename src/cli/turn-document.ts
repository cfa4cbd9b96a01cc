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

/** `wanted`: how many scenarios should have been run. `aborted`: the user ended it. Nothing that was run is not a success. */
export async function turnsDocument(
  parts: TurnsParts,
  wanted: number,
  aborted: boolean,
): Promise<TurnsDocument> {
  const [{ findingsOf }, { maskKeys }] = await Promise.all([
    import('../live/judge.ts'),
    import('../live/mask-keys.ts'),
  ]);
  const { target, url } = parts;
  const results = parts.results.map((result) => withoutKeys(result, maskKeys));
  const failed = results.some(({ status }) => status === 'fail');
  const ran = results.filter(({ status }) => status !== 'skip');
  const isCut = parts.results.length < wanted;
  const broken = isCut || ran.length === 0 || ran.some(({ status }) => status === 'error');
  return {
    ...documentHead('turns'),
    target: { kind: target.kind, name: target.name, url },
    suite: parts.suite,
    transport: parts.transport,
    engine: { version: parts.version },
    scenarios: results,
    findings: findingsOf(results),
    notes: [...parts.notes.map(maskKeys), ...(isCut ? [notBegun(wanted - results.length)] : [])],
    exitCode: aborted ? 130 : failed ? 1 : broken ? 3 : 0,
  };
}

/** What an engine or a provider said stands in these texts, and some say the key that they refuse. */
function withoutKeys(result: ScenarioResult, mask: (text: string) => string): ScenarioResult {
  const { why, lost } = result;
  return {
    ...result,
    why: why === null ? null : mask(why),
    ...(lost === undefined ? {} : { lost: { ...lost, error: mask(lost.error) } }),
  };
}

const notBegun = (count: number): string => `${count} ${count === 1 ? 'was' : 'were'} not begun`;
