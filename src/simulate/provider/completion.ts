import { setTimeout as pause } from 'node:timers/promises';
import type { ServerResponse } from 'node:http';
import type { Answer } from './answer.ts';

/** Puts an answer on the wire as an OpenAI chat completion: one JSON document, or server-sent events. */

interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

export interface Completion {
  id: string;
  model: string;
  answer: Answer;
  /** Null: the provider gives no usage. */
  promptTokens: number | null;
  /** Ends pauses when the engine hangs up. */
  signal: AbortSignal;
}

interface WireCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

const wireCalls = ({ id, answer }: Completion): WireCall[] =>
  answer.calls.map((call, index) => ({
    id: `call_${id.slice(-6)}_${index}`,
    type: 'function',
    function: {
      name: call.name,
      arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
    },
  }));

const usageOf = ({ answer, promptTokens }: Completion): Usage | null => {
  if (promptTokens === null) return null;
  const written = [...answer.reasoning, ...answer.text].join('').length;
  const completion = Math.floor(written / 4) + 20 * answer.calls.length + 1;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completion,
    total_tokens: promptTokens + completion,
  };
};

const finishOf = (answer: Answer): string =>
  answer.finish ?? (answer.calls.length > 0 ? 'tool_calls' : 'stop');

export const sendJson = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void => {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': bytes.length,
    ...headers,
  });
  response.end(bytes);
};

const sendWhole = (response: ServerResponse, completion: Completion): void => {
  const { answer, id, model } = completion;
  const calls = wireCalls(completion);
  const message = {
    role: 'assistant',
    content: answer.text.join(''),
    ...(answer.reasoning.length > 0 && { reasoning_content: answer.reasoning.join('') }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  const choices = [{ index: 0, message, finish_reason: finishOf(answer) }];
  sendJson(response, 200, {
    id,
    object: 'chat.completion',
    created: 1,
    model,
    usage: usageOf(completion),
    choices,
  });
};

const flushMs = 50;

/** Resets the connection: the engine sees a network error instead of an end, after what was sent before. */
const reset = async (response: ServerResponse): Promise<void> => {
  await pause(flushMs);
  response.socket?.resetAndDestroy();
};

type Chunk = (delta: Record<string, unknown>, finish?: string, usage?: Usage | null) => void;

const chunkWriter =
  (response: ServerResponse, { id, model }: Completion): Chunk =>
  (delta, finish, usage) => {
    const choices = [{ index: 0, delta, finish_reason: finish ?? null }];
    const body = { id, object: 'chat.completion.chunk', created: 1, model, choices };
    response.write(`data: ${JSON.stringify(usage ? { ...body, usage } : body)}\n\n`);
  };

/** Sends reasoning and text; true when the script ended the connection before all were sent. */
const sendPieces = async (
  response: ServerResponse,
  chunk: Chunk,
  completion: Completion,
): Promise<boolean> => {
  const { answer, signal } = completion;
  const pieces = [
    ...answer.reasoning.map((piece) => ({ reasoning_content: piece })),
    ...answer.text.map((piece) => ({ content: piece })),
  ];
  for (const [sent, piece] of pieces.entries()) {
    const { ending } = answer;
    if ('after' in ending && sent >= ending.after) {
      if (ending.kind === 'stall') await pause(ending.ms, undefined, { signal });
      if (ending.kind === 'clean-end') response.end();
      else await reset(response);
      return true;
    }
    if (answer.delayMs > 0) await pause(answer.delayMs, undefined, { signal });
    chunk(piece);
  }
  return false;
};

/** Each call comes in two halves, as providers do; true when the script reset the connection between them. */
const sendCalls = async (
  response: ServerResponse,
  chunk: Chunk,
  completion: Completion,
): Promise<boolean> => {
  for (const [index, call] of wireCalls(completion).entries()) {
    const { name, arguments: text } = call.function;
    const half = Math.max(1, Math.floor(text.length / 2));
    const first = { name, arguments: text.slice(0, half) };
    chunk({ tool_calls: [{ index, id: call.id, type: 'function', function: first }] });
    if (completion.answer.ending.kind === 'reset-in-arguments') {
      await reset(response);
      return true;
    }
    chunk({ tool_calls: [{ index, function: { arguments: text.slice(half) } }] });
  }
  return false;
};

const sendStream = async (response: ServerResponse, completion: Completion): Promise<void> => {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const chunk = chunkWriter(response, completion);
  chunk({ role: 'assistant', content: '' });
  if (await sendPieces(response, chunk, completion)) return;
  if (await sendCalls(response, chunk, completion)) return;
  chunk({}, finishOf(completion.answer), usageOf(completion));
  response.end('data: [DONE]\n\n');
};

/** Answers one request. Rejects with an AbortError when the engine hung up in between. */
export const sendCompletion = async (
  response: ServerResponse,
  completion: Completion,
  stream: boolean,
): Promise<void> => {
  const { ending } = completion.answer;
  if (ending.kind === 'http') {
    const error = { message: ending.message, type: 'scripted_error', code: ending.code };
    sendJson(response, ending.status, { error }, ending.status === 429 ? { 'retry-after': '1' } : {});
  } else if (stream) await sendStream(response, completion);
  else sendWhole(response, completion);
};
