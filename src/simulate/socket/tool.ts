import { setTimeout as pause } from 'node:timers/promises';
import type { ToolCall } from '../provider/answer.ts';
import { since } from '../release/since.ts';
import type { Release } from '../release/types.ts';
import { askApproval, askChoice } from './ask.ts';
import { emit } from './hub.ts';
import { addRow } from './run.ts';
import type { Run } from './run.ts';

/** Tools that only pretend to run: they echo, take their time, ask for approval, and find no file. */

type Json = Record<string, unknown>;

/** Names that the stand-in knows; real engines know more. */
export const knownTools: readonly string[] = [
  'terminal',
  'read_file',
  'write_file',
  'clarify',
  'delegate_task',
];

/** What `echo TEXT` and `yes TEXT | head -c BYTES` print; nothing else is known here. */
const printed = (command: string): string => {
  const [, line, bytes] = /^yes (\S+) \| head -c (\d+)$/.exec(command) ?? [];
  if (line !== undefined)
    return `${line}\n`.repeat(Math.ceil(Number(bytes) / (line.length + 1))).slice(0, Number(bytes));
  return /echo ([^;]*)$/.exec(command)?.[1] ?? '';
};

const mostStored = 40_000;

/** From 0.18.2 a large result is kept in a file, and its row tells where. */
const stored = (release: Release, id: string, content: string): string =>
  content.length < mostStored || !since(release, '0.18.2')
    ? content
    : `<persisted-output>\nThis tool result was too large (${content.length.toLocaleString('en')} characters, ${(content.length / 1024).toFixed(1)} KB).\nFull output saved to: /tmp/hermes-results/${id}.txt\n</persisted-output>`;

const isDangerous = (command: string): boolean => command.startsWith('rm -rf');

const pretend = async ({ hub, session, turn }: Run, { name, arguments: args }: ToolCall): Promise<Json> => {
  const { signal } = turn.stop;
  if (typeof args === 'string') return { error: 'the arguments are not JSON' };
  if (name === 'read_file') return { error: `File not found: ${String(args['path'])}` };
  if (name === 'write_file') return { success: true, files_modified: [args['path']] };
  if (name === 'clarify')
    return askChoice(hub, session, String(args['question']), args['choices'] as string[], signal);
  if (name === 'delegate_task') return { results: [{ status: 'completed', summary: 'The child is done.' }] };
  const command = String(args['command']);
  if (isDangerous(command)) return askApproval(hub, session, command, signal);
  const seconds = /^sleep ([\d.]+)/.exec(command)?.[1];
  if (seconds !== undefined) await pause(Number(seconds) * 1000, undefined, { signal });
  return { output: printed(command), exit_code: 0, error: null };
};

const interrupted: Json = { output: '[Command interrupted]', exit_code: 130 };

/** Sends the start and the end of one call, and stores its result. @throws when the turn was stopped meanwhile, after its end was sent */
export const runTool = async (run: Run, call: ToolCall, id: string): Promise<void> => {
  const { hub, session } = run;
  const { release } = hub.world;
  const args = typeof call.arguments === 'string' ? {} : call.arguments;
  const context = JSON.stringify(args).slice(0, 80);
  const began = Date.now();
  if (!since(release, '0.16.0')) emit(hub, session, 'tool.progress', { name: call.name, preview: context });
  const start = { tool_id: id, name: call.name, context };
  emit(hub, session, 'tool.start', { ...start, ...(since(release, '0.21.0') && { args }) });
  const ended = (result: Json): void => {
    emit(hub, session, 'tool.complete', {
      tool_id: id,
      name: call.name,
      ...(since(release, '0.16.0') && { args }),
      duration_s: (Date.now() - began) / 1000,
      ...(since(release, '0.16.0') && { result }),
    });
    addRow(session, {
      role: 'tool',
      content: stored(release, id, JSON.stringify(result)),
      callId: id,
      tool: call.name,
    });
  };
  try {
    ended(await pretend(run, call));
  } catch (error) {
    ended(interrupted);
    throw error;
  }
};
