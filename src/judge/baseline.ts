import type { Finding, Report } from './schema.ts';

/** An accepted finding, as `target/baseline.ts` reads it. */
interface Known {
  target: string;
  code: string;
  until: string;
  reason: string;
}

/**
 * Marks the findings that a baseline accepts on this day (`YYYY-MM-DD`). The verdict stays what it is; the exit code becomes 0
 * when nothing else would have decided it.
 */
export function withBaseline(
  report: Report,
  known: readonly Known[],
  today: string,
  failOn: 'error' | 'warn',
): Report {
  const entry = (finding: Finding): Known | undefined =>
    known.find(
      (each) =>
        each.code === finding.code &&
        (each.target === '*' || each.target === report.target.name) &&
        each.until >= today,
    );
  const findings = report.findings.map((finding) => {
    const match = entry(finding);
    return match === undefined
      ? finding
      : { ...finding, known: { until: match.until, reason: match.reason } };
  });
  const counts = (finding: Finding): boolean =>
    finding.severity === 'error' || (failOn === 'warn' && finding.severity === 'warn');
  const deciding = findings.filter(counts);
  const accepted = deciding.length > 0 && deciding.every((finding) => finding.known !== undefined);
  return { ...report, findings, exitCode: accepted ? 0 : report.exitCode };
}

/** Entries that are over, and entries that met no finding: both want a look. */
export function baselineState(
  known: readonly Known[],
  reports: readonly Report[],
  today: string,
): { expired: string[]; unused: string[] } {
  const name = (each: Known): string => `${each.target}: ${each.code} (until ${each.until})`;
  const met = (each: Known): boolean =>
    reports.some(
      (report) =>
        (each.target === '*' || each.target === report.target.name) &&
        report.findings.some((finding) => finding.code === each.code),
    );
  return {
    expired: known.filter((each) => each.until < today).map(name),
    unused: known.filter((each) => each.until >= today && !met(each)).map(name),
  };
}
