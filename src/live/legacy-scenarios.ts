import type { Provider } from '../simulate/index.ts';
import type { Outcome } from '../turn/index.ts';
import type { LegacyChat } from './legacy-chat.ts';

/** What a legacy scenario works with. `open` begins a conversation, or continues one by its stored id. */
export interface LegacyStage {
  open(sessionId?: string): LegacyChat;
  provider: Provider | null;
  faults: Set<string>;
  prompt(script: string): string;
}

/**
 * One thing that clients do in legacy mode. `outcomes` is what each turn must come to; behind the first stand those that an API server
 * shows instead because its stream cannot say better: such a turn passes, and the fault is named.
 */
export interface LegacyScenario {
  id: string;
  outcomes: readonly (readonly Outcome[])[];
  run(stage: LegacyStage): Promise<void>;
}

const one = (id: string, script: string, ...outcomes: Outcome[]): LegacyScenario => ({
  id,
  outcomes: [outcomes],
  run: ({ open, prompt }) => open().send(prompt(script)),
});

const failThenSuccess: LegacyScenario = {
  id: 'fail-then-success',
  outcomes: [['error', 'no_response'], ['completed']],
  async run({ open, prompt, provider, faults }) {
    const chat = open();
    await chat.send(prompt('http code=401'));
    await chat.send(prompt('plain'));
    if (provider?.wasSent('Incorrect API key') === true) faults.add('error-sent-to-model');
  },
};

const interrupt: LegacyScenario = {
  id: 'interrupt',
  outcomes: [['cancelled'], ['completed']],
  async run({ open, prompt }) {
    const chat = open();
    const stop = new AbortController();
    await chat.send(prompt('slow n=60 delay=150'), { stop: stop.signal, onText: () => stop.abort() });
    // The engine notices the closed connection with its next piece of text.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await chat.send(prompt('plain'));
  },
};

const restored: LegacyScenario = {
  id: 'restored',
  outcomes: [['completed'], ['completed']],
  async run({ open, prompt, provider, faults }) {
    const chat = open();
    const first = prompt('plain');
    await chat.send(first);
    const again = chat.sessionId === null ? chat : open(chat.sessionId);
    const second = prompt('plain');
    await again.send(second);
    const sent = provider?.requests.find(({ messages }) => messages.at(-1)?.text.includes(second) === true);
    if (sent !== undefined && !sent.messages.some(({ text }) => text.includes(first)))
      faults.add('context-lost');
  },
};

/** What of the full suite an API server can be asked. */
export const legacyScenarios: readonly LegacyScenario[] = [
  one('plain', 'plain', 'completed'),
  one('reasoning', 'reason', 'completed'),
  one('tools', 'two-tools', 'completed'),
  one('parallel-tools', 'par-tools', 'completed'),
  failThenSuccess,
  interrupt,
  restored,
  one('tool-limit', 'loop', 'tool_limit_reached', 'no_response', 'completed'),
  one('empty', 'empty', 'no_response', 'completed'),
];

/** Why the others have no counterpart. */
export const notLegacy: Readonly<Record<string, string>> = {
  'lost-socket': 'a lost connection ends the turn; there is nothing to attach again',
  'unknown-session': 'there are no runtime sessions that could be forgotten',
  attachment: 'nothing can be attached; pictures go into the prompt itself',
  'image-path': 'the same as plain here',
  compression: 'the stream does not show it',
  'model-switch': 'the gateway chooses the model',
};
