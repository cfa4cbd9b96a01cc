/**
 * One cell of the matrix: what was seen, in words that no run changes (no times, ports, paths or names of machines).
 * `row` and `column` are the place in the table of its part.
 */
export interface Cell {
  part: Part;
  engine: string;
  row: string;
  column: string;
  saw: Record<string, string>;
}

export const parts = ['doctor', 'turn', 'suite', 'patch', 'update'] as const;
export type Part = (typeof parts)[number];

export interface Matrix {
  kind: 'compatibility';
  schemaVersion: '1.0';
  /** Engines in the order of the tables, with what `doctor` says they are. */
  engines: EngineLine[];
  /** Jobs whose cells were never measured: they count as differences of the next whole run. */
  notMeasured: string[];
  cells: Cell[];
}

export interface EngineLine {
  name: string;
  package: string;
  generation: string;
  contract: string;
  note: string;
}

export const place = ({ part, engine, row, column }: Omit<Cell, 'saw'>): string =>
  [part, engine, row, column].join(' | ');

/** One line for each word that differs, in the order of the places. */
export function differences(committed: readonly Cell[], seen: readonly Cell[]): string[] {
  const before = new Map(committed.map((cell) => [place(cell), cell.saw]));
  const now = new Map(seen.map((cell) => [place(cell), cell.saw]));
  return [...new Set([...before.keys(), ...now.keys()])]
    .toSorted()
    .flatMap((at) => compare(at, before.get(at), now.get(at)));
}

function compare(at: string, before: Cell['saw'] | undefined, now: Cell['saw'] | undefined): string[] {
  if (before === undefined) return [`${at}: new: ${JSON.stringify(now)}`];
  if (now === undefined) return [`${at}: was not seen`];
  return [...new Set([...Object.keys(before), ...Object.keys(now)])]
    .filter((word) => before[word] !== now[word])
    .map((word) => `${at}: ${word} is "${now[word] ?? ''}", committed "${before[word] ?? ''}"`);
}

/** One cell a line, so that a difference in version control is a difference of cells. */
export function matrixText({ engines, cells, notMeasured, ...head }: Matrix): string {
  const lines = (list: readonly unknown[]): string =>
    list.map((each) => `    ${JSON.stringify(each)}`).join(',\n');
  const top = Object.entries(head).map(
    ([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},`,
  );
  return [
    '{',
    ...top,
    '  "engines": [',
    lines(engines),
    '  ],',
    `  "notMeasured": ${JSON.stringify(notMeasured)},`,
    '  "cells": [',
    lines(cells),
    '  ]',
    '}',
    '',
  ].join('\n');
}
