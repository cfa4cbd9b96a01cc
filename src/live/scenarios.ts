import type { Outcome } from '../turn/index.ts';
import { attachOrNote, begin, countRuns, firstWords, pause, runTurn, type Stage } from './stage.ts';

/** One thing that clients do. `outcomes` is what its turns must come to on an engine without faults. */
export interface Scenario {
  id: string;
  says: string;
  outcomes: readonly Outcome[];
  run(stage: Stage): Promise<void>;
}

/** The smallest picture: one red pixel. */
const picture =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==';

export const pictureBytes = Buffer.from(picture, 'base64');
export const noteText = 'a note for the scripted model\n';

const one = (id: string, says: string, script: string, outcome: Outcome): Scenario => ({
  id,
  says,
  outcomes: [outcome],
  async run(stage) {
    await runTurn(stage, await begin(stage), stage.prompt(script));
  },
});

const failThenSuccess: Scenario = {
  id: 'fail-then-success',
  says: 'the provider refuses, then the next prompt of the session works',
  outcomes: ['error', 'completed'],
  async run(stage) {
    const session = await begin(stage);
    await runTurn(stage, session, stage.prompt('http code=401'));
    await runTurn(stage, session, stage.prompt('plain'));
    // The sentence of the provider must not come back to the model as something that was said.
    if (
      stage.provider?.requests.some(({ messages }) =>
        messages.some((m) => m.role !== 'user' && m.text.includes('Incorrect API key')),
      ) === true
    )
      stage.faults.add('error-sent-to-model');
  },
};

const interrupt: Scenario = {
  id: 'interrupt',
  says: 'Stop while text streams, then another prompt',
  outcomes: ['cancelled', 'completed'],
  async run(stage) {
    const session = await begin(stage);
    await stage.chat.gateway.submit(session, stage.prompt('slow n=60 delay=150'));
    await firstWords(stage, session);
    await stage.chat.gateway.interrupt(session);
    await stage.chat.settled(session, 1);
    await pause(500);
    await runTurn(stage, session, stage.prompt('plain'));
  },
};

const lostSocket: Scenario = {
  id: 'lost-socket',
  says: 'the socket is lost while text streams, and the session attached again',
  outcomes: ['completed'],
  async run(stage) {
    const session = await begin(stage);
    const { gateway } = stage.chat;
    const prompt = stage.prompt('slow n=40 delay=100');
    await gateway.submit(session, prompt);
    await firstWords(stage, session);
    gateway.drop();
    await pause(700);
    const [attached] = await gateway.reconnect();
    if (attached?.running === true) await stage.chat.settled(session, 1);
    else {
      stage.faults.add('running-turn-not-attached');
      await pause(8000);
    }
    countRuns(stage, prompt);
  },
};

const unknownSession: Scenario = {
  id: 'unknown-session',
  says: 'the engine has forgotten the runtime id',
  outcomes: ['completed', 'completed'],
  async run(stage) {
    const session = await begin(stage);
    await runTurn(stage, session, stage.prompt('plain'));
    await stage.chat.gateway.closeSession(session);
    const prompt = stage.prompt('plain');
    const submitted = await runTurn(stage, session, prompt);
    if (submitted.status !== 'started' || !submitted.recovered) stage.faults.add('not-recovered');
    countRuns(stage, prompt);
  },
};

const restored: Scenario = {
  id: 'restored',
  says: 'a session restored over a new socket, and continued',
  outcomes: ['completed', 'completed'],
  async run(stage) {
    const session = await begin(stage);
    const { gateway } = stage.chat;
    const first = stage.prompt('plain');
    await runTurn(stage, session, first);
    await gateway.closeSession(session);
    gateway.drop();
    await gateway.reconnect();
    const attached = await gateway.resume(session.storedId ?? '', session);
    if (attached.messages.length < 2) stage.faults.add('restored-empty');
    const second = stage.prompt('plain');
    await runTurn(stage, session, second);
    const sent = stage.provider?.requests.find(
      ({ messages }) => messages.at(-1)?.text.includes(second) === true,
    );
    if (sent !== undefined && !sent.messages.some(({ text }) => text.includes(first)))
      stage.faults.add('context-lost');
    countRuns(stage, second);
  },
};

const attachment: Scenario = {
  id: 'attachment',
  says: 'a text file, then a picture, attached before the prompt',
  outcomes: ['completed', 'completed'],
  async run(stage) {
    const session = await begin(stage);
    const base64 = Buffer.from(noteText).toString('base64');
    const note = { name: 'note.txt', mime: 'text/plain', path: null, base64 };
    const reference = await attachOrNote(stage, session, note, 'no-file-attach');
    await runTurn(stage, session, `${stage.prompt('plain')} ${reference ?? ''}`.trim());
    const path = stage.files?.image ?? null;
    const image = { name: 'pixel.png', mime: 'image/png', path, base64: picture };
    await attachOrNote(stage, session, image, 'no-image-attach');
    await runTurn(stage, session, stage.prompt('plain'));
  },
};

const imagePath: Scenario = {
  id: 'image-path',
  says: 'the path of a picture stands in the prompt',
  outcomes: ['completed'],
  async run(stage) {
    const path = stage.files?.image ?? '/nonexistent/pixel.png';
    await runTurn(stage, await begin(stage), `${stage.prompt('plain')} what is in ${path}`);
  },
};

const compression: Scenario = {
  id: 'compression',
  says: 'a turn outgrows the window and is compacted, then another prompt',
  outcomes: ['completed', 'completed', 'completed', 'completed'],
  async run(stage) {
    const session = await begin(stage);
    const summaries = (): number =>
      stage.provider?.requests.filter(({ purpose }) => purpose === 'summary').length ?? 0;
    const before = summaries();
    for (const script of ['plain', 'plain', 'grow n=5 base=20000 step=9000', 'plain'])
      await runTurn(stage, session, stage.prompt(script));
    if (stage.provider !== null && summaries() === before) stage.faults.add('not-compacted');
  },
};

const currentModel = (options: Record<string, unknown>): unknown => options['model'];

const modelSwitch: Scenario = {
  id: 'model-switch',
  says: 'another model in the session, the list asked again',
  outcomes: ['completed', 'completed'],
  async run(stage) {
    const session = await begin(stage);
    const { gateway } = stage.chat;
    await runTurn(stage, session, stage.prompt('plain'));
    const before = currentModel(await gateway.modelOptions(session));
    await gateway.switchModel(session, 'scripted-2');
    const after = currentModel(await gateway.modelOptions(session, true));
    if (after !== 'scripted-2' || before === after) stage.faults.add('list-not-refreshed');
    const prompt = stage.prompt('plain');
    await runTurn(stage, session, prompt);
    const sent = stage.provider?.requests.find(
      ({ messages }) => messages.at(-1)?.text.includes(prompt) === true,
    );
    if (sent !== undefined && sent.model !== 'scripted-2') stage.faults.add('switch-ignored');
  },
};

/** Every scenario of the full suite, in the order in which they run. The first pays for the start of the agent. */
export const scenarios: readonly Scenario[] = [
  one('plain', 'a short answer', 'plain', 'completed'),
  one('reasoning', 'thoughts, then the answer', 'reason', 'completed'),
  one('tools', 'text, call, text, call, text', 'two-tools', 'completed'),
  one('parallel-tools', 'two calls in one answer', 'par-tools', 'completed'),
  failThenSuccess,
  interrupt,
  lostSocket,
  unknownSession,
  restored,
  attachment,
  imagePath,
  one('tool-limit', 'calls until the limit', 'loop', 'tool_limit_reached'),
  one('empty', 'the model says nothing', 'empty', 'no_response'),
  compression,
  modelSwitch,
];
