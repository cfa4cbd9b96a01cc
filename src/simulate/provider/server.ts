import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { sendCompletion, sendJson } from './completion.ts';
import { choose, parseRequest, promptTokens } from './request.ts';
import type { Chosen, Message, Purpose } from './request.ts';

/** One request that the provider got, for assertions: what was asked, and every text that was sent to the model. */
export interface ProviderRequest {
  at: number;
  purpose: Purpose;
  scenario: string;
  stage: number;
  model: string;
  stream: boolean;
  tools: number;
  messages: Message[];
}

export interface ProviderOptions {
  /** 0 or absent: a free one. */
  port?: number;
  /** Scenario of a prompt without a marker, with its options: `plain`, `http code=500`. */
  byDefault?: string;
  /** Scenario of every prompt, whatever it asks for. */
  always?: string;
  /** Names at `GET /v1/models`. */
  models?: string[];
  onRequest?: (request: ProviderRequest) => void;
}

export interface Provider {
  /** Base URL for the engine's `model.base_url`. */
  url: string;
  port: number;
  /** All requests so far, oldest first. */
  requests: readonly ProviderRequest[];
  /** Model calls that begin a turn with this prompt (it is the last message). Retries count again; tool rounds and helper calls do not. */
  promptCount: (text: string) => number;
  /** Whether any message of any request held this text. */
  wasSent: (text: string) => boolean;
  close: () => Promise<void>;
}

const maxBody = 64 * 1024 * 1024;

const readBody = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBody) throw new Error('too large');
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
};

interface State {
  options: ProviderOptions;
  requests: ProviderRequest[];
  /** Values of `once=` that have misbehaved already. */
  spent: Set<string>;
}

const decide = (state: State, body: unknown): { chosen: Chosen; request: ProviderRequest } => {
  const { byDefault = 'plain', always = null } = state.options;
  const parsed = parseRequest(body);
  let chosen = choose(parsed, byDefault, always);
  const { purpose, scenario, stage } = chosen;
  const once = chosen.options['once'];
  if (once !== undefined && state.spent.has(once)) chosen = { ...choose(parsed, 'plain', 'plain'), purpose };
  else if (once !== undefined) state.spent.add(once);
  return { chosen, request: { at: Date.now(), purpose, scenario, stage, ...parsed } };
};

const complete = async (state: State, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  let body: unknown;
  try {
    body = await readBody(request);
  } catch {
    sendJson(response, 400, { error: { message: 'the body is not JSON' } });
    return;
  }
  const { chosen, request: seen } = decide(state, body);
  state.requests.push(seen);
  state.options.onRequest?.(seen);
  const wait = Number(chosen.options['wait'] ?? 0);
  if (wait > 0) await pause(wait, undefined, { signal: gone.signal });
  const id = `scripted${String(Date.now() % 1e9).padStart(9, '0')}`;
  const tokens = promptTokens(chosen, seen.messages);
  const completion = {
    id,
    model: seen.model,
    answer: chosen.answer,
    promptTokens: tokens,
    signal: gone.signal,
  };
  await sendCompletion(response, completion, seen.stream);
};

const handle = async (state: State, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const path = new URL(request.url ?? '/', 'http://provider').pathname.replace(/\/+$/, '');
  if (request.method === 'POST' && path.endsWith('/chat/completions'))
    await complete(state, request, response);
  else if (request.method === 'GET' && path.endsWith('/v1/models')) {
    const models = state.options.models ?? ['scripted-1', 'scripted-2'];
    sendJson(response, 200, { object: 'list', data: models.map((id) => ({ id, object: 'model' })) });
  } else sendJson(response, 404, { error: { message: 'not found' } });
};

const promptCount = (requests: readonly ProviderRequest[], text: string): number =>
  requests.filter((request) => {
    const last = request.messages.at(-1);
    return request.purpose === 'turn' && last?.role === 'user' && last.text.includes(text);
  }).length;

/** A model provider on loopback whose answers are scripted by `SCN:<scenario> key=value` in the prompt. Speaks OpenAI chat completions. */
export const startProvider = async (options: ProviderOptions = {}): Promise<Provider> => {
  const state: State = { options, requests: [], spent: new Set() };
  const server = createServer((request, response) => {
    handle(state, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    port,
    requests: state.requests,
    promptCount: (text) => promptCount(state.requests, text),
    wasSent: (text) => state.requests.some((request) => request.messages.some((m) => m.text.includes(text))),
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};
