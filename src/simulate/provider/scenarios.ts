import { answer } from './answer.ts';
import type { Answer, ToolCall } from './answer.ts';

/** Words `key=value` behind the marker. */
export type Options = Readonly<Record<string, string>>;

/**
 * One way in which the scripted model behaves. `stage` counts the tool results that stand behind the marked prompt, so that a scenario can
 * call a tool first and answer then.
 */
export interface Scenario {
  name: string;
  says: string;
  answer: (options: Options, stage: number) => Answer;
}

const number = (options: Options, key: string, fallback: number): number => {
  const value = Number(options[key]);
  return options[key] === undefined || !Number.isFinite(value) ? fallback : value;
};
const spaced = (text: string): string => text.replaceAll('_', ' ');
const shell = (command: string, more: Record<string, unknown> = {}): ToolCall => ({
  name: 'terminal',
  arguments: { command, ...more },
});
const readFile = (path: string): ToolCall => ({ name: 'read_file', arguments: { path } });
const echo = (options: Options): ToolCall => shell(spaced(options['cmd'] ?? 'echo_hi'));

const hello = ['Hello', ' from', ' the', ' scripted', ' model.'];
const thoughts = ['First a thought. ', 'Then a second one. ', 'Now it is clear.'];
const afterTool = answer({ text: ['The tool ', 'ran and ', 'printed hi.'] });
const once = (stage: number, first: Partial<Answer>, then: Answer = afterTool): Answer =>
  stage === 0 ? answer(first) : then;
const repeated = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => hello[i % hello.length] ?? '');

/** Standard sentences of providers, because engines read them. */
const errorText: Record<number, string> = {
  400: "This model's maximum context length is 65536 tokens. However, your messages resulted in 99999 tokens.",
  401: 'Incorrect API key provided.',
  402: 'Insufficient credits.',
  429: 'Rate limit reached for requests.',
};
const httpError = (options: Options): Answer => {
  const status = number(options, 'code', 500);
  const own = options['msg'];
  const message = own === undefined ? (errorText[status] ?? 'The server had an error.') : spaced(own);
  const code = status === 400 && own === undefined ? 'context_length_exceeded' : String(status);
  return answer({ ending: { kind: 'http', status, message, code } });
};

const twoTools = (stage: number): Answer => {
  const segments = [
    ['First step. ', 'I run A. '],
    ['Second step. ', 'I run B. '],
    ['Both ', 'are done.'],
  ];
  const at = Math.min(stage, 2);
  return answer({
    reasoning: [`Thought ${at}a. `, `Thought ${at}b.`],
    text: segments[at] ?? [],
    calls: at < 2 ? [shell(`echo ${at === 0 ? 'A' : 'B'}`)] : [],
  });
};

/** Plain answers and reasoning. */
const talking: Scenario[] = [
  {
    name: 'plain',
    says: 'a short answer; n= pieces, delay= ms before each',
    answer: (o) => answer({ text: repeated(number(o, 'n', hello.length)), delayMs: number(o, 'delay', 0) }),
  },
  {
    name: 'reason',
    says: 'reasoning, then the answer',
    answer: () => answer({ reasoning: thoughts, text: hello }),
  },
  {
    name: 'think-only',
    says: 'reasoning and never an answer',
    answer: () => answer({ reasoning: thoughts }),
  },
  {
    name: 'think-tags',
    says: 'reasoning written as <think> inside the text',
    answer: () => answer({ text: ['<think>', 'Hidden ', 'thought.', '</think>', 'Open ', 'answer.'] }),
  },
  {
    name: 'long',
    says: 'n= (4000) numbered lines, one a piece',
    answer: (o) =>
      answer({
        text: Array.from(
          { length: number(o, 'n', 4000) },
          (_, i) => `${String(i).padStart(5, '0')} a line of the long answer, all alike.\n`,
        ),
      }),
  },
  {
    name: 'slow',
    says: 'n= (100) words, delay= (200) ms before each',
    answer: (o) =>
      answer({
        text: Array.from({ length: number(o, 'n', 100) }, (_, i) => `w${i} `),
        delayMs: number(o, 'delay', 200),
      }),
  },
  { name: 'empty', says: 'an empty answer, every time', answer: () => answer({}) },
  {
    name: 'refuse',
    says: 'finish_reason content_filter',
    answer: () => answer({ finish: 'content_filter' }),
  },
  {
    name: 'length',
    says: 'finish_reason length, every time',
    answer: () => answer({ text: ['Only a part '], finish: 'length' }),
  },
];

/** Turns with tools. */
const tools: Scenario[] = [
  {
    name: 'tool',
    says: 'one terminal call (cmd= with _ for a blank), then the answer',
    answer: (o, stage) => once(stage, { calls: [echo(o)] }),
  },
  {
    name: 'tool-say',
    says: 'reasoning, text and a call, then the answer',
    answer: (o, stage) =>
      once(stage, { reasoning: thoughts.slice(0, 1), text: ['Let me ', 'look.'], calls: [echo(o)] }),
  },
  {
    name: 'two-tools',
    says: 'text, call, text, call, text, with reasoning',
    answer: (_, stage) => twoTools(stage),
  },
  {
    name: 'par-tools',
    says: 'two terminal calls in one answer',
    answer: (_, stage) =>
      once(stage, { text: ['Both together.'], calls: [shell('sleep 0.3; echo A'), shell('echo B')] }),
  },
  {
    name: 'par-reads',
    says: 'two read_file calls in one answer (a=, b= paths)',
    answer: (o, stage) => once(stage, { calls: [readFile(o['a'] ?? 'a.txt'), readFile(o['b'] ?? 'b.txt')] }),
  },
  {
    name: 'tool-fail',
    says: 'reads a missing file, then answers',
    answer: (_, stage) =>
      once(stage, { calls: [readFile('/nonexistent/scripted.txt')] }, answer({ text: ['It is not there.'] })),
  },
  {
    name: 'write',
    says: 'writes a file (path=), then answers',
    answer: (o, stage) =>
      once(
        stage,
        {
          calls: [
            { name: 'write_file', arguments: { path: o['path'] ?? 'scripted.txt', content: 'written\n' } },
          ],
        },
        answer({ text: ['The file is written.'] }),
      ),
  },
  {
    name: 'bad-tool',
    says: 'calls a tool that does not exist',
    answer: () => answer({ calls: [{ name: 'no_such_tool_xyz', arguments: {} }] }),
  },
  {
    name: 'bad-json',
    says: 'a call with broken arguments, every time',
    answer: () => answer({ calls: [{ name: 'terminal', arguments: '{"command": "echo hi' }] }),
  },
  {
    name: 'tool-empty',
    says: 'a call, then nothing, ever',
    answer: (o, stage) => once(stage, { calls: [echo(o)] }, answer({})),
  },
  {
    name: 'tool-text-empty',
    says: 'text and a call, then nothing, ever',
    answer: (o, stage) => once(stage, { text: ['I will look.'], calls: [echo(o)] }, answer({})),
  },
  {
    name: 'slow-tool',
    says: 'a call that takes secs= (20)',
    answer: (o, stage) =>
      once(stage, { text: ['I start. '], calls: [shell(`sleep ${number(o, 'secs', 20)}; echo hi`)] }),
  },
  {
    name: 'loop',
    says: 'a call every time; say=1 adds text',
    answer: (o, stage) =>
      answer({
        text: o['say'] === undefined ? [] : [`Round ${stage}. `],
        calls: [shell(`echo round ${stage}`)],
      }),
  },
  {
    name: 'danger',
    says: 'a call that needs an approval',
    answer: (_, stage) =>
      once(stage, { text: ['I have to delete it. '], calls: [shell('rm -rf /tmp/scripted-danger-target')] }),
  },
  {
    name: 'clarify',
    says: 'asks the user to choose, then answers',
    answer: (_, stage) => {
      const ask = { question: 'Red or blue?', choices: ['red', 'blue'] };
      return once(stage, { calls: [{ name: 'clarify', arguments: { ...ask, questions: [ask] } }] });
    },
  },
  {
    name: 'background',
    says: 'a command in the background (secs=); its end starts a turn of the engine',
    answer: (o, stage) =>
      once(stage, {
        calls: [
          shell(`sleep ${number(o, 'secs', 3)}; echo background-done`, {
            background: true,
            notify_on_complete: true,
          }),
        ],
      }),
  },
  {
    name: 'delegate',
    says: 'hands a task to a child, which runs the scenario tool',
    answer: (_, stage) =>
      once(stage, { calls: [{ name: 'delegate_task', arguments: { goal: 'SCN:tool run the child' } }] }),
  },
  {
    name: 'grow',
    says: 'n= (6) calls of 40 kB; usage grows from base= by step= each, which forces a compaction',
    answer: (o, stage) =>
      stage >= number(o, 'n', 6)
        ? answer({ text: ['It has grown.'] })
        : answer({ text: [`Growth ${stage}. `], calls: [shell(`yes line${stage} | head -c 40000`)] }),
  },
];

/** Providers that fail. */
const failures: Scenario[] = [
  {
    name: 'http',
    says: 'an error answer: code= (500), msg=; 400 means that the context is too long',
    answer: httpError,
  },
  {
    name: 'cut',
    says: 'n= (4) pieces, then the connection is reset',
    answer: (o) => answer({ text: repeated(10), ending: { kind: 'reset', after: number(o, 'n', 4) } }),
  },
  {
    name: 'eof',
    says: 'n= (4) pieces, then a clean end without finish_reason',
    answer: (o) => answer({ text: repeated(10), ending: { kind: 'clean-end', after: number(o, 'n', 4) } }),
  },
  {
    name: 'cut-tool',
    says: 'reset in the middle of the arguments of a call',
    answer: (o) =>
      answer({ text: ['I call a tool.'], calls: [echo(o)], ending: { kind: 'reset-in-arguments' } }),
  },
  {
    name: 'stall',
    says: 'one piece, then secs= (30) of silence and a reset',
    answer: (o) =>
      answer({ text: ['Wait', ' '], ending: { kind: 'stall', after: 1, ms: number(o, 'secs', 30) * 1000 } }),
  },
];

/** Every scenario that a prompt can ask for. */
export const scenarios: readonly Scenario[] = [...talking, ...tools, ...failures];
