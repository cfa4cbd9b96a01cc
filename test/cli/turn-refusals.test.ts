import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../src/simulate/index.ts';
import { type CliResult, document, runCli } from '../support/cli.ts';

// What `turn` and `record` refuse before anything is sent, how a limit ends them, and what they say of a chat that does not open or fails.

const undo: (() => Promise<void>)[] = [];
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'turn-refusals-'));
  undo.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
});
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

async function dashboard(options: Partial<SimulatorOptions> = {}): Promise<Simulator> {
  const simulator = await startSimulator({ release: '0.19.0', ...options });
  undo.push(() => simulator.close());
  return simulator;
}

const run = (simulator: Simulator | null, ...args: string[]): Promise<CliResult> =>
  runCli(args, { cwd: folder, env: { HERMES_COMPAT_TOKEN: simulator?.token ?? '' }, timeoutMs: 60_000 });

const event = (type: string, payload: object): object => ({
  dir: 'in',
  frame: { jsonrpc: '2.0', method: 'event', params: { type, session_id: 'rt', payload } },
});

/** A turn as a recording that the stand-in plays: these events after the prompt. */
const turnOf = (...events: object[]): string =>
  [
    { dir: 'out', frame: { jsonrpc: '2.0', id: '1', method: 'session.create', params: {} } },
    { dir: 'in', frame: { jsonrpc: '2.0', id: '1', result: { session_id: 'rt', stored_session_id: 'st' } } },
    {
      dir: 'out',
      frame: { jsonrpc: '2.0', id: '2', method: 'prompt.submit', params: { session_id: 'rt', text: 'x' } },
    },
    { dir: 'in', frame: { jsonrpc: '2.0', id: '2', result: { status: 'streaming' } } },
    event('message.start', {}),
    ...events,
    {
      dir: 'out',
      frame: { jsonrpc: '2.0', id: '3', method: 'session.resume', params: { session_id: 'st' } },
    },
    { dir: 'in', frame: { jsonrpc: '2.0', id: '3', result: { session_id: 'rt', messages: [] } } },
  ]
    .map((line, i) => JSON.stringify({ t: i, conn: 'A', ...line }))
    .join('\n');

describe('before anything is sent', () => {
  test.each([
    ['no scenario', ['--suite', 'full', '--scripted', '--only', ''], /names no scenario/],
    [
      'an API server of another kind',
      ['--api-server', 'ftp://127.0.0.1'],
      /--api-server must begin with http/,
    ],
    ['a folder as the report', ['--output', '.'], /cannot write the report.*EISDIR/],
    ['a report in no folder', ['--output', 'none/report.txt'], /cannot write the report.*ENOENT/],
  ])('turn: %s', async (_what, args, says) => {
    const simulator = await dashboard();
    const result = await run(simulator, 'turn', simulator.url, '--yes', ...args);
    expect(result).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(says) });
    expect(simulator.log).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });

  test.each([
    ['bytes', Buffer.from([0xff, 0xfe, 0x80, 0x41])],
    ['text of another encoding', Buffer.from('caf\u00e9', 'latin1')],
    ['text with zeros', Buffer.from('question', 'utf16le')],
  ])('record: a prompt file of %s', async (_what, bytes) => {
    const simulator = await dashboard();
    await writeFile(join(folder, 'p.txt'), bytes);
    const words = ['record', simulator.url, '--prompt-file', 'p.txt', '--output', 'o.jsonl', '--yes'];
    const result = await run(simulator, ...words);
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining('no text in UTF-8') });
    expect(simulator.log).toEqual([]);
    expect(await readdir(folder)).toEqual(['p.txt']);
  });

  test('the list keeps to 80 columns', async () => {
    const { stdout } = await run(null, 'turn', '--list');
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  test('options that only probes know are not offered', async () => {
    for (const command of ['turn', 'record']) {
      const { stdout } = await run(null, command, '--help');
      expect(stdout).toContain('limit of the run as a whole');
      expect(stdout).not.toMatch(/--hold|--session-probe/);
    }
  });
});

describe('--timeout ends the run', () => {
  test('of turn, as not checked', async () => {
    const simulator = await dashboard({ play: turnOf(event('message.delta', { text: 'half' })) });
    const began = performance.now();
    const result = await run(simulator, 'turn', simulator.url, '--yes', '--json', '--timeout', '4');
    expect(performance.now() - began).toBeLessThan(20_000);
    expect(document(result)).toMatchObject({
      exitCode: 3,
      scenarios: [
        { status: 'error', why: expect.stringContaining('the limit of --timeout came while waiting') },
      ],
    });
    expect(result.code).toBe(3);
    expect(simulator.log).toContain('DELETE /api/sessions/st');
  });

  test('of the full suite: what was not begun is no success', async () => {
    const simulator = await dashboard({ play: turnOf(event('message.delta', { text: 'half' })) });
    const words = ['--suite', 'full', '--scripted', '--only', 'plain,reasoning', '--timeout', '4'];
    const result = await run(simulator, 'turn', simulator.url, ...words, '--yes', '--json');
    expect(document(result)).toMatchObject({
      exitCode: 3,
      notes: expect.arrayContaining(['1 was not begun']),
    });
  });

  test('of record, which keeps what came', async () => {
    const simulator = await dashboard({ play: turnOf(event('message.delta', { text: 'half' })) });
    await writeFile(join(folder, 'p.txt'), 'Go on');
    const words = ['--prompt-file', 'p.txt', '--output', 'o.jsonl', '--yes', '--timeout', '4'];
    const result = await run(simulator, 'record', simulator.url, ...words);
    expect(result).toMatchObject({ code: 3, stderr: expect.stringContaining('the limit of --timeout came') });
    expect(await readFile(join(folder, 'o.jsonl'), 'utf8')).toContain('half');
  });
});

describe('a chat that does not open says why', () => {
  const cases: [string, string, Partial<SimulatorOptions> | null, Record<string, string>, string[]][] = [
    ['a closed port', 'CONNECTION_REFUSED', null, {}, []],
    ['a wrong token', 'TOKEN_REJECTED', {}, { HERMES_COMPAT_TOKEN: 'wrong-token-0123' }, []],
    ['no chat', 'CHAT_DISABLED', { release: '0.14.0' }, {}, []],
    [
      'a wrong login',
      'LOGIN_REJECTED',
      { gated: true },
      { PW: 'no' },
      ['--username', 'me', '--password-env', 'PW'],
    ],
  ];
  test.each(cases)('%s', async (_what, code, options, env, words) => {
    const url = options === null ? 'http://127.0.0.1:1' : (await dashboard(options)).url;
    const token: Record<string, string> = options?.release === '0.14.0' ? { HERMES_COMPAT_TOKEN: '' } : {};
    const result = await runCli(['turn', url, '--yes', ...words], { env: { ...token, ...env } });
    expect(result.code).toBe(3);
    expect(result.stderr).toMatch(/the chat of http\S+ does not open; nothing was sent\. [A-Z“]/);
    expect(result.stderr).toContain(`explain ${code}`);
    expect(result.stderr).not.toContain('--api-server');
  });
});

test('a key that the provider repeats is in no report and no frame log', async () => {
  const canary = 'sk-canary-provider-key';
  const failed = { text: `HTTP 401: Incorrect API key provided: ${canary}`, status: 'error' };
  const play = turnOf(
    event('status.update', { text: `retry: ${canary}` }),
    event('message.complete', failed),
  );
  // Each plays it once.
  const [first, second] = [await dashboard({ play }), await dashboard({ play })];
  await writeFile(join(folder, 'p.txt'), 'Go on');
  const turn = await run(first, 'turn', first.url, '--yes');
  expect(turn).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('Incorrect API key provided: [redacted]'),
  });
  const words = ['--prompt-file', 'p.txt', '--output', 'o.jsonl', '--yes'];
  const record = await run(second, 'record', second.url, ...words);
  expect(record.code).toBe(0);
  const log = await readFile(join(folder, 'o.jsonl'), 'utf8');
  expect(log).toContain('[redacted]');
  expect([turn.stdout, turn.stderr, record.stdout, record.stderr, log].join('')).not.toContain('canary');
});
