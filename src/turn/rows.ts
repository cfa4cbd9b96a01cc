/** Rows of clients that show a transcript as a flat list, and what may be done with each. */

/** One row. A bubble has no `kind`. `localOnly` rows exist only in the client; an `error` is never text of the model. */
export interface Row {
  id: string;
  role: 'user' | 'agent';
  content: string;
  kind?: 'reasoning' | 'tool_call' | 'tool_result';
  error?: string;
  pending?: boolean;
  localOnly?: boolean;
  turnId?: string;
  attachments?: readonly unknown[];
}

/** The turn that a client runs, or ran last. */
export interface ActiveTurn {
  turnId: string;
  userId: string;
  status: 'running' | 'failed' | 'completed';
}

export function isBubble(row: Row): boolean {
  return row.kind === undefined;
}

export function isFailed(row: Row): boolean {
  return row.role === 'agent' && row.error !== undefined && row.error !== '';
}

/** What may go to the model: said by a person or the model, not by the client, and not followed by an error. */
export function shouldSendToAgent(row: Row): boolean {
  return isBubble(row) && row.error === undefined && row.localOnly !== true && row.content.trim() !== '';
}

/** What belongs into a copied transcript: everything a reader saw as a bubble, errors included. */
export function shouldCopyToTranscript(row: Row): boolean {
  return isBubble(row) && (isFailed(row) || row.content.trim() !== '');
}

/** The line of a copied transcript: the text, and under it the error. */
export function transcriptText(row: Row): string {
  const lines = [row.content.trim()];
  if (isFailed(row)) lines.push(`Error: ${row.error}`);
  return lines.filter((line) => line !== '').join('\n');
}

/** Rows from one prompt to the next. Rows before the first prompt have no `user`. */
export interface RowTurn {
  user: Row | null;
  rows: Row[];
}

export function splitTurns(rows: readonly Row[]): RowTurn[] {
  const turns: RowTurn[] = [];
  for (const row of rows) {
    const last = turns.at(-1);
    if (row.role === 'user' && isBubble(row)) turns.push({ user: row, rows: [] });
    else if (last === undefined) turns.push({ user: null, rows: [row] });
    else last.rows.push(row);
  }
  return turns;
}

export function rowsOf(turn: RowTurn): Row[] {
  return turn.user === null ? turn.rows : [turn.user, ...turn.rows];
}

/** Texts with which the model answered: bubbles with text and without an error. */
export function answersOf(turn: RowTurn): string[] {
  return turn.rows
    .filter((row) => isBubble(row) && !isFailed(row) && row.content.trim() !== '')
    .map((row) => row.content);
}
