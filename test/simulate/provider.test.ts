import { afterEach, describe, expect, test } from 'vitest';

import { type Provider, scenarios, startProvider } from '../../src/simulate/index.ts';

/** The scripted model provider, asked as an engine asks it. */

let provider: Provider | null = null;
afterEach(async () => {
  await provider?.close();
  provider = null;
});

const start = async (options: Parameters<typeof startProvider>[0] = {}): Promise<Provider> => {
  provider = await startProvider(options);
  return provider;
};

interface Message {
  role: string;
  content: unknown;
}

const user = (content: string): Message => ({ role: 'user', content });
const toolResult: Message = { role: 'tool', content: '{"output":"hi"}' };
const tools = [{ type: 'function', function: { name: 'terminal', parameters: {} } }];

const post = (body: unknown, more: { signal?: AbortSignal } = {}): Promise<Response> =>
  fetch(`${provider?.url ?? ''}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...more,
  });

const ask = async (messages: Message[], more: Record<string, unknown> = {}): Promise<Completion> =>
  (await (await post({ model: 'scripted-1', messages, tools, ...more })).json()) as Completion;

interface Choice {
  finish_reason: string | null;
  message: { content: string; reasoning_content?: string; tool_calls?: { function: { name: string } }[] };
}
interface Completion {
  choices: Choice[];
  usage: { prompt_tokens: number } | null;
}
interface Chunk {
  choices: {
    delta: { content?: string; reasoning_content?: string; tool_calls?: unknown[] };
    finish_reason: string | null;
  }[];
}

const chunksOf = (text: string): Chunk[] =>
  text
    .split('\n\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as Chunk);

const streamed = async (messages: Message[]): Promise<{ text: string; ended: boolean }> => {
  const answer = await post({ messages, tools, stream: true });
  let text = '';
  try {
    for await (const piece of answer.body ?? []) text += Buffer.from(piece as Uint8Array).toString();
    return { text, ended: true };
  } catch {
    return { text, ended: false };
  }
};

describe('the scripted provider', () => {
  test('answers as JSON and as a stream, with the same words', async () => {
    await start();
    const whole = await ask([user('SCN:reason please')]);
    const { text } = await streamed([user('SCN:reason please')]);
    const deltas = chunksOf(text).map(({ choices }) => choices[0]?.delta ?? {});
    expect(deltas.map(({ content }) => content ?? '').join('')).toBe(whole.choices[0]?.message.content);
    expect(deltas.map(({ reasoning_content }) => reasoning_content ?? '').join('')).toBe(
      whole.choices[0]?.message.reasoning_content,
    );
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(whole.choices[0]?.finish_reason).toBe('stop');
  });

  test('calls a tool first and answers behind its result; a later prompt begins again', async () => {
    await start();
    const call = await ask([user('SCN:tool go')]);
    expect(call.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ function: { name: 'terminal' } }] },
    });
    const after = await ask([user('SCN:tool go'), toolResult]);
    expect(after.choices[0]?.message.tool_calls).toBeUndefined();
    const again = await ask([user('SCN:tool go'), toolResult, user('SCN:tool again')]);
    expect(again.choices[0]?.finish_reason).toBe('tool_calls');
  });

  test('the last marker of the newest marked prompt decides, whatever stands around it', async () => {
    await start();
    const merged = await ask([user('SCN:tool first\n\nSCN:plain n=2 second')]);
    expect(merged.choices[0]?.message.content).toBe('Hello from');
    const parts = [{ type: 'text', text: 'SCN:empty' }];
    const empty = await ask([{ role: 'user', content: parts }]);
    expect(empty.choices[0]?.message.content).toBe('');
  });

  test('knows the engine’s own questions, with and without tools', async () => {
    await start();
    const noTools = { tools: [] };
    const title = await ask([user('Write a title for: SCN:http code=500')], noTools);
    expect(title.choices[0]?.message.content).toBe('Scripted title');
    const summary = await ask([user('Summarize the conversation. SCN:tool')], noTools);
    expect(summary.choices[0]?.message.content).toContain('Summary');
    const limit = await ask([user("You've reached the maximum number of tool-calling iterations allowed.")]);
    expect(limit.choices[0]?.message.content).toContain('limit');
    expect(provider?.requests.map(({ purpose }) => purpose)).toEqual(['title', 'summary', 'limit']);
  });

  test.each([
    [400, 'maximum context length'],
    [401, 'Incorrect API key'],
    [429, 'Rate limit'],
    [500, 'had an error'],
  ])('fails with %i', async (code, words) => {
    await start();
    const answer = await post({ messages: [user(`SCN:http code=${code}`)], tools });
    expect(answer.status).toBe(code);
    expect(JSON.stringify(await answer.json())).toContain(words);
    expect(answer.headers.get('retry-after')).toBe(code === 429 ? '1' : null);
  });

  test('once= misbehaves once, wait= waits, pt= is the usage', async () => {
    await start();
    expect((await post({ messages: [user('SCN:http code=500 once=a')], tools })).status).toBe(500);
    expect((await post({ messages: [user('SCN:http code=500 once=a')], tools })).status).toBe(200);
    const began = performance.now();
    const { usage } = await ask([user('SCN:plain wait=120 pt=60000')]);
    expect(performance.now() - began).toBeGreaterThan(100);
    expect(usage?.prompt_tokens).toBe(60_000);
    expect((await ask([user('SCN:plain nousage=1')])).usage).toBeNull();
  });

  test('a reset is no end, a clean end without finish_reason is one', async () => {
    await start();
    const cut = await streamed([user('SCN:cut n=2')]);
    expect(cut.ended).toBe(false);
    const eof = await streamed([user('SCN:eof n=2')]);
    expect(eof.ended).toBe(true);
    expect(chunksOf(eof.text).every(({ choices }) => choices[0]?.finish_reason === null)).toBe(true);
    const inCall = await streamed([user('SCN:cut-tool')]);
    expect(inCall.ended).toBe(false);
  });

  test('an engine that hangs up ends the script', async () => {
    await start();
    const hangUp = new AbortController();
    const answer = await post(
      { messages: [user('SCN:slow n=1000 delay=50')], stream: true, tools },
      { signal: hangUp.signal },
    );
    hangUp.abort();
    await expect(answer.text()).rejects.toThrow();
    expect((await ask([user('SCN:plain')])).choices).toHaveLength(1);
  });

  test('every scenario answers something or ends on purpose', async () => {
    await start();
    const quick = scenarios.filter(({ name }) => !['slow', 'stall', 'http', 'long'].includes(name));
    for (const { name } of quick) {
      const { choices } = await ask([user(`SCN:${name}`)]);
      expect(choices, name).toHaveLength(1);
    }
    expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length);
  });

  test('remembers what was asked: counts prompts, finds texts', async () => {
    await start({ byDefault: 'http code=500' });
    const answer = await post({ messages: [user('no script here')], tools });
    expect(answer.status).toBe(500);
    await ask([user('SCN:tool one')]);
    await ask([user('SCN:tool one'), toolResult]);
    expect(provider?.promptCount('SCN:tool one')).toBe(1);
    expect(provider?.promptCount('no script here')).toBe(1);
    expect(provider?.wasSent('"output":"hi"')).toBe(true);
    expect(provider?.wasSent('HTTP 500')).toBe(false);
  });

  test('always= overrides every script, also for helper calls', async () => {
    await start({ always: 'http code=402' });
    expect((await post({ messages: [user('SCN:plain')], tools })).status).toBe(402);
    expect((await post({ messages: [user('a title, please')] })).status).toBe(402);
  });

  test('refuses what it does not know', async () => {
    const { url, port } = await start();
    expect(await fetch(`${url}/models`).then((answer) => answer.json())).toMatchObject({
      data: [{ id: 'scripted-1' }, { id: 'scripted-2' }],
    });
    expect((await fetch(`http://127.0.0.1:${port}/api/tags`)).status).toBe(404);
    const bad = await fetch(`${url}/chat/completions`, { method: 'POST', body: '{' });
    expect(bad.status).toBe(400);
  });
});
