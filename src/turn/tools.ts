import { filledText, isObject, listOf, numberOf, objectOf, parseJson, textOf, type Json } from './json.ts';
import { addTool, changeTool, lack, seal, toolOf, type TurnState } from './state.ts';
import type { ToolPart, ToolStatus } from './types.ts';

/** How much of a tool's arguments and result is kept, in characters of their JSON. */
export interface ToolOptions {
  valueLimit: number;
}

/** `tool.start`: opens a tool part. A call that is already there is not opened twice. */
export function startTool(state: TurnState, payload: Json, at: number | null, options: ToolOptions): void {
  seal(state);
  const name = textOf(payload['name']) ?? '';
  const callId = filledText(payload['tool_id']) ?? `${name}#${state.tools.size}`;
  if (state.announced > 0) state.announced -= 1;
  if (state.tools.has(callId)) return;
  addTool(state, {
    type: 'tool',
    callId,
    name,
    status: 'running',
    context: textOf(payload['context']),
    args: shorten(payload['args'], options.valueLimit),
    result: null,
    startedAt: at,
    endedAt: null,
  });
}

/** `tool.complete`: closes the part with the same id; without one the start was not seen, and the part is added now. */
export function completeTool(state: TurnState, payload: Json, at: number | null, options: ToolOptions): void {
  seal(state);
  const name = textOf(payload['name']) ?? '';
  const callId =
    filledText(payload['tool_id']) ?? runningByName(state, name) ?? `${name}#${state.tools.size}`;
  let tool = toolOf(state, callId);
  if (tool !== null && !state.openTools.has(callId)) return;
  if (tool === null) {
    const added: ToolPart = {
      type: 'tool',
      callId,
      name,
      status: 'running',
      context: textOf(payload['context']),
      args: null,
      result: null,
      startedAt: null,
      endedAt: null,
    };
    addTool(state, added);
    lack(state, 'tool-start');
    tool = added;
  }
  const result = resultOf(payload);
  const args = payload['args'] ?? tool.args;
  const status = statusOf(result, state.interruptSent, state.refused.has(callId));
  if (status === 'completed') addArtifacts(state.artifacts, filesOf(payload, result, args, tool));
  state.questions = state.questions.filter((question) => question.callId !== callId);
  state.openTools.delete(callId);
  changeTool(state, callId, {
    status,
    args: shorten(args, options.valueLimit),
    result: shorten(result, options.valueLimit),
    endedAt: at,
  });
}

function runningByName(state: TurnState, name: string): string | null {
  for (const callId of state.openTools) if (callId.startsWith(`${name}#`)) return callId;
  return null;
}

/** The result of a `tool.complete`; undefined when the engine sends none (0.14.0). */
function resultOf(payload: Json): unknown {
  if (payload['result'] !== undefined) return payload['result'];
  const text = textOf(payload['result_text']);
  return text === null ? undefined : (parseJson(text) ?? text);
}

/** Status by what the result says; engines have no status field. `stopped`: the client had sent an interrupt in this turn. */
export function statusOf(result: unknown, stopped: boolean, refused: boolean): ToolStatus {
  const fields = objectOf(result);
  const output = textOf(result) ?? textOf(fields['output']) ?? '';
  const exit = exitCode(fields);
  if (exit === 130 || output.trimEnd().endsWith('[Command interrupted]')) return 'cancelled';
  const error = errorText(fields['error']);
  const failed = error !== null || fields['success'] === false || (exit !== null && exit !== 0);
  if (stopped && (failed || result === undefined || result === null)) return 'cancelled';
  if (refused || (error !== null && error.startsWith('BLOCKED'))) return 'denied';
  if (failed) return 'failed';
  return fields['status'] === 'yielded_to_background' ? 'running' : 'completed';
}

function exitCode(fields: Json): number | null {
  const code = fields['exit_code'];
  return typeof code === 'string' && /^-?\d+$/.test(code) ? Number(code) : numberOf(code);
}

function errorText(error: unknown): string | null {
  if (error === null || error === undefined || error === false || error === '') return null;
  return typeof error === 'string' ? error : (JSON.stringify(error) ?? '');
}

/** Files that a successful call created or changed. */
export function filesOf(payload: Json, result: unknown, args: unknown, tool: ToolPart): string[] {
  const modified = listOf(objectOf(result)['files_modified']).filter((path) => typeof path === 'string');
  if (modified.length > 0) return modified;
  if (tool.name !== 'write_file' && tool.name !== 'patch') return [];
  const path = filledText(objectOf(args)['path']);
  if (path !== null) return [path];
  const hasDiff = result === undefined && filledText(payload['inline_diff']) !== null;
  return hasDiff && tool.context !== null ? [tool.context] : [];
}

export function addArtifacts(artifacts: string[], files: readonly string[]): void {
  for (const file of files) if (!artifacts.includes(file)) artifacts.push(file);
}

/** The value itself when it is small enough; else with its long texts cut, or the beginning of its JSON. */
export function shorten(value: unknown, limit: number): unknown {
  if (value === undefined || value === null) return null;
  if (limit === Infinity || sizeOf(value) <= limit) return value;
  if (typeof value === 'string') return `${value.slice(0, limit)}…`;
  if (isObject(value)) {
    const cut = Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, cutText(one, limit >> 2)]),
    );
    if (sizeOf(cut) <= limit) return cut;
  }
  return `${(JSON.stringify(value) ?? '').slice(0, limit)}…`;
}

function sizeOf(value: unknown): number {
  return typeof value === 'string' ? value.length : (JSON.stringify(value) ?? '').length;
}

function cutText(value: unknown, limit: number): unknown {
  return typeof value === 'string' && value.length > limit ? `${value.slice(0, limit)}…` : value;
}
