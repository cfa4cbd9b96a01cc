import type { Check, Finding, Remedy, Report, Reports, Verdict } from '../judge/schema.ts';
import { advice, adviceNow, sentence } from './messages.ts';
import { shellLine } from './shell-line.ts';
import { shown, wrap } from './shown.ts';
import type { Style, Tone } from './style.ts';
import { plain } from './style.ts';

export interface HumanOptions {
  style?: Style;
  /** Every check, every piece of evidence, every remedy, the transport decision. */
  verbose?: boolean;
  /** Columns; 80 unless the terminal says otherwise. */
  width?: number;
}

interface Page {
  lines: string[];
  /** Commands that were printed already, so that the same fix is not told twice. */
  told: Set<string>;
  style: Style;
  verbose: boolean;
  width: number;
}

const verdictTone: Record<Verdict, Tone> = {
  compatible: 'good',
  'needs-remedy': 'bad',
  incompatible: 'bad',
  unknown: 'unsure',
};

const verdictSentence: Record<Verdict, (client: string, where: string) => string> = {
  compatible: (client, where) => `${client} works with ${where}.`,
  'needs-remedy': (client, where) => `${client} does not work with ${where} yet. There is a remedy.`,
  incompatible: (client, where) => `${client} does not work with ${where}, and no remedy of ours helps.`,
  unknown: (client, where) => `Whether ${client} works with ${where} could not be checked.`,
};

const marks: Record<Check['status'], [Tone, string]> = {
  pass: ['good', '✓'],
  warn: ['warn', '!'],
  fail: ['bad', '✗'],
  error: ['unsure', '?'],
  skip: ['dim', '–'],
};

const severityMarks: Record<Finding['severity'], [Tone, string]> = {
  error: ['bad', '✗'],
  warn: ['warn', '!'],
  info: ['dim', 'i'],
};

/** A report for a person: the verdict, what was checked, then each finding with its cause, evidence and the commands to run. */
export function human(report: Report, options: HumanOptions = {}): string {
  const page: Page = {
    lines: [],
    told: new Set(),
    style: options.style ?? plain,
    verbose: options.verbose ?? false,
    width: Math.max(40, options.width ?? 80),
  };
  verdictLines(page, report);
  summaryLines(page, report);
  const severities: Finding['severity'][] = ['error', 'warn', 'info'];
  for (const severity of severities)
    for (const finding of report.findings.filter((each) => each.severity === severity))
      findingLines(page, finding, report);
  return `${page.lines.join('\n')}\n`;
}

const whereOf = (report: Report): string => shown(report.target.url ?? report.target.name);

function verdictLines(page: Page, report: Report): void {
  const word = page.style(verdictTone[report.verdict], report.verdict.toUpperCase());
  const said = verdictSentence[report.verdict](shown(report.client), whereOf(report));
  const first = wrap(`${report.verdict.toUpperCase()}  ${said}`, page.width);
  page.lines.push(`${word}${first[0]?.slice(report.verdict.length) ?? ''}`, ...first.slice(1));
}

function field(page: Page, name: string, text: string): void {
  const [first = '', ...rest] = wrap(text, page.width - 12);
  page.lines.push(
    `  ${page.style('dim', name.padEnd(10))}${first}`,
    ...rest.map((line) => `${' '.repeat(12)}${line}`),
  );
}

function summaryLines(page: Page, report: Report): void {
  page.lines.push('');
  field(page, 'Engine', engineWords(report));
  field(page, 'Clients', clientWords(report));
  if (page.verbose) {
    const { auto, dashboard, legacy } = report.transport;
    field(page, 'Transport', `auto takes ${auto.chooses ?? 'nothing'} (${shown(auto.why)})`);
    field(page, '', `dashboard: ${dashboard.usable} · legacy: ${legacy.usable} (${shown(legacy.why)})`);
    for (const check of report.checks)
      field(page, check === report.checks[0] ? 'Checked' : '', checkWords(page, check));
    return;
  }
  checkedLines(page, report.checks);
}

/** Every client on one line, grouped by verdict. */
function clientWords(report: Report): string {
  const verdicts = [...new Set(Object.values(report.clients))];
  const named = (verdict: Verdict): string[] =>
    Object.keys(report.clients).filter((name) => report.clients[name] === verdict);
  return verdicts
    .map(
      (verdict) =>
        `${verdict}: ${named(verdict)
          .map((name) => shown(name))
          .join(', ')}`,
    )
    .join(' · ');
}

function engineWords(report: Report): string {
  const { version, generation, contract, install } = report.engine;
  const parts = [
    version === null ? 'version unknown' : `Hermes Agent ${shown(version, 60)}`,
    generation === null ? null : `generation ${generation}`,
    contract.state === 'known'
      ? `contract ${contract.value ?? '?'}`
      : contract.state === 'none'
        ? 'no contract'
        : null,
    install === null ? null : `in ${shown(install)}`,
  ];
  return parts.filter((part) => part !== null).join(', ');
}

const checkWords = (page: Page, check: Check): string => {
  const [tone, mark] = marks[check.status];
  return `${page.style(tone, mark)} ${check.id}${check.reason === '' ? '' : `: ${shown(check.reason, 120)}`}`;
};

const statusOrder: readonly Check['status'][] = ['fail', 'error', 'warn', 'pass'];

/** Ids by outcome, the bad ones first. */
function checkedLines(page: Page, checks: readonly Check[]): void {
  let name = 'Checked';
  for (const status of statusOrder) {
    const ids = checks.filter((each) => each.status === status).map((each) => each.id);
    if (ids.length === 0) continue;
    const [tone, mark] = marks[status];
    const [first = '', ...rest] = wrap(ids.join(', '), page.width - 14);
    page.lines.push(
      `  ${page.style('dim', name.padEnd(10))}${page.style(tone, mark)} ${first}`,
      ...rest.map((line) => `${' '.repeat(14)}${line}`),
    );
    name = '';
  }
}

function findingLines(page: Page, finding: Finding, report: Report): void {
  const [tone, mark] = severityMarks[finding.severity];
  const confidence = finding.severity === 'info' ? '' : `  ${page.style('dim', finding.confidence)}`;
  page.lines.push(
    '',
    `${page.style(tone, mark)} ${page.style('strong', shown(finding.code, 60))}${confidence}`,
  );
  const add = (text: string, indent: string, first = indent): void =>
    wrap(text, page.width - indent.length).forEach((line, index) =>
      page.lines.push(`${index === 0 ? first : indent}${line}`),
    );
  add(`${shown(sentence(finding))}.`, '  ');
  const most = page.verbose ? finding.evidence.length : 4;
  for (const evidence of finding.evidence.slice(0, most)) add(shown(evidence), '    ', '  · ');
  if (finding.severity !== 'info') adviceLines(page, finding, report, add);
}

function adviceLines(
  page: Page,
  finding: Finding,
  report: Report,
  add: (text: string, indent: string, first?: string) => void,
): void {
  const remedies = finding.fix
    .map((id) => report.remedies.find((each) => each.id === id))
    .filter((each) => each !== undefined);
  const words = shown(advice(finding));
  const [best] = remedies;
  if (best === undefined) {
    if (words !== '') add(words, '  ', '  ');
    return;
  }
  const key = best.commands.map(shellLine).join('\n');
  if (key !== '' && page.told.has(key)) return add('The same commands fix it.', '  ');
  page.told.add(key);
  const now = shown(adviceNow(finding));
  if (now !== '') add(now, '  ');
  const isProxy = best.carrier === 'config' && best.where === 'on-host';
  const printed = page.verbose || isProxy ? remedies : remedies.slice(0, 1);
  printed.forEach((remedy, index) => remedyLines(page, remedy, index > 0));
  const others = remedies.slice(printed.length).map((each) => remedyName[each.carrier]);
  if (others.length > 0) add(`Other ways (-v shows them): ${[...new Set(others)].join(', ')}.`, '  ');
}

const remedyName: Record<Remedy['carrier'], string> = {
  config: 'a setting',
  launch: 'start it with `hermes-compat launch`',
  overlay: 'our overlay',
  source: 'an edit of the source',
  update: 'update the engine',
};

const remedyTitle: Record<Remedy['carrier'], string> = {
  config: 'Set',
  launch: 'Start it the right way',
  overlay: 'Fix it (reversible)',
  source: 'Fix it (reversible)',
  update: 'Update the engine',
};

const titleById: Record<string, string> = {
  'restart-dashboard': 'Restart it',
  'install-websockets': 'Install the library',
};

function remedyLines(page: Page, remedy: Remedy, isAlternative: boolean): void {
  const proxy = /^(nginx|caddy|haproxy)-/.exec(remedy.id)?.[1];
  const title = proxy === undefined ? (titleById[remedy.id] ?? remedyTitle[remedy.carrier]) : `In ${proxy}`;
  const where = remedy.where === 'on-host' ? ' on its own machine' : '';
  const then = remedy.restart === 'dashboard' && !startsIt(remedy) ? ', then restart the dashboard' : '';
  page.lines.push(
    `  ${isAlternative ? 'Or: ' : ''}${isAlternative ? lowered(title) : title}${where}${then}:`,
  );
  for (const line of remedy.lines ?? []) page.lines.push(`      ${shown(line)}`);
  for (const command of remedy.commands)
    page.lines.push(`    ${page.style('dim', '$')} ${shown(shellLine(command), 2000)}`);
}

/** Its last command starts the dashboard again already. */
const startsIt = (remedy: Remedy): boolean =>
  remedy.carrier === 'launch' ||
  remedy.commands.some(
    (argv) =>
      (argv[0] === 'hermes-compat' && argv[1] === 'launch') ||
      argv.includes('restart') ||
      argv.includes('kickstart'),
  );

const lowered = (text: string): string => `${text.charAt(0).toLowerCase()}${text.slice(1)}`;

/** Several targets: one line each, then the details of those that are not compatible. */
export function humanReports(document: Reports, options: HumanOptions = {}): string {
  const style = options.style ?? plain;
  const width = Math.max(...document.reports.map((each) => shown(each.target.name, 40).length), 4);
  const rows = document.reports.map((each) => {
    const codes = each.findings
      .filter((found) => found.severity === 'error')
      .map((found) => shown(found.code, 60));
    const verdict = style(verdictTone[each.verdict], each.verdict.padEnd(12));
    return `${verdict}  ${shown(each.target.name, 40).padEnd(width)}  ${shown(each.client, 30)}${codes.length === 0 ? '' : `  ${codes.join(', ')}`}`;
  });
  const { summary } = document;
  const counted = (['compatible', 'needs-remedy', 'incompatible', 'unknown'] as const)
    .filter((verdict) => summary[verdict] > 0)
    .map((verdict) => `${summary[verdict]} ${verdict}`);
  const details = document.reports
    .filter((each) => each.verdict !== 'compatible' || options.verbose === true)
    .map((each) => `\n${style('strong', `── ${shown(each.target.name)}`)}\n${human(each, options)}`);
  return `${rows.join('\n')}\n\n${summary.total} targets: ${counted.join(', ')}\n${details.join('')}`;
}
