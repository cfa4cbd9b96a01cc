import type { Part, Turn } from '../turn/index.ts';
import { shown, wrap } from './shown.ts';
import type { Tone } from './style.ts';
import {
  count,
  differenceWords,
  duration,
  evidenceText,
  lacksText,
  outcomesText,
  outcomeWords,
  promptText,
  summaryText,
  toolSigns,
} from './timeline-words.ts';
import type { TimelineEnd, TimelineOptions, TimelineWriter } from './timeline.ts';

const indent = 10;
/** Lines of an answer or prompt that are shown without `--verbose`. */
const fewLines = 12;
const axisColumn = 4;
const axisWidth = 14;
const labelWidth = 11;

/** Turns for a terminal: what came of each first, then why; with `verbose` everything that led there on a time axis. */
export function timelineHuman(options: TimelineOptions): TimelineWriter {
  let several = false;
  const page: Page = { ...options, width: Math.max(40, options.width) };
  return {
    begin(files) {
      several = files > 1;
      return '';
    },
    head: (name, place) =>
      several ? `${place > 0 ? '\n' : ''}${page.style('strong', shown(name, 200))}\n\n` : '',
    turn: (turn) => (page.quiet ? '' : `${turnLines(page, turn).join('\n')}\n\n`),
    foot: (end) => `${footLines(page, end).join('\n')}\n`,
    end: () => '',
  };
}

type Page = TimelineOptions;

function turnLines(page: Page, turn: Turn): string[] {
  const lines = [headLine(page, turn), ...field(page, 'prompt', promptText(turn), 3)];
  if (page.verbose) lines.push(...processLines(page, turn));
  lines.push(...resultLines(page, turn));
  if (turn.artifacts.length > 0) lines.push(...listField(page, 'files', turn.artifacts));
  if (turn.references.length > 0) lines.push(...listField(page, 'mentions', turn.references));
  if (turn.degraded) lines.push(...field(page, 'unseen', lacksText(turn.lacks)));
  if (page.verbose || turn.outcome !== 'completed' || turn.confidence !== 'certain')
    lines.push(...whyLines(page, turn));
  return lines;
}

function headLine(page: Page, turn: Turn): string {
  const words = turn.outcome === null ? null : outcomeWords[turn.outcome];
  const sign = words?.sign ?? '…';
  const name = `${sign} ${turn.outcome ?? turn.phase}`;
  const more = [
    turn.summary?.durationMs == null ? '' : duration(turn.summary.durationMs),
    turn.summary === null ? '' : summaryText(turn.summary),
  ].filter((text) => text !== '');
  const [first = '', ...rest] = wrap(more.join(' · '), page.width - name.length - 8);
  const lead = `${page.style('dim', `#${turn.index}`.padEnd(4))}${page.style(words?.tone ?? 'unsure', name)}`;
  return [
    `${lead}${first === '' ? '' : `  ${first}`}`,
    ...rest.map((line) => `${' '.repeat(name.length + 6)}${line}`),
  ].join('\n');
}

function resultLines(page: Page, turn: Turn): string[] {
  if (turn.final !== null) return field(page, 'answer', turn.final, page.verbose ? Infinity : fewLines);
  const words = turn.outcome === null ? 'No end yet.' : outcomeWords[turn.outcome].instead;
  const error = turn.parts.findLast((part) => part.type === 'error');
  const text = turn.parts.findLast((part) => part.type === 'text');
  return [
    ...(error === undefined
      ? field(page, 'answer', words)
      : field(page, 'error', error.error, page.verbose ? Infinity : 6)),
    ...(text === undefined || page.verbose ? [] : field(page, 'last said', text.text, 3)),
  ];
}

function whyLines(page: Page, turn: Turn): string[] {
  const why = turn.evidence.map(evidenceText).join('; ');
  return why === ''
    ? []
    : field(page, 'because', `${why} (${turn.confidence ?? 'open'})`, page.verbose ? Infinity : 3);
}

/** Everything above the final answer, each with its place between the first and the last frame of the turn. */
function processLines(page: Page, turn: Turn): string[] {
  const lines: string[] = [];
  const waiting = [...turn.activity];
  const status = (before: number): void => {
    while (waiting.length > 0 && (waiting[0]?.at ?? 0) < before) {
      const text = shown(waiting.shift()?.text ?? '', page.width - axisColumn - axisWidth - 2);
      lines.push(`${' '.repeat(axisColumn + axisWidth + 1)}${page.style('dim', text)}`);
    }
  };
  for (const part of turn.parts) {
    if (part.type === 'error') continue;
    status(part.startedAt ?? 0);
    if (part.type !== 'text' || part.role !== 'final') lines.push(...partLines(page, turn, part));
  }
  status(Infinity);
  return lines;
}

function partLines(page: Page, turn: Turn, part: Exclude<Part, { type: 'error' }>): string[] {
  const { label, tone, text } = partWords(part);
  const column = axisColumn + axisWidth + 1 + Math.max(label.length + 1, labelWidth);
  const lines = wrap(shown(text, 4000), page.width - column);
  const kept = lines.length > 6 ? [...lines.slice(0, 6), '…'] : lines;
  const lead = `${' '.repeat(axisColumn)}${page.style('dim', axis(turn, part))} `;
  const name = `${page.style(tone, label)}${' '.repeat(Math.max(1, labelWidth - label.length))}`;
  return [
    `${lead}${name}${kept[0] ?? ''}`.trimEnd(),
    ...kept.slice(1).map((line) => `${' '.repeat(column)}${line}`),
  ];
}

function partWords(part: Exclude<Part, { type: 'error' }>): { label: string; tone: Tone; text: string } {
  if (part.type === 'text') return { label: 'says', tone: 'strong', text: part.text };
  if (part.type === 'reasoning') return { label: 'thinks', tone: 'dim', text: part.text };
  const [sign, tone] = toolSigns[part.status];
  const took =
    part.startedAt === null || part.endedAt === null ? '' : duration(part.endedAt - part.startedAt);
  const words = [part.context ?? '', part.status === 'completed' ? '' : part.status, took];
  return {
    label: `${sign} ${shown(part.name, 24)}`,
    tone,
    text: words.filter((word) => word !== '').join(' · '),
  };
}

/** `··██····`: when the part came, within the turn. */
function axis(turn: Turn, part: { startedAt: number | null; endedAt: number | null }): string {
  const span = (turn.endedAt ?? 0) - (turn.startedAt ?? 0);
  const from = part.startedAt ?? part.endedAt;
  if (turn.startedAt === null || from === null || span <= 0) return '·'.repeat(axisWidth);
  const place = (at: number) =>
    Math.min(axisWidth - 1, Math.max(0, Math.floor(((at - (turn.startedAt ?? 0)) / span) * axisWidth)));
  const first = place(from);
  const last = Math.max(first, place(part.endedAt ?? from));
  return `${'·'.repeat(first)}${'█'.repeat(last - first + 1)}${'·'.repeat(axisWidth - last - 1)}`;
}

/** A named field; its text keeps its lines, at most `most` of them. */
function field(page: Page, name: string, text: string, most = 3): string[] {
  const width = page.width - indent - 4;
  const lines = text
    .trim()
    .split('\n')
    .flatMap((line) => (line.trim() === '' ? [''] : wrap(shown(line, 20_000), width)));
  const kept = lines.slice(0, most);
  if (lines.length > kept.length)
    kept.push(page.style('dim', `… ${count(lines.length - kept.length, 'more line')} (--verbose shows all)`));
  return kept.map((line, i) =>
    `    ${page.style('dim', (i === 0 ? name : '').padEnd(indent))}${line}`.trimEnd(),
  );
}

function listField(page: Page, name: string, items: readonly string[]): string[] {
  return items.map(
    (item, i) => `    ${page.style('dim', (i === 0 ? name : '').padEnd(indent))}${shown(item)}`,
  );
}

function footLines(page: Page, end: TimelineEnd): string[] {
  const outcomes = outcomesText(end.outcomes);
  const lines = [`${count(end.turns, 'turn')}${outcomes === '' ? '' : `: ${outcomes}`}.`];
  if (end.comparison !== null) lines.push(...comparisonLines(page, end.comparison));
  if (end.changedByTwice !== null) {
    const changed = end.changedByTwice.map((index) => `#${index}`).join(', ');
    lines.push(
      changed === ''
        ? `${page.style('good', '✓')} Fed twice, nothing changes.`
        : `${page.style('bad', '✗')} Fed twice, these turns change: ${changed}`,
    );
  }
  return lines;
}

function comparisonLines(page: Page, comparison: NonNullable<TimelineEnd['comparison']>): string[] {
  if (comparison.equal) return [`${page.style('good', '✓')} The stored rows hold the same turns.`];
  const lines = comparison.differences.map(({ turn, code }) => {
    const place = (turn === null ? '' : `#${turn}`).padEnd(4);
    const [first = '', ...rest] = wrap(differenceWords[code], page.width - 32);
    return [
      `    ${page.style('dim', place)}${code.padEnd(24)}${first}`,
      ...rest.map((line) => `${' '.repeat(32)}${line}`),
    ].join('\n');
  });
  return [
    `${page.style('warn', '!')} The stored rows differ (${count(comparison.differences.length, 'difference')}):`,
    ...lines,
  ];
}
