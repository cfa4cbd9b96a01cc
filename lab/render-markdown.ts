import type { Matrix } from './cells.ts';
import { sections } from './view.ts';
import type { Section, Table } from './view-words.ts';

/** docs/compatibility.md. Pure: the same matrix gives the same text. */
export function markdown(matrix: Matrix): string {
  return [
    '# Compatibility, measured',
    '',
    'Every cell was measured on the real engine by `npm run lab`, which measures all of it again and ends with 0 only when every',
    'cell is as it is here. The data is [compatibility.json](compatibility.json); this page and',
    '[compatibility.html](compatibility.html) are made from it.',
    '',
    ...(matrix.notMeasured.length === 0
      ? []
      : [`Not measured yet, and empty here: ${matrix.notMeasured.join('; ')}.`, '']),
    ...sections(matrix).flatMap(sectionLines),
  ].join('\n');
}

const sectionLines = ({ title, says, tables }: Section): string[] => [
  `## ${title}`,
  '',
  ...says.flatMap((text) => [text, '']),
  ...tables.flatMap(tableLines),
];

function tableLines({ caption, columns, rows }: Table): string[] {
  const line = (words: readonly string[]): string => `| ${words.map(cell).join(' | ')} |`;
  return [
    `**${caption}**`,
    '',
    line(columns),
    `|${' --- |'.repeat(columns.length)}`,
    ...rows.map((row) => line(row.map(({ text }) => text))),
    '',
  ];
}

const cell = (text: string): string => text.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ');
