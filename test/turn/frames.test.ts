import { describe, expect, test } from 'vitest';
import { createReducer, reduce } from '../../src/turn/index.ts';
import { turnCase } from './cases.ts';
import { brief, recording } from './recording.ts';

const turnsOf = (name: string) => reduce(turnCase(name).records).turns;

describe('what is no part of a turn', () => {
  test('previews (reasoning.available), spinners, status lines, progress', () => {
    const r = recording()
      .submit('go')
      .event('message.start')
      .event('thinking.delta', { text: '(⊙_⊙) musing...' });
    r.event('tool.progress', { name: 'terminal', preview: 'ls' })
      .text('Hello.')
      .event('reasoning.available', { text: 'Hello.' });
    r.event('status.update', { kind: 'lifecycle', text: '⏳ Retrying in 2.6s' }).done('Hello.');
    expect(brief(r.turns()[0])).toEqual(['text:Hello.']);
    expect(r.turns()[0]?.activity).toMatchObject([{ kind: 'retry', text: '⏳ Retrying in 2.6s' }]);
  });

  test('announcements of calls that never start (unknown tool, bad arguments)', () => {
    expect(brief(turnsOf('v0.19.0/bad-tool')[0])).toEqual([
      'error:Model generated invalid tool call: no_such_tool_xyz',
    ]);
    expect(brief(turnsOf('v0.14.0/bad-json')[0])).toEqual([
      'error:Error: Response truncated due to output length limit',
    ]);
  });

  test('subagents, scoped or not, and what they say', () => {
    const r = recording().submit('go').event('message.start').text('Child runs.');
    for (const session of ['s', null]) {
      r.event('subagent.start', { goal: 'x' }, { session });
      r.event('subagent.thinking', { text: 'inner' }, { session });
      r.event('subagent.tool', { tool_name: 'terminal', tool_id: 'c9' }, { session });
      r.event('subagent.complete', { summary: 'inner answer' }, { session });
    }
    expect(brief(r.done('Child runs.').turns()[0])).toEqual(['text:Child runs.']);
    expect(turnsOf('v0.16.0/delegate').map(brief)).toEqual([
      ['tool:call_183013_0 completed', 'text:The child is done.'],
    ]);
  });
});

describe('boundaries', () => {
  test('message.interim seals and adds nothing, also when the turn ends with it', () => {
    const r = recording().submit('go').event('message.start').text('One.');
    r.event('message.interim', { text: 'One.', already_streamed: true })
      .text('Two.')
      .event('message.interim', { text: 'Two.' });
    expect(brief(r.done('Two.').turns()[0])).toEqual(['text:One.', 'text:Two.']);
  });

  test('the line break that leaks from a tool of the turn before', () => {
    expect(brief(turnsOf('v0.19.0/busy-tool')[1])).toEqual(['text:Hello from the stub.']);
  });

  test('retries of a model call stay glued together', () => {
    expect(brief(turnsOf('v0.16.0/cut')[0])[0]).toBe(
      'text:Hello from the stubHello from the stubHello from the stub',
    );
  });

  test('white space alone makes no part, but it divides thoughts', () => {
    const r = recording()
      .submit('go')
      .event('message.start')
      .event('reasoning.delta', { text: 'a' })
      .text(' \n ');
    r.event('reasoning.delta', { text: 'b' }).tool('c1').text('\n\n');
    expect(brief(r.done('End.').turns()[0])).toEqual([
      'think:a',
      'think:b',
      'tool:c1 completed',
      'text:End.',
    ]);
  });

  test('hidden tools: the texts between stay apart by their thoughts, and a last text after a blank line is cut off', () => {
    expect(brief(turnsOf('v0.16.0/noprogress')[0])).toHaveLength(6);
    const r = recording()
      .submit('go')
      .event('message.start')
      .text('Step one. ')
      .text('\n\nStep two. ')
      .text('\n\nAll done.');
    const [turn] = r.done('All done.').turns();
    expect(brief(turn)).toEqual(['text:Step one. \n\nStep two.', 'text:All done.']);
    expect(turn).toMatchObject({ degraded: true, lacks: ['boundary'], final: 'All done.' });
  });
});

describe('the terminal frame', () => {
  const start = () => recording().submit('go').event('message.start');

  test.each([
    ['the same, white space aside', ['Hel', 'lo \n there.'], 'Hello there.', ['text:Hello \n there.'], false],
    [
      'a notice at the end',
      ['Done.'],
      'Done.\n\n⚠️ 1 file was not changed.',
      ['text:Done.\n\n⚠️ 1 file was not changed.'],
      false,
    ],
    [
      'deltas lost in the middle',
      ['w0 w1 ', 'w7 w8'],
      'w0 w1 w2 w3 w4 w5 w6 w7 w8',
      ['text:w0 w1 w2 w3 w4 w5 w6 w7 w8'],
      true,
    ],
    [
      'deltas lost at the beginning',
      ['from here on.'],
      'Everything from here on.',
      ['text:Everything from here on.'],
      true,
    ],
    ['nothing streamed', [], 'Hello.', ['text:Hello.'], false],
    ['something else', ['Hello.'], 'Goodbye!', ['text:Hello.', 'text:Goodbye!'], false],
  ])('%s', (_name, deltas, text, parts, degraded) => {
    const r = start();
    for (const delta of deltas) r.text(delta);
    const [turn] = r.done(text).turns();
    expect(brief(turn)).toEqual(parts);
    expect(turn?.degraded).toBe(degraded);
    expect(turn?.final).toBe(parts.at(-1)?.slice('text:'.length));
  });

  test('the text of an error turn that only repeats the last attempt divides nothing', () => {
    for (const gap of ['', '\n\n']) {
      const r = start().text(`Hello from the${gap}`).text('Hello from the stub');
      const [turn] = r.done('Hello from the stub', 'error', { error: 'Cut.' }).turns();
      expect(brief(turn)).toEqual([`text:Hello from the${gap}Hello from the stub`, 'error:Cut.']);
      expect(turn?.degraded).toBe(false);
    }
  });

  test('late reasoning stands before the last text, unless a thought ends with it', () => {
    const late = start().text('Answer.').done('Answer.', 'complete', { reasoning: 'Secret thought.' });
    expect(brief(late.turns()[0])).toEqual(['think:Secret thought.', 'text:Answer.']);
    const known = start().event('reasoning.delta', { text: 'A. Secret thought.' }).text('Answer.');
    known.done('Answer.', 'complete', { reasoning: 'Secret  thought.' });
    expect(brief(known.turns()[0])).toEqual(['think:A. Secret thought.', 'text:Answer.']);
  });

  test('what comes after it changes nothing', () => {
    const r = start().text('Hello.').done('Hello.');
    const before = r.turns();
    r.text('late')
      .tool('c1')
      .done('again', 'error')
      .event('error', { message: 'late' })
      .event('reasoning.delta', { text: 'late' });
    expect(r.turns()).toEqual(before);
  });
});

describe('outcomes', () => {
  const start = () => recording().submit('go').event('message.start');
  const budget = {
    kind: 'lifecycle',
    text: '⚠️ Iteration budget exhausted (4/4) — asking model to summarise',
  };

  test.each([
    ['complete with text', { status: 'complete', text: 'Hi.' }, 'completed'],
    ['complete and empty', { status: 'complete', text: '' }, 'no_response'],
    ['complete and null', { status: 'complete', text: null }, 'no_response'],
    ['complete and (empty)', { status: 'complete', text: '(empty)' }, 'no_response'],
    [
      'engine notice of no reply',
      { status: 'complete', text: '⚠️ No reply: the model returned empty content.' },
      'no_response',
    ],
    [
      'only internal reasoning',
      { status: 'complete', text: '⚠️ The model produced only internal reasoning and no answer.' },
      'no_response',
    ],
    [
      'no reply as an error',
      { status: 'error', text: '⚠️ No reply: the model returned empty content.' },
      'no_response',
    ],
    ['interrupted by nobody', { status: 'interrupted', text: null }, 'interrupted'],
    ['error', { status: 'error', text: 'HTTP 500: overloaded' }, 'error'],
    [
      'error code context_overflow',
      { status: 'error', text: 'Too long.', error_surface: { code: 'context_overflow' } },
      'compression_exhausted',
    ],
    [
      'failure_reason context_overflow',
      { status: 'error', text: 'Too long.', failure_reason: 'context_overflow' },
      'compression_exhausted',
    ],
    [
      'cannot compress further',
      { status: 'error', text: 'Error: Context length exceeded (14,975 tokens). Cannot compress further.' },
      'compression_exhausted',
    ],
    [
      'max compression attempts',
      { status: 'error', text: '[Error: ]Context length exceeded: max compression attempts (3) reached.' },
      'compression_exhausted',
    ],
    [
      'payload too large',
      { status: 'error', text: 'Request payload too large: max compression attempts (3) reached.' },
      'compression_exhausted',
    ],
    ['a status word that no engine has', { status: 'exploded', text: 'Hi.' }, 'error'],
  ])('%s', (_name, payload, outcome) => {
    const [turn] = start().event('message.complete', payload).turns();
    expect(turn?.outcome).toBe(outcome);
    expect(turn?.final).toBe(outcome === 'completed' ? 'Hi.' : null);
    expect(turn?.evidence.length).toBeGreaterThan(0);
    expect(turn?.parts.filter((part) => part.type === 'error').length).toBe(
      ['error', 'compression_exhausted'].includes(outcome) ? 1 : 0,
    );
  });

  test('an announced limit wins over complete and over error, and there is no final answer', () => {
    const summed = start().event('status.update', budget).done('I stopped at the limit.').turns()[0];
    expect(summed).toMatchObject({ outcome: 'tool_limit_reached', final: null });
    expect(brief(summed)).toEqual(['text:I stopped at the limit.']);
    expect(start().event('status.update', budget).done('HTTP 500: x', 'error').turns()[0]?.outcome).toBe(
      'tool_limit_reached',
    );
    expect(start().event('status.update', budget).done('').turns()[0]).toMatchObject({
      outcome: 'tool_limit_reached',
      parts: [],
    });
  });

  test('a status that nothing was returned counts only while no text follows it', () => {
    const nothing = { kind: 'lifecycle', text: '❌ Model returned no content after all retries.' };
    expect(start().event('status.update', nothing).done('explainer.raw_key').turns()[0]).toMatchObject({
      outcome: 'no_response',
      parts: [],
    });
    expect(
      start().event('status.update', nothing).text('Yet here it is.').done('Yet here it is.').turns()[0]
        ?.outcome,
    ).toBe('completed');
  });

  test('a stream that stalled inside a tool call is an error, also when the engine calls it complete', () => {
    expect(turnsOf('v0.14.0/cut-tool')[0]).toMatchObject({ outcome: 'error', confidence: 'likely' });
    const started = start().event('tool.generating', { name: 'terminal' }).tool('c1');
    started.done('About: ⚠ Stream stalled mid tool-call (terminal); the action was not executed.');
    expect(started.turns()[0]?.outcome).toBe('completed');
  });

  test('cancelled: the client asked while the turn was open, or a queued prompt displaced it', () => {
    expect(
      start()
        .call('session.interrupt', { session_id: 's' }, { status: 'interrupted' })
        .done(null, 'interrupted')
        .turns()[0]?.outcome,
    ).toBe('cancelled');
    expect(turnsOf('v0.19.0/busy').map((turn) => turn.outcome)).toEqual(['cancelled', 'completed']);
    expect(turnsOf('v0.14.0/interrupt-idle')[1]?.outcome).toBe('interrupted');
  });

  test('the stop sentence of an interrupted turn is no part', () => {
    for (const text of [
      'Operation interrupted: waiting for model response (1.2s elapsed).',
      'Stopped waiting for another Hermes process to finish.',
    ]) {
      expect(brief(start().text('Half').done(text, 'interrupted').turns()[0])).toEqual(['text:Half']);
    }
  });

  test('an error event after the interrupt of the client is only the end of the turn', () => {
    expect(turnsOf('iot-0.22.2/interrupt-early')[0]).toMatchObject({ outcome: 'cancelled', parts: [] });
  });

  test('an error turn has one error: the field, else the text, else a sentence of ours', () => {
    expect(brief(start().done('Friendly text', 'error', { error: 'HTTP 401: no' }).turns()[0])).toEqual([
      'error:HTTP 401: no',
    ]);
    expect(brief(start().text('Partial ans').done('Partial ans', 'error').turns()[0])).toEqual([
      'text:Partial ans',
      'error:The turn ended with an error; the engine gave no message.',
    ]);
  });

  test('never completed from its stream alone', () => {
    const [turn] = start().text('A whole answer.').event('session.info', { running: false }).turns();
    expect(turn).toMatchObject({ outcome: 'interrupted', final: null, degraded: true, lacks: ['terminal'] });
  });
});

describe('tools', () => {
  const statusOf = (result: unknown, before?: (r: ReturnType<typeof recording>) => void) => {
    const r = recording()
      .submit('go')
      .event('message.start')
      .event('tool.start', { tool_id: 'c1', name: 'terminal', context: 'rm x' });
    before?.(r);
    r.event('tool.complete', {
      tool_id: 'c1',
      name: 'terminal',
      ...(result === undefined ? {} : { result }),
    }).done('End.');
    return brief(r.turns()[0])[0];
  };
  const stop = (r: ReturnType<typeof recording>) =>
    void r.call('session.interrupt', { session_id: 's' }, { status: 'interrupted' });
  const deny = (r: ReturnType<typeof recording>) =>
    void r
      .event('approval.request', { command: 'rm x' })
      .call('approval.respond', { session_id: 's', choice: 'deny' }, { resolved: 1 });

  test.each([
    ['exit 0', { exit_code: 0, error: null }, undefined, 'completed'],
    ['no result (0.14)', undefined, undefined, 'completed'],
    ['plain text', 'fine', undefined, 'completed'],
    ['an error', { error: 'no such file' }, undefined, 'failed'],
    ['success false', { success: false }, undefined, 'failed'],
    ['exit 1', { exit_code: 1, error: null }, undefined, 'failed'],
    ['exit 130', { exit_code: 130, error: null }, undefined, 'cancelled'],
    ['the interrupted mark', { output: 'half\n[Command interrupted]', exit_code: 0 }, undefined, 'cancelled'],
    [
      'BLOCKED',
      { exit_code: -1, error: 'BLOCKED: Command timed out without user response.' },
      undefined,
      'denied',
    ],
    ['refused, no result', undefined, deny, 'denied'],
    ['failed after an interrupt', { exit_code: 1 }, stop, 'cancelled'],
    ['BLOCKED after an interrupt', { error: 'BLOCKED: withdrawn' }, stop, 'cancelled'],
    ['no result after an interrupt', undefined, stop, 'cancelled'],
    ['success after an interrupt', { exit_code: 0 }, stop, 'completed'],
    ['moved to the background', { status: 'yielded_to_background' }, undefined, 'running'],
  ])('%s', (_name, result, before, status) => {
    expect(statusOf(result, before)).toBe(`tool:c1 ${status}`);
  });

  test('pair by id, also in parallel; the same id is one tool', () => {
    const r = recording().submit('go').event('message.start');
    for (const id of ['a', 'b', 'a']) r.event('tool.start', { tool_id: id, name: 'read_file' });
    r.event('tool.complete', { tool_id: 'b', name: 'read_file', result: {} }).event('tool.complete', {
      tool_id: 'a',
      name: 'read_file',
      result: { error: 'x' },
    });
    r.event('tool.complete', { tool_id: 'a', name: 'read_file', result: {} });
    expect(brief(r.done('End.').turns()[0])).toEqual(['tool:a failed', 'tool:b completed', 'text:End.']);
  });

  test('an end without its start adds the tool then; a start without its end is not taken for success', () => {
    const r = recording()
      .submit('go')
      .event('message.start')
      .event('tool.start', { tool_id: 'a', name: 'x' });
    r.event('tool.complete', { tool_id: 'b', name: 'y', result: {} }).done('End.');
    expect(r.turns()[0]).toMatchObject({ degraded: true, lacks: ['tool-start', 'tool-end'] });
    expect(brief(r.turns()[0])).toEqual(['tool:a running', 'tool:b completed', 'text:End.']);
  });

  test('tool-only turns are no empty turns, and nothing is made up for them', () => {
    expect(brief(turnsOf('v0.19.0/tool-empty')[0])).toEqual(['tool:call_595352_0 completed']);
    expect(turnsOf('v0.19.0/tool-limit')[0]?.summary).toMatchObject({
      tools: { completed: 4 },
      toolNames: { terminal: 4 },
      texts: 1,
    });
  });
});

describe('artifacts', () => {
  const files = (name: string) => turnsOf(name).map(({ outcome, artifacts }) => ({ outcome, artifacts }));
  test('are there on every outcome', () => {
    expect(files('v0.14.0/write-err')).toEqual([
      { outcome: 'error', artifacts: ['/home/user/project/notes/err.md'] },
    ]);
    expect(files('v0.16.0/write-empty')).toEqual([
      { outcome: 'no_response', artifacts: ['/home/user/project/notes/empty.md'] },
    ]);
    expect(files('v0.19.0/write-stop')).toEqual([
      { outcome: 'cancelled', artifacts: ['/home/user/project/notes/stop.md'] },
    ]);
    const limit = recording()
      .submit('go')
      .event('message.start')
      .tool('c1', { files_modified: ['/a', '/b', '/a'] });
    limit
      .event('status.update', { kind: 'lifecycle', text: '⚠️ Iteration budget exhausted (4/4)' })
      .tool('c2', { files_modified: ['/b', '/c'] })
      .done('Stopped.');
    expect(limit.turns()[0]).toMatchObject({ outcome: 'tool_limit_reached', artifacts: ['/a', '/b', '/c'] });
    const cut = recording()
      .submit('go')
      .event('message.start')
      .tool('c1', { files_modified: ['/a'] });
    expect(cut.turns()[0]).toMatchObject({ outcome: 'interrupted', artifacts: ['/a'] });
  });

  test('only of calls that finished well', () => {
    const r = recording()
      .submit('go')
      .event('message.start')
      .tool('c1', { error: 'x', files_modified: ['/no'] }, 'patch');
    r.event('tool.start', { tool_id: 'c2', name: 'write_file', args: { path: '/never' } }).done('End.');
    expect(r.turns()[0]?.artifacts).toEqual([]);
  });

  test('links and images that are only mentioned are listed beside them', () => {
    const text =
      'See workspace://plans/a.md, ![chart](/tmp/chart.png) and MEDIA:/out/pic.webp or https://x.example/y.jpg.';
    const [turn] = recording().submit('go').event('message.start').text(text).done(text).turns();
    expect(turn?.references).toEqual([
      'workspace://plans/a.md',
      '/tmp/chart.png',
      '/out/pic.webp',
      'https://x.example/y.jpg',
    ]);
    expect(turn?.artifacts).toEqual([]);
    const made = recording()
      .submit('draw')
      .event('message.start')
      .tool('c1', { success: true, image: '/home/user/out/cat.png' }, 'image_generate')
      .done('Here.');
    expect(made.turns()[0]?.references).toEqual(['/home/user/out/cat.png']);
  });
});

describe('compression', () => {
  test('passes inside one turn are activity, never text', () => {
    const turn = turnsOf('v0.19.0/compress')[2];
    expect(turn?.activity).toMatchObject([{ kind: 'compression' }]);
    expect(turn?.summary?.compressions).toBe(1);
    expect(brief(turn).filter((part) => part.includes('🗜'))).toEqual([]);
    expect(turn?.outcome).toBe('completed');
  });
  test('three passes that did not help are three', () => {
    const [turn] = turnsOf('v0.14.0/http400-ctx');
    expect(turn).toMatchObject({ outcome: 'compression_exhausted', summary: { compressions: 3 } });
  });
});

describe('which turn', () => {
  test('unscoped foreground events belong to the one running turn', () => {
    const r = recording().submit('go').event('message.start', null, { session: null });
    r.event('message.delta', { text: 'Hi.' }, { session: null }).event(
      'tool.start',
      { tool_id: 'c1', name: 'x' },
      { session: null },
    );
    r.event('tool.complete', { tool_id: 'c1', name: 'x', result: {} }, { session: null }).event(
      'message.complete',
      { text: 'Done.', status: 'complete' },
      { session: null },
    );
    expect(brief(r.turns()[0])).toEqual(['text:Hi.', 'tool:c1 completed', 'text:Done.']);
  });

  test('… to nobody when two run, or none, or over another socket', () => {
    const r = recording().call('session.create', {}, { session_id: 's2' }).submit('one');
    r.call('prompt.submit', { session_id: 's2', text: 'two' }, { status: 'streaming' });
    r.event('message.start')
      .event('message.start', null, { session: 's2' })
      .event('message.delta', { text: 'whose?' }, { session: null });
    r.done('One.')
      .event('message.delta', { text: 'Two.' }, { session: null })
      .event('message.delta', { text: 'copy' }, { session: null, conn: 'other' });
    r.event('message.complete', { text: 'Two.', status: 'complete' }, { session: 's2' }).event(
      'error',
      { message: 'late' },
      { session: null },
    );
    expect(r.turns().map(brief)).toEqual([['text:One.'], ['text:Two.']]);
  });

  test('a session that was never created or attached here is not ours', () => {
    const r = recording()
      .event('message.start', null, { session: 'foreign' })
      .event('message.delta', { text: 'x' }, { session: 'foreign' });
    expect(r.turns()).toEqual([]);
  });

  test('a refused submit makes no turn', () => {
    const r = recording()
      .request('x', 'prompt.submit', { session_id: 's', text: 'no' })
      .refuse('x', { code: 4009, message: 'session busy' });
    expect(r.turns()).toEqual([]);
  });

  test('message.start before the answer, an error before both, a start that never comes', () => {
    const early = recording()
      .request('x', 'prompt.submit', { session_id: 's', text: 'a' })
      .event('message.start')
      .text('Hi.')
      .answer('x', { status: 'streaming' });
    expect(
      early
        .done('Hi.')
        .turns()
        .map((turn) => [turn.prompt, turn.outcome]),
    ).toEqual([['a', 'completed']]);
    const failing = recording()
      .request('x', 'prompt.submit', { session_id: 's', text: 'a' })
      .event('error', { message: 'agent init failed' });
    failing.answer('x', { status: 'streaming' }).event('error', { message: 'again' });
    expect(failing.turns().map(brief)).toEqual([['error:agent init failed']]);
    expect(recording().submit('a').text('Hi.').done('Hi.').turns()[0]?.outcome).toBe('completed');
  });

  test('a turn of the engine: two starts, one turn, no prompt', () => {
    const r = recording()
      .submit('go')
      .event('message.start')
      .done('Hi.')
      .event('status.update', { kind: 'process', text: '[IMPORTANT: Background process' });
    r.event('message.start').event('message.start').text('It ended.').done('It ended.');
    expect(r.turns().map(({ origin, prompt, final }) => [origin, prompt, final])).toEqual([
      ['user', 'go', 'Hi.'],
      ['engine', null, 'It ended.'],
    ]);
  });

  test('a turn of the engine began while our submit was out: the answer "queued" tells them apart', () => {
    const r = recording()
      .request('x', 'prompt.submit', { session_id: 's', text: 'mine' })
      .event('message.start')
      .event('message.start')
      .text('Engine.');
    r.answer('x', { status: 'queued' })
      .done('Engine.', 'interrupted')
      .event('message.start')
      .text('Mine.')
      .done('Mine.');
    const shown = r
      .turns()
      .map(({ origin, prompt, outcome, parts }) => [origin, prompt, outcome, parts.length]);
    expect(shown).toEqual([
      ['user', 'mine', 'completed', 1],
      ['engine', null, 'cancelled', 1],
    ]);
  });

  test('the engine accepts the next prompt although the end of the last was never seen', () => {
    for (const early of [false, true]) {
      const r = recording()
        .submit('one')
        .event('message.start')
        .text('Half')
        .request('x', 'prompt.submit', { session_id: 's', text: 'two' });
      if (early) r.event('message.start').text('Whole.').answer('x', { status: 'streaming' });
      else r.answer('x', { status: 'streaming' }).event('message.start').text('Whole.');
      const shown = r
        .done('Whole.')
        .turns()
        .map(({ outcome, degraded, parts }) => [outcome, degraded, parts.length]);
      expect(shown).toEqual([
        ['interrupted', true, 1],
        ['completed', false, 1],
      ]);
    }
  });

  test('redirected: no turn of its own, a boundary in the running one', () => {
    const turns = turnsOf('iot-0.22.2/busy');
    expect(turns.map(brief)).toEqual([['text:w0 w1 w2 w3 w4', 'text:Hello from the stub.']]);
    expect(turns[0]?.redirects).toEqual(['SCN:plain second while busy']);
  });

  test('numbers, null and parts as prompt', () => {
    const prompts = [5, null, [{ type: 'text', text: 'see' }, { type: 'image_url' }], ''].map(
      (text) => recording().submit(text).turns()[0]?.prompt,
    );
    expect(prompts).toEqual(['5', null, 'see', '']);
  });
});

describe('phases', () => {
  test('sent, running, waiting for a person, settled', () => {
    const reducer = createReducer();
    const phase = () => reducer.snapshot().turns[0]?.phase;
    const feed = (build: (r: ReturnType<typeof recording>) => void) => {
      const r = recording(false);
      build(r);
      for (const record of r.records) reducer.push(record);
      return phase();
    };
    expect(
      feed((r) => r.call('session.create', {}, { session_id: 's', stored_session_id: 'st' })),
    ).toBeUndefined();
    expect(
      feed((r) => r.call('prompt.submit', { session_id: 's', text: 'x' }, { status: 'streaming' })),
    ).toBe('sent');
    expect(feed((r) => r.event('message.start'))).toBe('running');
    feed((r) => r.event('tool.start', { tool_id: 'c1', name: 'terminal', context: 'rm x' }));
    expect(
      feed((r) =>
        r.frame('in', {
          jsonrpc: '2.0',
          id: 'srq-1',
          method: 'approval',
          params: { session_id: 's', command: 'rm x' },
        }),
      ),
    ).toBe('waiting');
    expect(reducer.snapshot().turns[0]?.questions).toEqual([
      { kind: 'approval', id: 'srq-1', text: 'rm x', callId: 'c1' },
    ]);
    expect(feed((r) => r.frame('out', { jsonrpc: '2.0', id: 'srq-1', result: { choice: 'deny' } }))).toBe(
      'running',
    );
    expect(feed((r) => r.request('a', 'session.resume', { session_id: 'st' }, 'B'))).toBe('restoring');
    expect(
      feed((r) => r.answer('a', { session_id: 's', running: true, inflight: { assistant: '' } }, 'B')),
    ).toBe('running');
    expect(feed((r) => r.event('session.info', { running: false }, { conn: 'B' }))).toBe('degraded');
    expect(
      feed((r) => r.event('message.complete', { status: 'complete', text: 'End.' }, { conn: 'B' })),
    ).toBe('settled');
    expect(brief(reducer.snapshot().turns[0])).toEqual(
      ['tool:c1 cancelled', 'text:End.'].map((text) => text.replace('cancelled', 'running')),
    );
  });

  test('a question ends with its tool, with request.cancel, and with the turn', () => {
    const ask = () =>
      recording()
        .submit('go')
        .event('message.start')
        .event('tool.start', { tool_id: 'c1', name: 'clarify' })
        .event('clarify.request', { question: 'Red?', request_id: 'q1' });
    const questions = (r: ReturnType<typeof recording>) => {
      const reducer = createReducer();
      for (const record of r.records) reducer.push(record);
      return reducer.snapshot().turns[0]?.questions.length;
    };
    expect(questions(ask())).toBe(1);
    expect(questions(ask().event('tool.complete', { tool_id: 'c1', name: 'clarify', result: {} }))).toBe(0);
    expect(questions(ask().event('request.cancel', { id: 'q1', reason: 'timeout' }))).toBe(0);
    expect(questions(ask().done(null, 'interrupted'))).toBe(0);
    expect(
      questions(ask().call('clarify.respond', { request_id: 'q1', answer: 'red' }, { status: 'ok' })),
    ).toBe(0);
  });
});

describe('views', () => {
  test('are immutable, and what did not change is the same object', () => {
    const reducer = createReducer();
    for (const record of recording().submit('go').event('message.start').text('One.').tool('c1').text('Tw')
      .records)
      reducer.push(record);
    const before = reducer.snapshot();
    const copy = structuredClone(before);
    for (const record of recording(false).text('o.').done('Two.').records) reducer.push(record);
    const after = reducer.snapshot();
    expect(before).toEqual(copy);
    expect(after.turns[0]?.parts.slice(0, 2).every((part, i) => part === before.turns[0]?.parts[i])).toBe(
      true,
    );
    expect(reducer.snapshot().turns[0]).toBe(after.turns[0]);
  });

  test('know a stored id that is told after the turn', () => {
    const r = recording(false)
      .call('session.create', {}, { session_id: 's' })
      .submit('go')
      .event('message.start')
      .done('Hi.');
    const reducer = createReducer();
    for (const record of r.records) reducer.push(record);
    expect(reducer.snapshot().turns[0]?.stored).toEqual([]);
    for (const record of recording(false).call('session.title', { session_id: 's' }, { session_key: 'st' })
      .records)
      reducer.push(record);
    expect(reducer.snapshot().turns[0]?.stored).toEqual(['st']);
  });

  test('drain gives settled turns once, in order, and forgets them', () => {
    const reducer = createReducer();
    const seen: number[] = [];
    const all = recording()
      .submit('a')
      .event('message.start')
      .done('A.')
      .submit('b')
      .event('message.start')
      .done('B.')
      .submit('c')
      .event('message.start')
      .text('C');
    for (const record of all.records) {
      reducer.push(record);
      for (const turn of reducer.drain()) seen.push(turn.index);
    }
    expect(seen).toEqual([0, 1]);
    expect(reducer.finish().turns.map((turn) => [turn.index, turn.prompt])).toEqual([[2, 'c']]);
  });
});

describe('size', () => {
  const cpu = (job: () => void) => {
    const start = process.cpuUsage();
    job();
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  };

  test('a 200 KB answer in 4,000 deltas, looked at after each, is whole and cheap', () => {
    const { records } = turnCase('v0.19.0/long');
    const reducer = createReducer();
    const ms = cpu(() => {
      for (const record of records) {
        reducer.push(record);
        reducer.snapshot();
      }
    });
    expect(reducer.snapshot().turns[0]?.final?.length).toBe(203_999);
    expect(ms).toBeLessThan(3000);
  });

  test('a turn with 10,000 tools, looked at after each frame, stays cheap', () => {
    const r = recording().submit('go').event('message.start');
    for (let i = 0; i < 10_000; i += 1) r.tool(`c${i}`);
    r.done('Done.');
    const reducer = createReducer();
    const ms = cpu(() => {
      for (const record of r.records) {
        reducer.push(record);
        reducer.snapshot();
      }
    });
    expect(reducer.snapshot().turns[0]?.parts.length).toBe(10_001);
    expect(ms).toBeLessThan(6000);
  });

  test('a million deltas take memory for their text, not for their number', () => {
    const reducer = createReducer();
    for (const record of recording().submit('go').event('message.start').records) reducer.push(record);
    const [delta] = recording(false).text('ab ').records;
    for (let i = 0; i < 1_000_000; i += 1) reducer.push(delta);
    expect(reducer.snapshot().turns[0]?.parts).toHaveLength(1);
    const [part] = reducer.snapshot().turns[0]?.parts ?? [];
    expect(part?.type === 'text' ? part.text.length : 0).toBe(2_999_999);
  });
});
