import { requireEngines } from '../test/support/engines.ts';
import { type Cell, differences } from './cells.ts';
import { labEngines } from './engine-modes.ts';
import { acceptFacts, addEngine, factsDifferences, factsJobs, readKnown } from './facts-jobs.ts';
import { inFolder, type Job, jobName, owns, runJobs } from './job.ts';
import type { KnownEngine } from './known.ts';
import { help, type LabOptions, readOptions } from './options.ts';
import { matrixJobs } from './matrix-jobs.ts';
import { canRunSshd, startSshServer } from './ssh-server.ts';
import { accept, readMatrix } from './store.ts';

// The matrix of every engine in every mode, measured again and compared cell by cell. See options.ts for the words.

interface Results {
  cells: Cell[];
  measured: Job[];
  facts: KnownEngine[];
}

function jobsOf({ only, parts, rows }: LabOptions, results: Results): Job[] {
  return [...factsJobs((seen) => results.facts.push(seen)), ...matrixJobs()].filter(
    (job) =>
      (only.length === 0 || only.includes(job.engine)) &&
      (parts.length === 0 || job.parts.some((part) => parts.includes(part))) &&
      (rows.length === 0 || rows.includes(job.row)),
  );
}

/** One line for each job that is done; what is left is in its count. */
function progress(total: number): (name: string, ms: number, error: string | null) => void {
  let count = 0;
  return (name, ms, error) => {
    count += 1;
    const line = `${String(count).padStart(3)}/${total} ${name} (${Math.round(ms / 1000)} s)`;
    console.error(error === null ? line : `${line}\n        could not be measured: ${error.slice(0, 2000)}`);
  };
}

async function measure(options: LabOptions): Promise<number> {
  const results: Results = { cells: [], measured: [], facts: [] };
  const jobs = jobsOf(options, results);
  if (options.list) {
    for (const job of jobs) console.log(jobName(job));
    return 0;
  }
  const [committed, known] = await Promise.all([readMatrix(), readKnown()]);
  const failed = await inFolder(async (folder) => {
    const server = canRunSshd ? await startSshServer(folder) : null;
    try {
      return await run(jobs, server?.config ?? null, options, results);
    } finally {
      await server?.stop();
    }
  });
  return tell(options, results, failed, [
    ...results.facts.flatMap((each) => factsDifferences(known, each)),
    ...differences(
      committed.cells.filter((cell) => results.measured.some((job) => owns(job, cell))),
      results.cells,
    ),
  ]);
}

/** What could not be measured is tried once more, alone: a busy machine starts an engine too late. @returns jobs that failed again */
async function run(
  jobs: readonly Job[],
  ssh: string | null,
  options: LabOptions,
  results: Results,
): Promise<number> {
  let saving = Promise.resolve();
  const pass = async (list: readonly Job[], parallel: number): Promise<Job[]> => {
    const failed: Job[] = [];
    const say = progress(list.length);
    await runJobs(list, { ssh }, parallel, (job, result, ms) => {
      say(jobName(job), ms, 'error' in result ? result.error : null);
      if ('error' in result) {
        failed.push(job);
        return;
      }
      results.cells.push(...result.cells);
      results.measured.push(job);
      // After each job, so that a run that is cut loses nothing.
      if (options.write) saving = saving.then(() => save(results));
    });
    await saving;
    return failed;
  };
  const failed = await pass(jobs, options.parallel);
  return failed.length === 0 ? 0 : (await pass(failed, 1)).length;
}

async function save({ measured, cells, facts }: Results): Promise<void> {
  await accept(measured, cells);
  if (facts.length > 0) await acceptFacts(facts, labEngines);
}

function tell(options: LabOptions, results: Results, failed: number, differing: readonly string[]): number {
  for (const line of differing) console.log(line);
  const found =
    differing.length === 0
      ? 'equal'
      : `${differing.length} differences${options.write ? ', accepted' : ' (--write accepts them)'}`;
  const open = failed === 0 ? '' : `; ${failed} jobs could not be measured`;
  console.log(`${results.measured.length} jobs, ${results.cells.length} cells: ${found}${open}`);
  if (failed > 0) return 3;
  return differing.length > 0 && !options.write ? 1 : 0;
}

async function main(argv: readonly string[]): Promise<number> {
  const options = readOptions(argv);
  if (options.help) {
    console.log(help);
    return 0;
  }
  if (options.add !== null) {
    const { lines, exit } = await addEngine(options.add, options.known);
    for (const line of lines) console.log(line);
    return exit;
  }
  if (!options.list && !(await requireEngines(...new Set(labEngines.map(({ version }) => version)))))
    throw new Error(
      'the engines could not be installed: Python 3.11 to 3.13 and the package registry are needed',
    );
  return measure(options);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 2;
}
