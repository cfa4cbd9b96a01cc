import type { Finding, Report, Reports } from '../judge/schema.ts';
import { sentence } from './messages.ts';
import { acceptedText, notesOf, reasonsOf } from './notes.ts';
import { reportsOf } from './render.ts';
import { shellLine } from './shell-line.ts';
import { shown } from './shown.ts';

/** Workflow commands of GitHub Actions: an annotation for each finding. https://docs.github.com/actions → workflow commands */
export function github(document: Report | Reports): string {
  const lines = reportsOf(document).flatMap((report) => [
    ...report.findings.map((finding) => annotation(report, finding)),
    ...reasonsOf(report).map(
      (reason) => `::error title=${titleOf(report, report.verdict)}::${data(shown(reason, 1000))}`,
    ),
    verdictLine(report),
  ]);
  for (const { level, text } of notesOf(document))
    lines.push(`::${levels[level]} title=hermes-compat::${data(shown(text, 2000))}`);
  return `${lines.join('\n')}\n`;
}

const levels: Record<Finding['severity'], string> = { error: 'error', warn: 'warning', info: 'notice' };

/** In the message of a command. */
const data = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

/** In a property of a command, which also ends at `:` and `,`. */
const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

const titleOf = (report: Report, what: string): string =>
  property(`${shown(report.target.name, 80)}: ${shown(what, 60)}`);

function annotation(report: Report, finding: Finding): string {
  const remedies = report.remedies.filter((each) => finding.fix.includes(each.id));
  const first = remedies[0]?.commands[0];
  const text = [
    `${shown(sentence(finding))}. (${finding.confidence})`,
    ...(finding.known === undefined ? [] : [`Accepted, ${shown(acceptedText(finding), 600)}.`]),
    ...(first === undefined ? [] : [`Fix: ${shown(shellLine(first), 1000)}`]),
  ].join('\n');
  // What a baseline accepts is told, and fails nothing.
  const level = finding.known === undefined ? levels[finding.severity] : 'notice';
  return `::${level} title=${titleOf(report, finding.code)}::${data(text)}`;
}

/** A plain log line. `::` is a command at the start of a line, `##[` anywhere in it. */
const verdictLine = (report: Report): string =>
  `hermes-compat ${report.verdict} ${shown(report.target.name, 80).replaceAll('::', ': :').replaceAll('##[', '## [')} (${shown(report.client, 40)})`;

/** Markdown for `$GITHUB_STEP_SUMMARY`. Foreign text goes through `cell`, so it cannot become markup. */
export function githubSummary(document: Report | Reports, most = 900_000): string {
  const rows = worstFirst(reportsOf(document)).map((report) => {
    const codes = report.findings
      .filter((each) => each.severity !== 'info')
      .map((each) => `${cell(each.code)}${each.known === undefined ? '' : ' (known)'}`);
    const icon = { compatible: '✅', 'needs-remedy': '🛠️', incompatible: '❌', unknown: '❔' }[
      report.verdict
    ];
    return `| ${icon} ${report.verdict} | ${cell(report.target.name)} | ${cell(report.client)} | ${cell(report.engine.version ?? '?')} | ${codes.join('<br>')} |`;
  });
  const kept = fitting(rows, most);
  const notes = notesOf(document).map(({ text }) => `\n${cell(text, 2000)}\n`);
  const summary = document.kind === 'reports' ? document.summary : null;
  const head =
    summary === null
      ? ''
      : `${summary.total} target${summary.total === 1 ? '' : 's'}: ${summary.compatible} compatible, ${summary['needs-remedy']} need a remedy, ${summary.incompatible} incompatible, ${summary.unknown} unknown\n\n`;
  return `## hermes-compat\n\n${head}| Verdict | Target | Client | Engine | Findings |\n|---|---|---|---|---|\n${kept.join('\n')}\n${more(rows.length - kept.length)}${notes.join('')}`;
}

const badness: Record<Report['verdict'], number> = {
  incompatible: 0,
  'needs-remedy': 1,
  unknown: 2,
  compatible: 3,
};

const worstFirst = (reports: readonly Report[]): Report[] =>
  [...reports].sort((a, b) => badness[a.verdict] - badness[b.verdict]);

/** A job summary is refused as a whole above 1 MiB. */
function fitting(rows: readonly string[], most: number): string[] {
  let size = 0;
  return rows.filter((row) => (size += Buffer.byteLength(row) + 1) <= most);
}

const more = (count: number): string => (count === 0 ? '' : `\n… and ${count} more targets\n`);

const cell = (text: string, most = 120): string =>
  shown(text, most).replaceAll(/[&<>"'|`*_~[\]()#!\\:@]/g, (mark) => `&#${mark.charCodeAt(0)};`);
