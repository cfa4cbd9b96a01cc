import type { Finding, Report, Reports } from '../judge/schema.ts';
import { sentence } from './messages.ts';
import { reportsOf } from './render.ts';
import { shellLine } from './shell-line.ts';
import { shown } from './shown.ts';

/** Workflow commands of GitHub Actions: an annotation for each finding. https://docs.github.com/actions → workflow commands */
export function github(document: Report | Reports): string {
  const lines = reportsOf(document).flatMap((report) => [
    ...report.findings.map((finding) => annotation(report, finding)),
    verdictLine(report),
  ]);
  return `${lines.join('\n')}\n`;
}

const levels: Record<Finding['severity'], string> = { error: 'error', warn: 'warning', info: 'notice' };

/** In the message of a command. */
const data = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

/** In a property of a command, which also ends at `:` and `,`. */
const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

function annotation(report: Report, finding: Finding): string {
  const title = property(`${shown(report.target.name, 80)}: ${shown(finding.code, 60)}`);
  const remedies = report.remedies.filter((each) => finding.fix.includes(each.id));
  const first = remedies[0]?.commands[0];
  const text = [
    `${shown(sentence(finding))}. (${finding.confidence})`,
    ...(first === undefined ? [] : [`Fix: ${shown(shellLine(first), 1000)}`]),
  ].join('\n');
  return `::${levels[finding.severity]} title=${title}::${data(text)}`;
}

/** A plain log line. `::` is a command at the start of a line, `##[` anywhere in it. */
const verdictLine = (report: Report): string =>
  `hermes-compat ${report.verdict} ${shown(report.target.name, 80).replaceAll('::', ': :').replaceAll('##[', '## [')} (${shown(report.client, 40)})`;

/** Markdown for `$GITHUB_STEP_SUMMARY`. Foreign text goes through `cell`, so it cannot become markup. */
export function githubSummary(document: Report | Reports): string {
  const rows = reportsOf(document).map((report) => {
    const codes = report.findings.filter((each) => each.severity !== 'info').map((each) => cell(each.code));
    const icon = { compatible: '✅', 'needs-remedy': '🛠️', incompatible: '❌', unknown: '❔' }[
      report.verdict
    ];
    return `| ${icon} ${report.verdict} | ${cell(report.target.name)} | ${cell(report.client)} | ${cell(report.engine.version ?? '?')} | ${codes.join('<br>')} |`;
  });
  const summary = document.kind === 'reports' ? document.summary : null;
  const head =
    summary === null
      ? ''
      : `${summary.total} targets: ${summary.compatible} compatible, ${summary['needs-remedy']} need a remedy, ${summary.incompatible} incompatible, ${summary.unknown} unknown\n\n`;
  return `## hermes-compat\n\n${head}| Verdict | Target | Client | Engine | Findings |\n|---|---|---|---|---|\n${rows.join('\n')}\n`;
}

const cell = (text: string): string =>
  shown(text, 120).replaceAll(/[&<>"'|`*_~[\]()#!\\:@]/g, (mark) => `&#${mark.charCodeAt(0)};`);
