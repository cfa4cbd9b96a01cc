import { engineDir } from '../test/support/engines.ts';
import type { Cell, EngineLine } from './cells.ts';
import { labEngines } from './engine-modes.ts';

/** What the tables say of each engine: as its disk tells `doctor`. */
export function engineLines(cells: readonly Cell[]): EngineLine[] {
  return labEngines.flatMap(({ name, version, note }) => {
    const seen = cells.find(
      (cell) => cell.part === 'doctor' && cell.engine === name && cell.column === 'local auto',
    );
    if (seen === undefined) return [];
    const folder = engineDir(version).split('/').at(-1) ?? '';
    return [
      {
        name,
        package: `${folder.slice(0, -version.length - 1)} ${version}`,
        generation: seen.saw['generation'] ?? 'unknown',
        contract: (seen.saw['contract'] ?? 'unknown').replace(/ from .*$/, ''),
        note,
      },
    ];
  });
}
