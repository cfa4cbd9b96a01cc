import type { Check, Report, Reports } from '../judge/schema.ts';
import { advice, sentence } from './messages.ts';
import { acceptedText } from './notes.ts';
import { reportsOf } from './render.ts';
import { shellLine } from './shell-line.ts';

/** JUnit XML: a suite for each target, a case for each check. What could not be checked is an error, never a pass. */
export function junit(document: Report | Reports): string {
  const reports = reportsOf(document);
  const notRun = document.kind === 'reports' ? (document.notRun ?? []) : [];
  const suites = [...reports.map(suite), ...notRun.map(missingSuite)];
  const total = (key: 'tests' | 'failures' | 'errors'): number =>
    reports.reduce((sum, report) => sum + counts(report)[key], 0);
  const attributes = `tests="${total('tests') + notRun.length}" failures="${total('failures')}" errors="${total('errors') + notRun.length}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="hermes-compat" ${attributes}>\n${suites.join('')}</testsuites>\n`;
}

/** Characters that XML 1.0 cannot carry even escaped, and those that steer text, are replaced. */
const escaped = (text: string): string =>
  text
    .replaceAll(
      /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff]/g,
      '\ufffd',
    )
    .replaceAll(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');

/** In an attribute, where a parser would make blanks of line ends. */
const xml = (text: string): string =>
  escaped(text).replaceAll(/[\n\t]/g, (mark) => `&#${mark.charCodeAt(0)};`);

const isError = (report: Report, check: Check): boolean =>
  check.status === 'error' || (check.id === 'verdict' && check.status === 'fail' && report.exitCode !== 1);

/** The verdict itself is a case too: a preflight that only sees green checks must not miss an unknown. What a baseline accepts fails nothing. */
const casesOf = (report: Report): Check[] => [
  {
    id: 'verdict',
    status: report.exitCode === 0 ? 'pass' : 'fail',
    reason: `${report.client}: ${report.verdict}`,
    durationMs: report.durationMs,
  },
  ...report.checks.map((check) =>
    check.status === 'fail' && isAccepted(report, check) ? { ...check, status: 'pass' as const } : check,
  ),
];

const isAccepted = (report: Report, { id }: Check): boolean =>
  report.findings.every(
    ({ check, severity, known }) => check !== id || severity !== 'error' || known !== undefined,
  );

function counts(report: Report): { tests: number; failures: number; errors: number; skipped: number } {
  const cases = casesOf(report);
  const errors = cases.filter((each) => isError(report, each)).length;
  return {
    tests: cases.length,
    errors,
    failures: cases.filter((each) => each.status === 'fail' && !isError(report, each)).length,
    skipped: cases.filter((each) => each.status === 'skip').length,
  };
}

function suite(report: Report): string {
  const { tests, failures, errors, skipped } = counts(report);
  const numbers = `tests="${tests}" failures="${failures}" errors="${errors}" skipped="${skipped}"`;
  const cases = casesOf(report).map((check) => testCase(report, check));
  return `  <testsuite name="${xml(report.target.name)}" ${numbers} time="${seconds(report.durationMs)}">\n${cases.join('')}  </testsuite>\n`;
}

/** A target that was not reached before an interruption. */
const missingSuite = (name: string): string =>
  `  <testsuite name="${xml(name)}" tests="1" failures="0" errors="1" skipped="0" time="0.000">\n    <testcase classname="${xml(name)}" name="verdict" time="0.000">\n      <error message="not checked: interrupted" type="not-run"></error>\n    </testcase>\n  </testsuite>\n`;

const seconds = (ms: number): string => (Number.isFinite(ms) ? Math.max(0, ms) / 1000 : 0).toFixed(3);

function testCase(report: Report, check: Check): string {
  const head = `    <testcase classname="${xml(report.target.name)}" name="${xml(check.id)}" time="${seconds(check.durationMs)}"`;
  if (check.status === 'skip')
    return `${head}>\n      <skipped message="${xml(check.reason)}"/>\n    </testcase>\n`;
  const details = detailsOf(report, check);
  if (isError(report, check))
    return `${head}>\n      <error message="${xml(check.reason)}" type="${xml(check.id)}">${escaped(details)}</error>\n    </testcase>\n`;
  if (check.status === 'fail')
    return `${head}>\n      <failure message="${xml(check.reason)}" type="${xml(check.id)}">${escaped(details)}</failure>\n    </testcase>\n`;
  if (details === '') return `${head}/>\n`;
  return `${head}>\n      <system-out>${escaped(details)}</system-out>\n    </testcase>\n`;
}

function detailsOf(report: Report, check: Check): string {
  const findings = report.findings.filter((each) =>
    check.id === 'verdict' ? each.severity === 'error' : each.check === check.id,
  );
  return findings
    .map((finding) => {
      const remedies = report.remedies.filter((each) => finding.fix.includes(each.id));
      const commands = remedies.flatMap((each) => each.commands.map((argv) => `  $ ${shellLine(argv)}`));
      const todo = commands.length === 0 ? [advice(finding)] : commands;
      return [
        `${finding.code} (${finding.confidence}): ${sentence(finding)}`,
        ...(finding.known === undefined ? [] : [`accepted, ${acceptedText(finding)}`]),
        ...finding.evidence.map((each) => `- ${each}`),
        ...todo,
      ].join('\n');
    })
    .join('\n\n');
}
