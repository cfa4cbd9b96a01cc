import type { Cell, Matrix } from './cells.ts';

/** Words of the tables, before any format. */

export type Tone = 'good' | 'remedy' | 'bad' | 'unsure' | 'none';

export interface Words {
  text: string;
  tone: Tone;
}

export interface Table {
  caption: string;
  columns: string[];
  /** The first words are the head of the row. */
  rows: Words[][];
}

export interface Section {
  id: string;
  title: string;
  says: string[];
  tables: Table[];
}

export const plain = (text: string): Words => ({ text, tone: 'none' });
export const none: Words = { text: '–', tone: 'none' };

export type Find = (
  part: Cell['part'],
  engine: string,
  row: string,
  column: string,
) => Cell['saw'] | undefined;

/** Engine and row of every line of a part, in order. */
export const rowsOf = (matrix: Matrix, part: Cell['part']): [engine: string, row: string][] => {
  const seen = new Map<string, [string, string]>();
  for (const cell of matrix.cells)
    if (cell.part === part) seen.set(`${cell.engine}\n${cell.row}`, [cell.engine, cell.row]);
  return [...seen.values()];
};
