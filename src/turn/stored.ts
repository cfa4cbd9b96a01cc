import { filledText, isObject, listOf, objectOf, parseJson, textOf, type Json } from './json.ts';
import { beginsEngineTurn, isControlRow, isEmptyAnswer, isResultStub, isSummaryRow } from './phrases.ts';
import { addArtifacts, filesOf, statusOf } from './tools.ts';
import type { Outcome, Part, ToolPart } from './types.ts';

/**
 * A turn as the store holds it: the same parts as a live turn. `outcome` is what the rows prove, null when they prove nothing (a lone prompt can
 * be a failed turn). What the engine wrote between is counted, not shown.
 */
export interface StoredTurn {
  origin: 'user' | 'engine';
  /** The text of the user row, with everything the engine put into it. */
  prompt: string;
  /** The text to show for it: what the engine keeps for display, without the content of attached files. */
  shown: string;
  rowId: string | null;
  parts: Part[];
  /** For each part the id of the row that holds it. */
  partRows: string[];
  final: string | null;
  outcome: Outcome | null;
  artifacts: string[];
  /** Calls that have no result row. */
  dangling: string[];
  /** Calls whose result was replaced by a note. */
  stubs: string[];
  holdsSummary: boolean;
  controlRows: number;
  emptyAnswers: number;
}

/** Rows carry the time at which they were written, which is not when the part came. */
const noTimes = { startedAt: null, endedAt: null };

/** The rows of a session as turns. Takes rows of `GET /api/sessions/{id}/messages` and of `session.resume`, of every version. */
export function turnsOfRows(rows: readonly unknown[]): { turns: StoredTurn[]; holdsSummary: boolean } {
  const turns: StoredTurn[] = [];
  const seen = new Set<string>();
  let holdsSummary = false;
  let turn: StoredTurn | null = null;
  for (const row of rows) {
    if (!isObject(row) || isArchived(row) || isRepeated(row, seen)) continue;
    const text = rowText(row);
    const kind = textOf(row['display_kind']);
    if (isSummaryRow(text)) {
      holdsSummary = true;
      if (turn !== null) turn.holdsSummary = true;
    } else if (row['role'] === 'user') {
      if (beginsEngineTurn(text, kind)) turns.push((turn = newTurn(row, text, 'engine')));
      else if (isControlRow(text, kind)) addControl(turn, text);
      else turns.push((turn = newTurn(row, text, 'user')));
    } else if (turn !== null) {
      if (row['role'] === 'assistant') addAnswer(turn, row, text, kind);
      if (row['role'] === 'tool') addResult(turn, row, text);
    }
  }
  for (const one of turns) close(one);
  return { turns, holdsSummary };
}

/** Compaction keeps the rows it replaced as archived copies. */
function isArchived(row: Json): boolean {
  return row['active'] === 0 || row['active'] === false;
}

function isRepeated(row: Json, seen: Set<string>): boolean {
  const id = rowId(row);
  if (id === null) return false;
  if (seen.has(id)) return true;
  seen.add(id);
  return false;
}

function rowId(row: Json): string | null {
  const id = row['id'] ?? row['row_id'];
  return typeof id === 'string' || typeof id === 'number' ? String(id) : null;
}

/** The text of a row: a string, or the text parts of a list. */
export function rowText(row: Json): string {
  const content = row['content'] ?? row['text'];
  if (typeof content === 'string') return content;
  const parts = listOf(content).map((part) => (typeof part === 'string' ? part : objectOf(part)['text']));
  return parts.filter((part) => typeof part === 'string').join('\n');
}

function newTurn(row: Json, text: string, origin: 'user' | 'engine'): StoredTurn {
  return {
    origin,
    prompt: text,
    shown:
      filledText(row['display_content']) ??
      filledText(objectOf(row['display_metadata'])['display_text']) ??
      withoutFiles(text),
    rowId: rowId(row),
    parts: [],
    partRows: [],
    final: null,
    outcome: null,
    artifacts: [],
    dangling: [],
    stubs: [],
    holdsSummary: false,
    controlRows: 0,
    emptyAnswers: 0,
  };
}

/** Engines put the content of attached files and descriptions of images into the stored prompt. */
function withoutFiles(text: string): string {
  const plain = text.replace(/\n\n--- Attached Context ---[\s\S]*$/, '').replace(/(\n@image:\S+)+$/, '');
  return plain.replace(/^(\[The user attached an image:[\s\S]*?\n\[You can examine it[^\n]*\]\n\n)+/, '');
}

function addControl(turn: StoredTurn | null, text: string): void {
  if (turn === null) return;
  turn.controlRows += 1;
  if (text.startsWith("You've reached the maximum")) turn.outcome = 'tool_limit_reached';
}

function addAnswer(turn: StoredTurn, row: Json, text: string, kind: string | null): void {
  const reasoning = filledText(row['reasoning']) ?? filledText(row['reasoning_content']);
  if (reasoning !== null) addPart(turn, row, { type: 'reasoning', text: reasoning.trim(), ...noTimes });
  const calls = callsOf(row);
  if (isEmptyAnswer(text, kind)) {
    if (calls.length === 0) addEmpty(turn, row, text, kind);
  } else {
    addPart(turn, row, { type: 'text', text: text.trim(), role: 'process', ...noTimes });
    if (objectOf(row['display_metadata'])['interrupted'] === true) turn.outcome = 'interrupted';
  }
  for (const call of calls) addPart(turn, row, call);
}

function addPart(turn: StoredTurn, row: Json, part: Part): void {
  turn.parts.push(part);
  turn.partRows.push(rowId(row) ?? '');
}

function addEmpty(turn: StoredTurn, row: Json, text: string, kind: string | null): void {
  turn.emptyAnswers += 1;
  const error = filledText(objectOf(row['display_metadata'])['error']);
  if (kind === 'failed_turn' && error !== null) addPart(turn, row, { type: 'error', error });
  turn.outcome ??=
    error !== null
      ? 'error'
      : text.trim() === '(empty)'
        ? 'no_response'
        : kind === null && text === ''
          ? null
          : 'interrupted';
}

function callsOf(row: Json): ToolPart[] {
  const calls = typeof row['tool_calls'] === 'string' ? parseJson(row['tool_calls']) : row['tool_calls'];
  return listOf(calls)
    .filter(isObject)
    .map((call) => {
      const made = objectOf(call['function']);
      const args = made['arguments'] ?? call['args'];
      return tool(
        textOf(call['id']) ?? textOf(call['call_id']) ?? '',
        textOf(made['name']) ?? textOf(call['name']) ?? '',
        {
          args: typeof args === 'string' ? (parseJson(args) ?? args) : (args ?? null),
        },
      );
    });
}

function tool(callId: string, name: string, fields: Partial<ToolPart>): ToolPart {
  const empty = {
    status: 'running' as const,
    context: null,
    args: null,
    result: null,
    startedAt: null,
    endedAt: null,
  };
  return { type: 'tool', callId, name, ...empty, ...fields };
}

/** A result row closes its call; the projection of `session.resume` has tool rows without calls. */
function addResult(turn: StoredTurn, row: Json, text: string): void {
  const result = text === '' ? undefined : resultOf(text);
  const callId = filledText(row['tool_call_id']);
  const at = turn.parts.findLastIndex((part) => part.type === 'tool' && part.callId === callId);
  const call = turn.parts[at];
  if (callId !== null && isResultStub(text)) turn.stubs.push(callId);
  const status = statusOf(result, false, false);
  if (call?.type === 'tool') {
    turn.parts[at] = { ...call, status, result: result ?? null };
    if (status === 'completed') addArtifacts(turn.artifacts, filesOf({}, result, call.args, call));
    return;
  }
  const name = textOf(row['tool_name']) ?? textOf(row['name']) ?? '';
  const fields = {
    status,
    context: textOf(row['context']),
    args: row['args'] ?? null,
    result: result ?? null,
  };
  addPart(turn, row, tool(callId ?? `${name}#${turn.parts.length}`, name, fields));
}

/** Results are JSON; 0.14 puts a person's guidance behind it. */
function resultOf(text: string): unknown {
  return parseJson(text) ?? parseJson(text.slice(0, Math.max(0, text.indexOf('\n\n')))) ?? text;
}

/** Says what the rows prove: an answer after the last tool, or less. */
function close(turn: StoredTurn): void {
  for (const part of turn.parts) {
    if (part.type === 'tool' && part.status === 'running' && part.result === null)
      turn.dangling.push(part.callId);
  }
  const last = turn.parts.findLastIndex((part) => part.type !== 'reasoning');
  const answer = turn.parts[last];
  if (answer?.type !== 'text' || turn.outcome !== null || turn.emptyAnswers > 0) return;
  turn.parts[last] = { ...answer, role: 'final' };
  turn.final = answer.text;
  turn.outcome = 'completed';
}
