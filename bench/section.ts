import type { Ratio } from './ratio.ts';

/** One table of the results. Cells are text, so that a table has the unit that fits it. */
export interface Section {
  title: string;
  /** A sentence or two on what was compared. */
  note: string;
  head: readonly string[];
  rows: readonly (readonly string[])[];
  /** Limits that were missed, one sentence each. */
  missed: readonly string[];
}

const verdict = (row: Ratio): string | null =>
  row.limit !== null && row.ratio > row.limit
    ? `${row.name}: ${row.ratio.toFixed(2)}, the limit is ${row.limit}`
    : null;

/** Ratios of two commands as a table. */
export function ratioSection(title: string, note: string, rows: readonly Ratio[]): Section {
  return {
    title,
    note,
    head: ['Measured', 'ours, ms', 'base, ms', 'ratio', 'limit'],
    rows: rows.map((row) => [
      row.name,
      row.ours.toFixed(0),
      row.base.toFixed(0),
      row.ratio.toFixed(2),
      row.limit === null ? '–' : `≤ ${row.limit}`,
    ]),
    missed: rows.map(verdict).filter((each) => each !== null),
  };
}

export const tableOf = ({ head, rows }: Section): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

export const textOf = (section: Section): string =>
  `## ${section.title}\n\n${section.note}\n\n${tableOf(section)}\n`;
