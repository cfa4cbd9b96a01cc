import { setTimeout as pause } from 'node:timers/promises';
import { answer } from '../provider/answer.ts';
import type { Answer } from '../provider/answer.ts';
import { choose, promptTokens } from '../provider/request.ts';
import { since } from '../release/since.ts';
import type { Session, Turn } from '../world.ts';
import { announceChange, emit } from './hub.ts';
import type { Hub } from './hub.ts';
import { fullInfo } from './info.ts';
import { withAttached } from './attach.ts';
import { compactWhenFull, rotateWhenCompacted } from './compaction.ts';
import { addRow } from './run.ts';
import type { Run } from './run.ts';
import { knownTools, runTool } from './tool.ts';
import { fail, finish, interrupted } from './turn-end.ts';

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

/** Why the calls of an answer cannot be made; an unknown tool is tried three times. */
const invalidCall = ({ calls }: Answer, stage: number): string | null => {
  if (calls.some((call) => typeof call.arguments === 'string'))
    return 'Response truncated due to output length limit';
  const strange = calls.find(({ name }) => !knownTools.includes(name));
  return strange === undefined || stage < 2 ? null : `Model generated invalid tool call: ${strange.name}`;
};

const atLimit =
  "You've reached the maximum number of tool-calling iterations allowed. Please provide a final response summarizing what you've found and accomplished so far, without calling any more tools.";

/** The model may call tools once more or not at all: then it sums up. */
const reachLimit = async (run: Run): Promise<void> => {
  const budget = `⚠️ Iteration budget exhausted (${mostStages}/${mostStages}) — asking model to summarise`;
  emit(run.hub, run.session, 'status.update', { kind: 'lifecycle', text: budget });
  addRow(run.session, { role: 'user', content: atLimit });
  const summary = answer({ text: ['I stopped at the limit. ', 'Until here: a tool ran.'] });
  finish(run, summary, await stream(run, summary));
};

const stages = async (run: Run): Promise<void> => {
  const prompt = { role: 'user', text: run.turn.prompt, image: false };
  for (let stage = 0; stage < mostStages; stage += 1) {
    const results = Array.from({ length: stage }, () => ({ role: 'tool', text: '', image: false }));
    const request = { model: '', stream: true, tools: 1, messages: [prompt, ...results] };
    const chosen = choose(request, 'plain', null);
    const { answer } = chosen;
    const { ending } = answer;
    if (ending.kind === 'http') return fail(run, ending.status, `HTTP ${ending.status}: ${ending.message}`);
    const text = await stream(run, answer);
    if (answer.calls.length === 0) return finish(run, answer, text);
    const invalid = invalidCall(answer, stage);
    if (invalid !== null) return fail(run, 0, invalid);
    await callTools(run, answer, text, stage);
    compactWhenFull(run, promptTokens(chosen, request.messages) ?? 0);
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
  const run: Run = { hub, session, turn, afterTool: false, reasoning: '', firstRow, compacted: false };
  session.turn = turn;
  const first = firstRow === 0;
  if (first) emit(hub, session, 'session.info', fullInfo(hub.world, true));
  emit(hub, session, 'message.start');
  // Up to 0.16 a prompt after one without an answer is joined to that one and never stored.
  const joined = session.rows.at(-1)?.role === 'user' && !since(hub.world.release, '0.17.0');
  if (!joined) addRow(session, { role: 'user', content: withAttached(hub.world.release, session, prompt) });
  if (first) announceChange(hub);
  await settle(run);
  session.turn = null;
  rotateWhenCompacted(run);
  session.lastActive = Date.now();
  if (session.title === '') session.title = prompt.slice(0, 40);
  if (since(hub.world.release, '0.16.0')) emit(hub, session, 'session.info', fullInfo(hub.world, false));
  if (turn.queued !== null) await runTurn(hub, session, turn.queued);
};
