import type { Row, Session, Turn } from '../world.ts';
import type { Hub } from './hub.ts';

/** A turn while it runs. */
export interface Run {
  hub: Hub;
  session: Session;
  turn: Turn;
  /** The next text begins a new segment after a tool. */
  afterTool: boolean;
  reasoning: string;
  /** Index of its user row. */
  firstRow: number;
  /** The conversation was summed up in it. */
  compacted: boolean;
}

export const addRow = (session: Session, row: Omit<Row, 'id' | 'at'>): void => {
  session.rows.push({ ...row, id: (session.rows.at(-1)?.id ?? 0) + 1, at: Date.now() });
};
