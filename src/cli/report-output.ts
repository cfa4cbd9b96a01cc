import type { Report, Reports } from '../judge/schema.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Io } from './io.ts';
import { wantsColor } from './io.ts';
import { emit } from './output.ts';
import type { RawOptions } from './request.ts';

export const reportFormats = ['human', 'json', 'ndjson', 'junit', 'github', 'html'] as const;
export type ReportFormat = (typeof reportFormats)[number];

/** Prints finished reports in the wanted format; `--quiet` prints nothing when nothing is wrong. */
export async function emitReports(
  io: Io,
  options: RawOptions,
  reports: readonly Report[],
  how: { format: ReportFormat; code: ExitCode; durationMs: number; many?: boolean; extra?: Partial<Reports> },
): Promise<void> {
  if (options['quiet'] === true && how.code === 0 && typeof options['output'] !== 'string') return;
  const { render } = await import('../report/render.ts');
  const text = await render(reports, {
    format: how.format,
    color:
      typeof options['output'] === 'string' ? false : wantsColor(io, options['color'] as boolean | undefined),
    verbose: options['verbose'] === true,
    width: 80,
    exitCode: how.code,
    durationMs: how.durationMs,
    many: how.many ?? reports.length !== 1,
    extra: how.extra ?? {},
  });
  await emit(io, options, text);
}
