import type { Check, Finding, Remedy, Report, Reports, Verdict } from '../judge/schema.ts';
import { htmlStyle } from './html-style.ts';
import { advice, adviceNow, sentence } from './messages.ts';
import { clientWords } from './client-words.ts';
import { acceptedText, notesOf, reasonsOf } from './notes.ts';
import { remedyTitle } from './remedy-title.ts';
import { reportsOf } from './render.ts';
import { shellLine } from './shell-line.ts';
import { htmlHead } from './html-head.ts';
import { escapeHtml } from './html-text.ts';
import { shown } from './shown.ts';

/** One page that needs nothing else: no script, no network, so that it opens from a file and foreign text has nothing to run. */
export function html(document: Report | Reports): string {
  const reports = reportsOf(document);
  const title =
    reports.length === 1 ? `${shown(reports[0]?.target.name ?? '')} · hermes-compat` : 'hermes-compat';
  const { version } = document.tool;
  return [
    ...htmlHead(escape(title), htmlStyle),
    '<body>',
    filter(reports),
    ...notesOf(document).map(
      ({ level, text }) => `<p class="note ${level}">${noteSigns[level]} ${escape(text)}</p>`,
    ),
    '<main>',
    ...reports.map((report) => article(report, reports.length === 1)),
    '</main>',
    `<footer>hermes-compat ${escape(version)}</footer>`,
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

const escape = (text: string): string => escapeHtml(shown(text, 4000));

const signs: Record<Verdict, string> = {
  compatible: '✓',
  'needs-remedy': '⚒',
  incompatible: '✗',
  unknown: '?',
};

const badge = (verdict: Verdict): string =>
  `<span class="badge ${verdict}"><span aria-hidden="true">${signs[verdict]}</span> ${verdict}</span>`;

/** Radio buttons that CSS reads: they work by keyboard and without script. */
function filter(reports: readonly Report[]): string {
  const verdicts = (['incompatible', 'needs-remedy', 'unknown', 'compatible'] as const).filter((verdict) =>
    reports.some((report) => report.verdict === verdict),
  );
  const count = (verdict: Verdict): number => reports.filter((report) => report.verdict === verdict).length;
  const choice = (id: string, label: string, isChecked: boolean): string =>
    `<label><input type="radio" name="show" id="show-${id}"${isChecked ? ' checked' : ''}><span>${label}</span></label>`;
  const choices = [
    choice('all', `all ${reports.length}`, true),
    ...verdicts.map((verdict) => choice(verdict, `${signs[verdict]} ${verdict} ${count(verdict)}`, false)),
  ];
  return `<header><h1>hermes-compat</h1>${reports.length > 1 ? `<fieldset><legend>Show</legend>${choices.join('')}</fieldset>` : ''}</header>`;
}

function article(report: Report, isOpen: boolean): string {
  const codes = report.findings
    .filter((each) => each.severity === 'error')
    .map((each) => `${escape(each.code)}${each.known === undefined ? '' : ' (known)'}`);
  return [
    `<article data-verdict="${report.verdict}">`,
    `<details${isOpen ? ' open' : ''}>`,
    `<summary>${badge(report.verdict)} <span class="name">${escape(report.target.name)}</span> <span class="dim client">${escape(report.client)}</span>${codes.length === 0 ? '' : ` <span class="codes">${codes.join(', ')}</span>`}</summary>`,
    facts(report),
    ...reasonsOf(report).map((reason) => `<p class="reason">${escape(reason)}</p>`),
    ...report.findings.map((each) => finding(each, report)),
    checks(report),
    '</details>',
    '</article>',
  ].join('\n');
}

function facts(report: Report): string {
  const { version, generation, contract, install } = report.engine;
  const rows: [string, string][] = [
    ['Address', report.target.url ?? report.target.name],
    ['Engine', `${version ?? 'version unknown'}${generation === null ? '' : `, ${generation}`}`],
    ['Contract', contract.state === 'known' ? String(contract.value) : contract.state],
    ...(install === null ? [] : [['Install', install] as [string, string]]),
    ['Clients', clientWords(report)],
    ['Transport', `auto: ${report.transport.auto.chooses ?? 'none'} (${report.transport.auto.why})`],
  ];
  return `<dl>${rows.map(([name, text]) => `<dt>${name}</dt><dd>${escape(text)}</dd>`).join('')}</dl>`;
}

const noteSigns = { error: '✗', warn: '!', info: 'i' } as const;

const severitySigns: Record<Finding['severity'], string> = {
  error: '✗ error',
  warn: '! warning',
  info: 'i info',
};

function finding(each: Finding, report: Report): string {
  const remedies = each.fix
    .map((id) => report.remedies.find((remedy) => remedy.id === id))
    .filter((remedy) => remedy !== undefined);
  return [
    `<section class="finding ${each.severity}">`,
    `<h2>${escape(each.code)} <span class="dim">${severitySigns[each.severity]}, ${each.confidence}</span></h2>`,
    `<p>${escape(sentence(each))}.</p>`,
    each.known === undefined ? '' : `<p class="known">Accepted, ${escape(acceptedText(each))}.</p>`,
    each.evidence.length === 0
      ? ''
      : `<ul>${each.evidence.map((text) => `<li>${escape(text)}</li>`).join('')}</ul>`,
    ...whatToDo(each, remedies),
    '</section>',
  ].join('\n');
}

function whatToDo(each: Finding, remedies: readonly Remedy[]): string[] {
  const words = remedies.length === 0 ? advice(each) : adviceNow(each);
  return [words === '' ? '' : `<p>${escape(words)}</p>`, ...remedies.map(remedyBlock)];
}

function remedyBlock(remedy: Remedy, index: number): string {
  const lines = [...(remedy.lines ?? []), ...remedy.commands.map((argv) => `$ ${shellLine(argv)}`)];
  const title = escape(remedyTitle(remedy));
  const words = index === 0 ? title : `Or: ${title.charAt(0).toLowerCase()}${title.slice(1)}`;
  // A block for each line, so that one that is too long for a phone still reads as one.
  return `<p class="remedy">${words}:</p><pre>${lines.map((line) => `<span>${escape(line)}</span>`).join('')}</pre>`;
}

const checkSigns = { pass: '✓', warn: '!', fail: '✗', error: '?', skip: '–' } as const;

/** What was looked at, and apart from it what did not apply here. */
function checks(report: Report): string {
  const done = report.checks.filter(({ status }) => status !== 'skip');
  const skipped = report.checks.filter(({ status }) => status === 'skip');
  return [checkTable(done, 'checked'), checkTable(skipped, 'not applicable here')].join('');
}

function checkTable(list: readonly Check[], title: string): string {
  if (list.length === 0) return '';
  const rows = list.map(
    (each) =>
      `<tr class="${each.status}"><td>${checkSigns[each.status]} ${each.status}</td><td>${escape(each.id)}</td><td>${escape(each.reason)}</td></tr>`,
  );
  return `<details class="checks"><summary>${list.length} ${title}</summary><table>${rows.join('')}</table></details>`;
}
