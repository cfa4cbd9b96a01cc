import type { Report, Reports } from '../judge/schema.ts';
import { type Format, formats } from '../report/render.ts';
import { coloured, plain } from '../report/style.ts';
import { summaryOf } from '../report/summary.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Io } from './io.ts';
import { wantsColor } from './io.ts';
import { appendJobSummary } from './job-summary.ts';
import { emit } from './output.ts';
import type { RawOptions } from './request.ts';

export const reportFormats = formats;

/** Prints finished reports in the wanted format; `--quiet` prints nothing when nothing is wrong. */
export async function emitReports(
  io: Io,
  options: RawOptions,
  reports: readonly Report[],
  how: { format: Format; code: ExitCode; durationMs: number; many?: boolean; extra?: Partial<Reports> },
): Promise<void> {
  if (options['quiet'] === true && how.code === 0 && typeof options['output'] !== 'string') return;
  const { render } = await import('../report/render.ts');
  const [first] = reports;
  const document =
    first !== undefined && how.many !== true && reports.length === 1
      ? first
      : { ...summaryOf(reports, how.code, how.durationMs), ...how.extra };
  const color =
    typeof options['output'] !== 'string' && wantsColor(io, options['color'] as boolean | undefined);
  const text = await render(document, how.format, {
    style: color ? coloured : plain,
    verbose: options['verbose'] === true,
  });
  await emit(io, options, text);
  if (how.format === 'github') await appendJobSummary(io, document);
}
