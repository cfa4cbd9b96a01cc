import { parseArgs } from 'node:util';
import { parts, type Part } from './cells.ts';
import { labEngines } from './engine-modes.ts';

export const help = `npm run lab                      measure every cell and compare with docs/compatibility.json
npm run lab -- --write           the same, and accept what was seen
npm run lab -- --add PATH        an engine that is not on the ladder: what differs from what is known (lab/known.json)

  --only ENGINE    only this engine (repeatable): ${labEngines.map(({ name }) => name).join(', ')}
  --part PART      only this part (repeatable): ${parts.join(', ')}, facts
  --mode ROW       only this row, e.g. plain, gated, overlay (repeatable)
  --parallel N     jobs at once (default 2)
  --list           the jobs, without running them
  --known FILE     compare --add with this instead of lab/known.json

Exit codes: 0 equal; 1 something differs; 2 usage; 3 something could not be measured
`;

export interface LabOptions {
  only: string[];
  parts: (Part | 'facts')[];
  rows: string[];
  parallel: number;
  write: boolean;
  list: boolean;
  help: boolean;
  add: string | null;
  known: string | null;
}

/** @throws Error with a sentence for people */
export function readOptions(argv: readonly string[]): LabOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      only: { type: 'string', multiple: true, default: [] },
      part: { type: 'string', multiple: true, default: [] },
      mode: { type: 'string', multiple: true, default: [] },
      parallel: { type: 'string', default: '2' },
      write: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      add: { type: 'string' },
      known: { type: 'string' },
    },
  });
  const parallel = Number(values.parallel);
  if (!Number.isInteger(parallel) || parallel < 1 || parallel > 32)
    throw new Error('--parallel is a number from 1 to 32');
  for (const name of values.only)
    if (!labEngines.some((engine) => engine.name === name))
      throw new Error(`no engine "${name}"; there is ${labEngines.map((each) => each.name).join(', ')}`);
  const wanted = values.part.map((word) => {
    const part = ([...parts, 'facts'] as const).find((each) => each === word);
    if (part === undefined) throw new Error(`no part "${word}"; there is ${parts.join(', ')}, facts`);
    return part;
  });
  return {
    only: values.only,
    parts: wanted,
    rows: values.mode,
    parallel,
    write: values.write,
    list: values.list,
    help: values.help,
    add: values.add ?? null,
    known: values.known ?? null,
  };
}
