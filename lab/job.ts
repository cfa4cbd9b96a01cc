import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CliResult } from '../test/support/cli.ts';
import { runCli } from '../test/support/cli.ts';
import type { Cell, Part } from './cells.ts';

/** What all jobs of a run share. */
export interface Lab {
  /** ssh_config whose alias `lab` is this machine; null where no sshd is installed. */
  ssh: string | null;
}

/** A piece of the matrix that is measured at once: it owns every cell of these parts, this engine and this row. */
export interface Job {
  parts: (Part | 'facts')[];
  engine: string;
  row: string;
  run(lab: Lab): Promise<Cell[]>;
}

export const owns = (job: Job, cell: Omit<Cell, 'saw'>): boolean =>
  job.parts.includes(cell.part) && job.engine === cell.engine && job.row === cell.row;

export const jobName = ({ engine, parts, row }: Job): string => `${engine} ${parts.join(' and ')}: ${row}`;

/** Runs with a folder of its own, which is removed afterwards. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hermes-lab-')));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 8, retryDelay: 250 });
  }
}

/** The built program in a bare environment, with patience for a busy machine. */
export const compat = (
  words: readonly string[],
  folder: string,
  env: Record<string, string> = {},
  timeoutMs = 600_000,
): Promise<CliResult> => runCli(words, { env: { HOME: folder, ...env }, cwd: folder, timeoutMs });

export const overs = ['local', 'http', 'ssh'] as const;
export type Over = (typeof overs)[number];

/** Jobs side by side; the first that fail do not end the others. */
export async function runJobs(
  jobs: readonly Job[],
  lab: Lab,
  parallel: number,
  done: (job: Job, result: { cells: Cell[] } | { error: string }, ms: number) => void,
): Promise<void> {
  const waiting = [...jobs];
  const lane = async (): Promise<void> => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      const began = performance.now();
      const result = await job.run(lab).then(
        (cells) => ({ cells }),
        (error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }),
      );
      done(job, result, performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: parallel }, lane));
}
