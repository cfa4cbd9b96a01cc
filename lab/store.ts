import { readFile, writeFile } from 'node:fs/promises';
import { type Cell, type Matrix, matrixText } from './cells.ts';
import { engineLines } from './engine-lines.ts';
import { type Job, jobName, owns } from './job.ts';
import { matrixJobs } from './matrix-jobs.ts';
import { html } from './render-html.ts';
import { markdown } from './render-markdown.ts';

const docs = new URL('../docs/', import.meta.url);

/** The files that are made from the matrix, and their text. */
export const rendered = (matrix: Matrix): Record<string, string> => ({
  'compatibility.md': markdown(matrix),
  'compatibility.html': html(matrix),
});

export async function readMatrix(): Promise<Matrix> {
  const empty: Matrix = {
    kind: 'compatibility',
    schemaVersion: '1.0',
    engines: [],
    notMeasured: [],
    cells: [],
  };
  const text = await readFile(new URL('compatibility.json', docs), 'utf8').catch(() => null);
  return text === null ? empty : (JSON.parse(text) as Matrix);
}

/** Takes the cells of these jobs in the place of the committed ones; what belongs to no job any more goes. */
export async function accept(jobs: readonly Job[], seen: readonly Cell[]): Promise<void> {
  const before = await readMatrix();
  const kept = before.cells.filter((cell) => !jobs.some((job) => owns(job, cell)));
  const known = matrixJobs();
  const all = [...kept, ...seen].filter((cell) => known.some((job) => owns(job, cell)));
  const engines = await engineLines();
  const matrix: Matrix = {
    ...before,
    engines,
    notMeasured: notMeasured(all),
    cells: known.flatMap((job) => all.filter((cell) => owns(job, cell))),
  };
  await writeFile(new URL('compatibility.json', docs), matrixText(matrix));
  for (const [name, text] of Object.entries(rendered(matrix))) await writeFile(new URL(name, docs), text);
}

/** Jobs that have no cell. */
export const notMeasured = (cells: readonly Cell[]): string[] =>
  matrixJobs()
    .filter((job) => !cells.some((cell) => owns(job, cell)))
    .map(jobName);
