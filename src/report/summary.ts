import type { Report, Reports } from '../judge/schema.ts';
import { documentHead } from '../tool.ts';

/** Several reports as one document, with counts by verdict. */
export function summaryOf(reports: readonly Report[], exitCode: number, durationMs: number): Reports {
  const count = (verdict: Report['verdict']): number =>
    reports.filter((report) => report.verdict === verdict).length;
  return {
    ...documentHead('reports'),
    reports: [...reports],
    summary: {
      total: reports.length,
      compatible: count('compatible'),
      'needs-remedy': count('needs-remedy'),
      incompatible: count('incompatible'),
      unknown: count('unknown'),
      exitCode,
      durationMs,
    },
  };
}
