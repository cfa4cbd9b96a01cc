import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../src/simulate/index.ts';
import { type ApiServerStub, startApiServer } from '../support/api-server.ts';
import { bin } from '../support/bin.ts';
import { type CliResult, document, runCli } from '../support/cli.ts';

// `turn` and `record` as the built program, over a stand-in dashboard and an API server: what is asked, said, sent and left.

const key = 'CANARY-key-of-the-gateway-0123';
const undo: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0)) await step();
});

interface Turns {
  kind: 'turns';
  transport: string;
  scenarios: { id: string; status: string; got: string | null; lost?: { turn: number; error: string } }[];
  findings: { code: string; args: Record<string, unknown> }[];
  notes: string[];
  exitCode: number;
}

describe('every command of docs/turns.md', () => {
  let dashboard: Simulator;
  let api: ApiServerStub;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'turn-docs-'));
    await writeFile(join(folder, 'question.txt'), 'SCN:two-tools\n---\nSCN:plain\n');
    [dashboard, api] = await Promise.all([startSimulator({ release: '0.19.0' }), startApiServer(key)]);
  });
  afterAll(async () => {
    await Promise.all([dashboard.close(), api.close()]);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const run = (...args: string[]): Promise<CliResult> =>
    runCli(args, {
      cwd: folder,
      env: { HERMES_COMPAT_TOKEN: dashboard.token ?? '', API_SERVER_KEY: key },
      timeoutMs: 90_000,
    });
  const as = async (result: Promise<CliResult>, code: number, text: RegExp): Promise<void> => {
    const { stdout, stderr, ...rest } = await result;
    expect({ ...rest, stderr }).toMatchObject({ code });
    expect(stdout + stderr).toMatch(text);
  };

  /** Without the comment; run with the address of a stand-in in place of the one that is written there. */
  const table: Record<string, () => Promise<void>> = {
    'record --prompt-file question.txt --output turn.jsonl': () =>
      as(
        run('record', dashboard.url, '--prompt-file', 'question.txt', '--output', 'turn.jsonl', '--yes'),
        0,
        /frames of 2 turns[\s\S]*deleted/,
      ),
    'replay turn.jsonl': () => as(run('replay', 'turn.jsonl'), 0, /2 turns: 2 completed/),
    'record --attach 20261130_140118_13d9d2 --output turn.jsonl': () =>
      as(
        run('record', dashboard.url, '--attach', '20261130_140118_13d9d2', '--output', 'other.jsonl'),
        4,
        /only one client gets the frames/,
      ),
    'turn --yes': () => as(run('turn', '--yes', dashboard.url), 0, /1 of 1 as expected/),
    'turn http://127.0.0.1:9119 --suite full --scripted --only plain,interrupt,lost-socket --yes': () =>
      as(
        run('turn', dashboard.url, '--suite', 'full', '--scripted', '--only', 'plain,interrupt', '--yes'),
        0,
        /2 of 2 as expected/,
      ),
    'turn --list': () => as(run('turn', '--list'), 0, /^plain +a short answer$/m),
    'turn http://127.0.0.1:8642 --mode legacy --token-env API_SERVER_KEY': () =>
      as(
        run('turn', api.url, '--mode', 'legacy', '--token-env', 'API_SERVER_KEY', '--yes'),
        0,
        /\(API server\)[\s\S]*1 of 1 as expected/,
      ),
    'turn http://127.0.0.1:9119 --api-server http://127.0.0.1:8642 --api-key-env API_SERVER_KEY': () =>
      as(
        run(
          'turn',
          'http://127.0.0.1:1',
          '--api-server',
          api.url,
          '--api-key-env',
          'API_SERVER_KEY',
          '--yes',
        ),
        0,
        /note: the dashboard failed before the prompt was sent/,
      ),
    // Run on real engines in test/engines/turn.test.ts and turn-ssh.test.ts.
    'turn local:/srv/hermes --suite full': () =>
      as(run('turn', `local:${folder}`, '--suite', 'full'), 3, /no Hermes Agent install/),
    'turn ssh://me@box/srv/hermes --suite full': () =>
      as(run('turn', 'ssh://me@127.0.0.1:1/srv/hermes', '--suite', 'full'), 3, /127\.0\.0\.1/),
  };

  test('is in the table', async () => {
    const text = await readFile(new URL('../../docs/turns.md', import.meta.url), 'utf8');
    const written = [...text.matchAll(/^\$ hermes-compat (.*?)(?: +#.*)?$/gm)].map(([, command]) => command);
    expect(written.length).toBeGreaterThan(8);
    expect(new Set(written)).toEqual(new Set(Object.keys(table)));
  });

  test.each(Object.entries(table))('%s', { timeout: 100_000 }, async (_command, check) => {
    await check();
  });
});

/** A dashboard whose turn begins and never ends. */
const halfAnAnswer = (): Promise<Simulator> =>
  startSimulator({
    release: '0.19.0',
    play: [
      { dir: 'out', frame: { jsonrpc: '2.0', id: '1', method: 'session.create', params: {} } },
      {
        dir: 'in',
        frame: { jsonrpc: '2.0', id: '1', result: { session_id: 'rt', stored_session_id: 'st' } },
      },
      {
        dir: 'out',
        frame: {
          jsonrpc: '2.0',
          id: '2',
          method: 'prompt.submit',
          params: { session_id: 'rt', text: 'x' },
        },
      },
      { dir: 'in', frame: { jsonrpc: '2.0', id: '2', result: { status: 'streaming' } } },
      { dir: 'in', frame: event('message.start', {}) },
      { dir: 'in', frame: event('message.delta', { text: 'half an answer' }) },
    ]
      .map((line, i) => JSON.stringify({ t: i, conn: 'A', ...line }))
      .join('\n'),
  });

describe('a dashboard that fails', () => {
  test('in the middle of the turn: the error is that turn’s, and the prompt is sent nowhere again', async () => {
    const api = await startApiServer(key);
    undo.push(() => api.close());
    const dashboard = await halfAnAnswer();
    const running = runCli(['turn', dashboard.url, '--api-server', api.url, '--yes', '--json'], {
      env: { HERMES_COMPAT_TOKEN: dashboard.token ?? '', HERMES_COMPAT_API_KEY: key },
      timeoutMs: 90_000,
    });
    await expect
      .poll(() => JSON.stringify(dashboard.frames), { timeout: 60_000, interval: 100 })
      .toContain('prompt.submit');
    await new Promise((resolve) => setTimeout(resolve, 300));
    await dashboard.close();
    const turns = document<Turns>(await running);
    expect(turns).toMatchObject({ transport: 'dashboard', exitCode: 1 });
    expect(turns.scenarios[0]).toMatchObject({ status: 'fail', got: 'interrupted · degraded 0' });
    expect(turns.scenarios[0]?.lost).toMatchObject({ turn: 0 });
    expect(turns.findings).toMatchObject([{ code: 'TURN_LOST', args: { turn: 0 } }]);
    expect(turns.notes.join()).toContain('session st could not be deleted');
    expect(api.log).toEqual([]);
  });
});

describe('an interrupt', () => {
  test('a second one ends at once, and says which session stays', { timeout: 60_000 }, async () => {
    const dashboard = await halfAnAnswer();
    undo.push(() => dashboard.close());
    const child = spawn(process.execPath, [bin, 'turn', dashboard.url, '--yes'], {
      env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent', HERMES_COMPAT_TOKEN: dashboard.token ?? '' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (text: Buffer) => (said += text.toString()));
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const sent = (): string => JSON.stringify(dashboard.frames);
    await expect.poll(sent, { timeout: 40_000, interval: 100 }).toContain('prompt.submit');
    child.kill('SIGINT');
    await expect.poll(sent, { timeout: 10_000, interval: 20 }).toContain('session.interrupt');
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    expect(said).toContain(`left behind at ${dashboard.url}: session st`);
  });
});

describe('legacy mode', () => {
  let api: ApiServerStub;
  beforeEach(async () => {
    api = await startApiServer(key);
    undo.push(() => api.close());
  });
  const turn = (...args: string[]): Promise<CliResult> =>
    runCli(['turn', ...args], { env: { KEY: key, WRONG: 'CANARY-not-it-0123' }, timeoutMs: 60_000 });

  test('sends one prompt in a session of its own, and deletes that session', async () => {
    const result = await turn(api.url, '--mode', 'legacy', '--token-env', 'KEY', '--yes', '--json');
    expect(document<Turns>(result).scenarios).toMatchObject([{ status: 'pass', got: 'completed' }]);
    expect(api.bodies).toHaveLength(1);
    expect(api.log.join('\n')).toMatch(/^DELETE \/api\/sessions\/hermes-compat-/m);
    expect(result.stdout + result.stderr).not.toContain('CANARY');
  });

  test('a wrong key, a dashboard, nothing there: nothing is sent', async () => {
    const wrong = await turn(api.url, '--mode', 'legacy', '--token-env', 'WRONG', '--yes');
    expect(wrong).toMatchObject({ code: 3, stderr: expect.stringContaining('refuses the key') });
    expect(wrong.stdout + wrong.stderr).not.toContain('CANARY');
    const dashboard = await startSimulator({ release: '0.19.0' });
    undo.push(() => dashboard.close());
    const other = await turn(dashboard.url, '--mode', 'legacy', '--token-env', 'KEY', '--yes');
    expect(other).toMatchObject({ code: 3, stderr: expect.stringContaining('names no Hermes') });
    expect((await turn('http://127.0.0.1:1', '--mode', 'legacy', '--yes')).code).toBe(3);
    expect((await turn('--mode', 'legacy', '--yes')).stderr).toContain('--api-server URL');
    expect((await runCli(['record', api.url, '--mode', 'legacy', '--output', 'x'])).code).toBe(2);
    expect(api.bodies).toEqual([]);
  });

  test('a stream that is cut is no answer', async () => {
    const cut = await startApiServer(key, 4);
    undo.push(() => cut.close());
    const result = await turn(cut.url, '--mode', 'legacy', '--token-env', 'KEY', '--yes', '--json');
    expect(document<Turns>(result)).toMatchObject({
      exitCode: 1,
      scenarios: [{ status: 'fail', got: 'interrupted · degraded 0' }],
    });
    expect(cut.bodies).toHaveLength(1);
  });
});

function event(type: string, payload: object): object {
  return { jsonrpc: '2.0', method: 'event', params: { type, session_id: 'rt', payload } };
}
