import { answer } from './answer.ts';
import type { Answer } from './answer.ts';
import { scenarios } from './scenarios.ts';
import type { Options } from './scenarios.ts';

/** One message of a chat completion request, as far as it matters here. */
export interface Message {
  role: string;
  text: string;
  /** The content holds an image part. */
  image: boolean;
}

export interface ModelRequest {
  model: string;
  stream: boolean;
  tools: number;
  messages: Message[];
}

/** What the engine wants from this request. All but `turn` are its own helper calls. */
export type Purpose = 'turn' | 'title' | 'summary' | 'limit' | 'image' | 'approval';

export interface Chosen {
  purpose: Purpose;
  scenario: string;
  options: Options;
  stage: number;
  answer: Answer;
}

const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const message = (value: unknown): Message => {
  const { role, content } = record(value);
  const parts = list(content).map(record);
  return {
    role: typeof role === 'string' ? role : '',
    text:
      typeof content === 'string'
        ? content
        : parts
            .map((part) => part['text'])
            .filter((text) => typeof text === 'string')
            .join('\n'),
    image: parts.some((part) => part['type'] === 'image_url' || part['type'] === 'input_image'),
  };
};

/** Reads the body of `POST /v1/chat/completions`; wrong types count as absent. */
export const parseRequest = (body: unknown): ModelRequest => {
  const { model, stream, tools, messages } = record(body);
  return {
    model: typeof model === 'string' ? model : 'scripted-1',
    stream: stream === true,
    tools: list(tools).length,
    messages: list(messages).map(message),
  };
};

const purposeOf = (request: ModelRequest): Purpose => {
  const last = request.messages.at(-1);
  // Newer engines leave the tools in this request, so it is asked first.
  if (last?.text.toLowerCase().includes('tool-calling iterations') === true) return 'limit';
  if (request.tools > 0) return 'turn';
  const system = request.messages.filter((m) => m.role === 'system').map((m) => m.text);
  const asked = `${system.join(' ').slice(0, 4000)} ${last?.text.slice(0, 3000) ?? ''}`.toLowerCase();
  if (last?.image === true) return 'image';
  if (asked.includes('approve') && asked.includes('escalate')) return 'approval';
  if (asked.slice(0, 3000).includes('title')) return 'title';
  return asked.includes('summar') || asked.includes('compact') ? 'summary' : 'turn';
};

const helperAnswers: Record<Exclude<Purpose, 'turn'>, string[]> = {
  title: ['Scripted title'],
  summary: ['## Summary\nThe user ran scripted scenarios. Nothing is open.'],
  limit: ['I stopped at the limit. ', 'Until here: a tool ran.'],
  image: ['A small test image.'],
  approval: ['ESCALATE'],
};

const marker = /SCN:([a-z0-9-]+)((?:\s+[a-z]+=[^\s\]]+)*)/gi;

const optionsOf = (words: string): Options =>
  Object.fromEntries(
    words
      .split(/\s+/)
      .filter((word) => word.includes('='))
      .map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)] as const),
  );

/** The newest marked user message decides, in it the last marker: some engines merge two prompts into one message. */
const marked = (messages: Message[]): { name: string; options: Options; stage: number } | null => {
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const found =
      messages[at]?.role === 'user' ? [...(messages[at]?.text ?? '').matchAll(marker)].at(-1) : undefined;
    if (found === undefined) continue;
    const stage = messages.slice(at + 1).filter((m) => m.role === 'tool').length;
    return { name: (found[1] ?? '').toLowerCase(), options: optionsOf(found[2] ?? ''), stage };
  }
  return null;
};

/**
 * What to answer. `byDefault` ("plain", "http code=500") is for prompts without a marker; `always` overrides every marker.
 */
export const choose = (request: ModelRequest, byDefault: string, always: string | null): Chosen => {
  const purpose = purposeOf(request);
  const forced = always === null ? null : marked([{ role: 'user', text: `SCN:${always}`, image: false }]);
  if (purpose !== 'turn' && forced === null) {
    const text = helperAnswers[purpose];
    return { purpose, scenario: purpose, options: {}, stage: 0, answer: answer({ text }) };
  }
  const asked = marked(request.messages);
  const fallback = marked([{ role: 'user', text: `SCN:${byDefault}`, image: false }]);
  const { name, options, stage } = forced ?? asked ?? fallback ?? { name: 'plain', options: {}, stage: 0 };
  const scenario = scenarios.find((known) => known.name === name) ?? scenarios[0];
  if (scenario === undefined) throw new Error('no scenarios');
  return { purpose, scenario: scenario.name, options, stage, answer: scenario.answer(options, stage) };
};

/** Tokens that the request is said to have taken; null: nothing is said. Big numbers make an engine compact its history; the real length of the texts never would. */
export const promptTokens = (chosen: Chosen, messages: Message[]): number | null => {
  const { options, scenario, stage } = chosen;
  const given = (key: string, fallback: number): number => Number(options[key] ?? fallback);
  if (options['nousage'] !== undefined) return null;
  if (options['pt'] !== undefined) return given('pt', 0);
  if (scenario === 'grow') return given('base', 20_000) + stage * given('step', 12_000);
  return Math.max(50, Math.floor(JSON.stringify(messages).length / 4));
};
