import { setTimeout as pause } from 'node:timers/promises';
import { answer } from '../provider/answer.ts';
import type { Answer } from '../provider/answer.ts';
import { choose } from '../provider/request.ts';
import { since } from '../release/since.ts';
import type { Session, Turn } from '../world.ts';
import { announceChange, emit } from './hub.ts';
import type { Hub } from './hub.ts';
import { fullInfo, usageOf } from './info.ts';
import { addRow } from './run.ts';
import type { Run } from './run.ts';
import { knownTools, runTool } from './tool.ts';

/**
 * A turn of the stand-in: the events of a real one, with what the scripted provider would say (`SCN:` words work in prompts) and tools that
 * only pretend to run.
 */

const mostStages = 90;

const speak = async ({ hub, session, turn }: Run, type: string, pieces: string[], delay: number) => {
  for (const text of pieces) {
    await pause(Math.max(1, delay), undefined, { signal: turn.stop.signal });
    emit(hub, session, type, { text });
  }
};

const stream = async (run: Run, answer: Answer): Promise<string> => {
  const { hub, session, turn } = run;
  emit(hub, session, 'thinking.delta', { text: '(simulated) pondering...' });
  await pause(1, undefined, { signal: turn.stop.signal });
  emit(hub, session, 'thinking.delta', { text: '' });
  await speak(run, 'reasoning.delta', answer.reasoning, answer.delayMs);
  if (answer.reasoning.length > 0) run.reasoning = answer.reasoning.join('');
  for (const [at, piece] of answer.text.entries()) {
    const text = at === 0 && run.afterTool ? `\n\n${piece}` : piece;
    await pause(Math.max(1, answer.delayMs), undefined, { signal: turn.stop.signal });
    turn.text += text;
    emit(hub, session, 'message.delta', { text });
  }
  return answer.text.join('');
};

const callTools = async (run: Run, answer: Answer, text: string, stage: number): Promise<void> => {
  const { hub, session } = run;
  const ids = answer.calls.map((_, at) => `call_${session.id}_${session.rows.length}_${stage}_${at}`);
  for (const { name } of answer.calls) emit(hub, session, 'tool.generating', { name });
  if (text !== '') emit(hub, session, 'reasoning.available', { text: text.slice(0, 500) });
  if (text !== '' && since(hub.world.release, '0.19.0'))
    emit(hub, session, 'message.interim', { text, already_streamed: true });
  const calls = answer.calls.map((call, at) => ({
    id: ids[at],
    type: 'function',
    function: { name: call.name, arguments: JSON.stringify(call.arguments) },
  }));
  const reasoning = answer.reasoning.join('');
  addRow(session, { role: 'assistant', content: text, calls, ...(reasoning !== '' && { reasoning }) });
  for (const [at, call] of answer.calls.entries()) {
    // A tool that does not exist is told to the model only.
    if (!knownTools.includes(call.name)) continue;
    await runTool(run, call, ids[at] ?? '');
    run.afterTool = true;
  }
};

const noReply = (hub: Hub): string =>
  since(hub.world.release, '0.16.0') ? '⚠️ No reply: the model returned empty content.' : '(empty)';

type Status = 'complete' | 'interrupted' | 'error';

/** Which stored rows belong to the turn, in the newest release. */
const persisted = ({ hub, session, firstRow }: Run, status: Status): Record<string, unknown> => {
  if (!since(hub.world.release, '0.22.2')) return {};
  const rows = session.rows.slice(firstRow);
  const final = rows.at(-1);
  const whole = status === 'complete' && final !== undefined ? { final_assistant_row_id: final.id } : {};
  return {
    persisted_turn: {
      row_ids: rows.map(({ id }) => id),
      complete: status === 'complete',
      user_row_id: rows[0]?.id ?? null,
      ...whole,
    },
  };
};

const complete = (
  run: Run,
  text: string | null,
  status: Status,
  more: Record<string, unknown> = {},
): void => {
  const { hub, session } = run;
  const reasoning = status === 'complete' && run.reasoning !== '' ? { reasoning: run.reasoning } : {};
  const usage = usageOf(hub.world, session);
  emit(hub, session, 'message.complete', {
    text,
    usage,
    status,
    ...reasoning,
    ...persisted(run, status),
    ...more,
  });
};

/** What newer releases say about a failure besides the text. */
const surface = ({ hub }: Run, status: number, error: string): Record<string, unknown> => {
  if (!since(hub.world.release, '0.20.0')) return {};
  if (!since(hub.world.release, '0.21.0')) return { error, recoverable: true };
  const code =
    { 400: 'format_error', 401: 'auth', 402: 'billing', 429: 'rate_limit' }[status] ?? 'server_error';
  const retryable = status === 429 || status >= 500;
  return { error, recoverable: true, error_surface: { layer: 'provider', code, retryable } };
};

/** `status`: what the provider answered; 0 for failures of the engine's own. */
const fail = (run: Run, status: number, text: string): void => {
  emit(run.hub, run.session, 'status.update', { kind: 'lifecycle', text: `❌ ${text}` });
  const shown = since(run.hub.world.release, '0.18.2') ? text : `Error: ${text}`;
  complete(run, shown, 'error', surface(run, status, text));
};

const finish = (run: Run, answer: Answer, text: string): void => {
  const { hub, session } = run;
  if (text === '')
    emit(hub, session, 'status.update', { kind: 'lifecycle', text: '❌ Model returned no content' });
  else emit(hub, session, 'reasoning.available', { text: text.slice(0, 500) });
  const reasoning = answer.reasoning.join('');
  addRow(session, {
    role: 'assistant',
    content: text === '' ? '(empty)' : text,
    ...(reasoning !== '' && { reasoning }),
  });
  complete(run, text === '' ? noReply(hub) : text, 'complete');
};

/** Why the calls of an answer cannot be made; an unknown tool is tried three times. */
const invalidCall = ({ calls }: Answer, stage: number): string | null => {
  if (calls.some((call) => typeof call.arguments === 'string'))
    return 'Response truncated due to output length limit';
  const strange = calls.find(({ name }) => !knownTools.includes(name));
  return strange === undefined || stage < 2 ? null : `Model generated invalid tool call: ${strange.name}`;
};

/** The model may call tools once more or not at all: then it sums up. */
const reachLimit = async (run: Run): Promise<void> => {
  const budget = `⚠️ Iteration budget exhausted (${mostStages}/${mostStages}) — asking model to summarise`;
  emit(run.hub, run.session, 'status.update', { kind: 'lifecycle', text: budget });
  const summary = answer({ text: ['I stopped at the limit. ', 'Until here: a tool ran.'] });
  finish(run, summary, await stream(run, summary));
};

const stages = async (run: Run): Promise<void> => {
  const prompt = { role: 'user', text: run.turn.prompt, image: false };
  for (let stage = 0; stage < mostStages; stage += 1) {
    const results = Array.from({ length: stage }, () => ({ role: 'tool', text: '', image: false }));
    const request = { model: '', stream: true, tools: 1, messages: [prompt, ...results] };
    const { answer } = choose(request, 'plain', null);
    const { ending } = answer;
    if (ending.kind === 'http') return fail(run, ending.status, `HTTP ${ending.status}: ${ending.message}`);
    const text = await stream(run, answer);
    if (answer.calls.length === 0) return finish(run, answer, text);
    const invalid = invalidCall(answer, stage);
    if (invalid !== null) return fail(run, 0, invalid);
    await callTools(run, answer, text, stage);
  }
  await reachLimit(run);
};

/** A prompt that came while text was streamed: the same turn goes on with it, without another start. */
const redirected = async (run: Run, prompt: string): Promise<void> => {
  const { session, turn } = run;
  if (turn.text !== '') addRow(session, { role: 'assistant', content: turn.text });
  addRow(session, { role: 'user', content: prompt });
  Object.assign(turn, { prompt, text: '', stop: new AbortController(), next: null });
  await settle(run);
};

const interrupted = (run: Run): void => {
  const { text } = run.turn;
  const keeps = since(run.hub.world.release, '0.18.2');
  if (keeps && text !== '') addRow(run.session, { role: 'assistant', content: text });
  complete(run, keeps ? text || null : 'Operation interrupted: waiting for model response.', 'interrupted');
};

const settle = async (run: Run): Promise<void> => {
  try {
    await stages(run);
  } catch {
    const { next } = run.turn;
    if (next === null) interrupted(run);
    else await redirected(run, next);
  }
};

/** Runs one turn to its end; never rejects. */
export const runTurn = async (hub: Hub, session: Session, prompt: string): Promise<void> => {
  const turn: Turn = { prompt, text: '', stop: new AbortController(), next: null, queued: null };
  const firstRow = session.rows.length;
  const run: Run = { hub, session, turn, afterTool: false, reasoning: '', firstRow };
  session.turn = turn;
  const first = firstRow === 0;
  if (first) emit(hub, session, 'session.info', fullInfo(hub.world, true));
  emit(hub, session, 'message.start');
  addRow(session, { role: 'user', content: prompt });
  if (first) announceChange(hub);
  await settle(run);
  session.turn = null;
  session.lastActive = Date.now();
  if (session.title === '') session.title = prompt.slice(0, 40);
  if (since(hub.world.release, '0.16.0')) emit(hub, session, 'session.info', fullInfo(hub.world, false));
  if (turn.queued !== null) await runTurn(hub, session, turn.queued);
};
