import { paragraph } from '../report/shown.ts';
import type { SimulationsDocument } from '../simulate/schema.ts';
import { documentHead } from '../tool.ts';
import { type Io, write } from './io.ts';
import { emit } from './output.ts';
import type { RawOptions } from './request.ts';

/** Releases, faults and scripts that there are. */
export async function listSimulations(options: RawOptions, io: Io): Promise<void> {
  const { releases, faults, scenarios } = await import('../simulate/index.ts');
  const document: SimulationsDocument = {
    ...documentHead('simulations'),
    releases: releases.map(({ version, releaseDate, generation, contract, source }) => ({
      version,
      releaseDate,
      generation,
      contract,
      source,
    })),
    faults: faults.map(({ name, says }) => ({ name, says })),
    scenarios: scenarios.map(({ name, says }) => ({ name, says })),
  };
  if (options['json'] === true) return emit(io, {}, `${JSON.stringify(document, null, 2)}\n`);
  const rows = (of: readonly { name: string; says: string }[]): string =>
    of.flatMap(({ name, says }) => paragraph(`${name.padEnd(20)} ${says}`, 2, 23)).join('\n');
  const versions = document.releases.map(({ version, contract, source }) => ({
    name: version,
    says: `contract ${contract ?? 'none'}${source === 'fork' ? ', measured on a fork' : ''}`,
  }));
  return write(
    io.stdout,
    `Releases (--release)\n${rows(versions)}\n\nFaults (--fault)\n${rows(document.faults)}\n\nScripts of turns (SCN:name in a prompt)\n${rows(document.scenarios)}\n`,
  );
}
