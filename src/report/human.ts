import type { Check, Finding, Report, Verdict } from '../judge/schema.ts';
import { clientWords } from './client-words.ts';
import { findingLines } from './human-finding.ts';
import type { HumanOptions, Page } from './page.ts';
import { newPage } from './page.ts';
import { reasonsOf } from './notes.ts';
import { shown, wrap } from './shown.ts';
import type { Tone } from './style.ts';

export const verdictTone: Record<Verdict, Tone> = {
  compatible: 'good',
  'needs-remedy': 'bad',
  incompatible: 'bad',
  unknown: 'unsure',
};

const verdictSentence: Record<Verdict, (client: string, where: string) => string> = {
  compatible: (client, where) => `${client} works with ${where}.`,
  'needs-remedy': (client, where) => `${client} does not work with ${where} yet. There is a remedy.`,
  incompatible: (client, where) => `${client} does not work with ${where}, and only a change there helps.`,
  unknown: (client, where) => `Whether ${client} works with ${where} could not be checked.`,
};

const marks: Record<Check['status'], [Tone, string]> = {
  pass: ['good', '✓'],
  warn: ['warn', '!'],
  fail: ['bad', '✗'],
  error: ['unsure', '?'],
  skip: ['dim', '–'],
};

/** A report for a person: the verdict, what was checked, then each finding with its cause, evidence and the commands to run. */
export function human(report: Report, options: HumanOptions = {}): string {
  const page = newPage(options);
  verdictLines(page, report);
  summaryLines(page, report);
  for (const reason of reasonsOf(report))
    page.lines.push('', ...wrap(`? ${shown(reason, 1000)}`, page.width));
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
