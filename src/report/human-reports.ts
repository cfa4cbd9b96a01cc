import type { Reports } from '../judge/schema.ts';
import { human, verdictTone } from './human.ts';
import { notesOf } from './notes.ts';
import type { HumanOptions } from './page.ts';
import { shown } from './shown.ts';
import { plain } from './style.ts';

/** Several targets: one line each, then the details of those that are not compatible. */
export function humanReports(document: Reports, options: HumanOptions = {}): string {
  const style = options.style ?? plain;
  const width = Math.max(...document.reports.map((each) => shown(each.target.name, 40).length), 4);
  const rows = document.reports.map((each) => {
    const codes = each.findings
      .filter((found) => found.severity === 'error')
      .map((found) => `${shown(found.code, 60)}${found.known === undefined ? '' : ' (known)'}`);
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
  const notes = notesOf(document).map(({ text }) => `${shown(text, 2000)}\n`);
  const counts = `${summary.total} target${summary.total === 1 ? '' : 's'}${counted.length === 0 ? '' : `: ${counted.join(', ')}`}`;
  return `${rows.join('\n')}\n\n${counts}\n${notes.join('')}${details.join('')}`;
}
