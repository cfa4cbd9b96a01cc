import type { Finding, Remedy, Report } from '../judge/schema.ts';
import { advice, adviceNow, sentence } from './messages.ts';
import { acceptedText } from './notes.ts';
import type { Page } from './page.ts';
import { remedyTitle } from './remedy-title.ts';
import { shellLine } from './shell-line.ts';
import { shown, wrap } from './shown.ts';
import type { Tone } from './style.ts';

/** Tone and sign of each severity. */
export const severityMarks: Record<Finding['severity'], [Tone, string]> = {
  error: ['bad', '✗'],
  warn: ['warn', '!'],
  info: ['dim', 'i'],
};

/** One finding: code and confidence, what is wrong, what was seen, what to run. */
export function findingLines(page: Page, finding: Finding, report: Report): void {
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
  const accepted = acceptedText(finding);
  if (accepted !== '') add(`Accepted, ${shown(accepted, 600)}.`, '  ');
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

function remedyLines(page: Page, remedy: Remedy, isAlternative: boolean): void {
  const title = remedyTitle(remedy);
  page.lines.push(`  ${isAlternative ? `Or: ${lowered(title)}` : title}:`);
  for (const line of remedy.lines ?? []) page.lines.push(`      ${shown(line)}`);
  for (const command of remedy.commands)
    page.lines.push(`    ${page.style('dim', '$')} ${shown(shellLine(command), 2000)}`);
}

const lowered = (text: string): string => `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
