import type { Finding, Report, Reports } from '../judge/schema.ts';

export interface Note {
  /** `error`: the document is not whole. */
  level: 'error' | 'warn' | 'info';
  text: string;
}

/** What there is to say about a document of several targets besides the targets themselves. */
export function notesOf(document: Report | Reports): Note[] {
  if (document.kind === 'report') return [];
  const { shard, notRun = [], baseline } = document;
  const notes: Note[] = [];
  if (notRun.length > 0)
    notes.push({
      level: 'error',
      text: `Interrupted: ${notRun.length} targets were not checked (${some(notRun)})`,
    });
  if (shard !== undefined)
    notes.push({ level: 'info', text: `This is part ${shard.index} of ${shard.count}` });
  if (baseline !== undefined && baseline.expired.length > 0)
    notes.push({
      level: 'warn',
      text: `No longer accepted, the day of the baseline is over: ${some(baseline.expired)}`,
    });
  if (baseline !== undefined && baseline.unused.length > 0)
    notes.push({ level: 'info', text: `In the baseline, and not met any more: ${some(baseline.unused)}` });
  return notes;
}

const shownAtMost = 20;

const some = (names: readonly string[]): string =>
  names.length <= shownAtMost
    ? names.join(', ')
    : `${names.slice(0, shownAtMost).join(', ')} and ${names.length - shownAtMost} more`;

/** An unknown verdict that no finding explains has its reasons in the checks that could not be done. */
export const reasonsOf = (report: Report): string[] =>
  report.verdict === 'unknown' && !report.findings.some(({ severity }) => severity === 'error')
    ? report.checks.filter(({ status }) => status === 'error').map(({ id, reason }) => `${id}: ${reason}`)
    : [];

/** Empty for a finding that no baseline accepts. */
export const acceptedText = ({ known }: Finding): string =>
  known === undefined ? '' : `known until ${known.until}: ${known.reason}`;
