import { engineDir } from '../test/support/engines.ts';
import type { EngineLine } from './cells.ts';
import { labEngines } from './engine-modes.ts';
import { readKnown } from './facts-jobs.ts';

/** What the tables say of each engine, by what is known of it. */
export async function engineLines(): Promise<EngineLine[]> {
  const { engines } = await readKnown();
  return labEngines.map(({ name, version, note }) => {
    const known = engines.find((each) => each.version === version);
    const folder = engineDir(version).split('/').at(-1) ?? '';
    return {
      name,
      package: `${folder.slice(0, -version.length - 1)} ${version}`,
      generation: known?.generation ?? 'unknown',
      contract: known === undefined ? 'unknown' : (known.contract.source ?? 'none'),
      note,
    };
  });
}
