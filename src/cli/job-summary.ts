import { appendFile } from 'node:fs/promises';
import type { Report, Reports } from '../judge/schema.ts';
import type { Io } from './io.ts';
import { write } from './io.ts';

/** In a GitHub job, the table for its summary page. A summary that cannot be written is said, and fails nothing. */
export async function appendJobSummary(io: Io, document: Report | Reports): Promise<void> {
  const path = io.env['GITHUB_STEP_SUMMARY'];
  if (path === undefined || path === '') return;
  const { githubSummary } = await import('../report/github.ts');
  try {
    await appendFile(path, githubSummary(document));
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown reason';
    await write(io.stderr, `the job summary could not be written (${reason})\n`);
  }
}
