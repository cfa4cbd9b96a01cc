import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';

import { document, runCli } from '../support/cli.ts';
import { bin } from '../support/bin.ts';

/** `simulate` as a person runs it: the built program, its words, its end. */

const recording = fileURLToPath(new URL('../../cases/turns/v0.19.0/plain.jsonl', import.meta.url));

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

interface Document {
  kind: string;
  what: string;
  release: string | null;
  url: string;
  port: number;
  token: string | null;
  login: { username: string; password: string | null } | null;
  faults: string[];
}

/** Starts it and reads its JSON document; it goes on until it is ended. */
const start = async (args: string[], env: Record<string, string> = {}): Promise<[Document, ChildProcess]> => {
  const child = spawn(process.execPath, [bin, 'simulate', '--json', ...args], {
    env: { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let text = '';
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    text += chunk.toString();
    if (text.endsWith('}\n')) break;
  }
  return [document<Document & Record<string, unknown>>({ code: 0, stdout: text, stderr: '' }), child];
};

test('a port that is taken is a matter of usage, with what to do', async () => {
  const [{ port }] = await start([]);
  for (const more of [[], ['--provider']]) {
    const result = await runCli(['simulate', '--port', String(port), ...more]);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toContain(`port ${port} on loopback is in use: give another with --port`);
  }
});

test('--list names releases, faults and scripts', async () => {
  const result = await runCli(['simulate', '--list', '--json']);
  expect(result.code).toBe(0);
  const list = document<{
    releases: { version: string; contract: number | null }[];
    faults: { name: string }[];
  }>(result);
  expect(list.releases.map(({ version, contract }) => [version, contract])).toEqual([
    ['0.13.0', null],
    ['0.14.0', null],
    ['0.15.2', null],
    ['0.16.0', 1],
    ['0.17.0', 2],
    ['0.18.2', 2],
    ['0.19.0', 4],
    ['0.20.0.post2', 5],
    ['0.21.0.post1', 6],
    ['0.21.4.post1', 7],
    ['0.22.2.post1', 8],
  ]);
  expect(list.faults.length).toBeGreaterThan(60);
  const human = await runCli(['simulate', '--list']);
  expect(human.stdout).toContain('drop-upgrade');
  expect(human.stdout).toContain('two-tools');
});

test('doctor and the stand-in understand each other; Ctrl-C ends it', async () => {
  const [simulated, child] = await start(['--release', '0.16.0', '--fault', 'stale-token']);
  expect(simulated).toMatchObject({
    what: 'dashboard',
    release: '0.16.0',
    faults: ['stale-token'],
    login: null,
  });
  const doctor = await runCli(['doctor', simulated.url, '--client', 'minimal', '--json']);
  expect(doctor.code).toBe(3);
  expect(doctor.stdout).toContain('TOKEN_REJECTED');
  const right = await runCli(['doctor', simulated.url, '--client', 'minimal', '--json'], {
    env: { HERMES_COMPAT_TOKEN: simulated.token ?? '' },
  });
  expect(right.code).toBe(0);
  child.kill('SIGINT');
  expect(await once(child, 'exit')).toEqual([130, null]);
  await expect(fetch(simulated.url)).rejects.toThrow();
});

test('a token or a password that was given is not shown', async () => {
  const canary = 'CANARY-simulate-0123456789';
  const [token] = await start(['--token-env', 'T'], { T: canary });
  expect(token.token).toBeNull();
  const answer = await fetch(`${token.url}/api/sessions`, { headers: { 'x-hermes-session-token': canary } });
  expect(answer.status).toBe(200);
  const [gated] = await start(['--gated', '--username', 'someone', '--password-env', 'P'], { P: canary });
  expect(gated.login).toEqual({ username: 'someone', password: null });
  expect(JSON.stringify([token, gated])).not.toContain(canary);
  const both = await runCli(['simulate', '--gated', '--token-env', 'T'], { env: { T: canary } });
  expect(both.code).toBe(2);
  expect(both.stderr + both.stdout).not.toContain(canary);
});

test('a recording tells its release, and its rows are served', async () => {
  const [simulated] = await start(['--play', recording]);
  expect(simulated.release).toBe('0.19.0');
  const rows = await fetch(`${simulated.url}/api/sessions/20261130_134917_0d4e07/messages`, {
    headers: { 'x-hermes-session-token': simulated.token ?? '' },
  });
  expect(JSON.stringify(await rows.json())).toContain('SCN:plain say hello');
});

test('the provider by itself', async () => {
  const [simulated] = await start(['--provider']);
  expect(simulated.what).toBe('provider');
  const models = await fetch(`${simulated.url}/models`);
  expect(JSON.stringify(await models.json())).toContain('scripted-1');
});

test('the example of the documentation runs, against the package as it is published', async () => {
  const page = await readFile(new URL('../../docs/simulate.md', import.meta.url), 'utf8');
  const example = /```ts\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  const child = spawn(process.execPath, ['--input-type=module', '--eval', example], {
    // Inside the package its own name leads to dist, by `exports`.
    cwd: fileURLToPath(new URL('../../', import.meta.url)),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(errors).toBe('');
  expect(out).toMatch(
    /^http:\/\/127\.0\.0\.1:\d+ \S{43}\n\[\] \[\]\nhttp:\/\/127\.0\.0\.1:\d+\/v1 0 false\n$/,
  );
});

test('--for ends it, and a person reads what to do', async () => {
  const { code, stdout } = await runCli(['simulate', '--for', '0.2']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/A simulated Hermes Agent 0\.19\.0, at http:\/\/127\.0\.0\.1:\d+/);
  expect(stdout).toContain('hermes-compat doctor http://127.0.0.1:');
  expect(stdout).toContain('Ctrl-C');
});

test.each([
  [['--release', '9.9'], 'no release'],
  [['--fault', 'nope'], 'no fault'],
  [['--play', '/nonexistent.jsonl'], 'cannot read'],
  [['--port', '99999'], 'port'],
  [['--for', 'soon'], '--for'],
  [['--play', recording, '--pace', 'fast'], '--pace'],
])('%j is refused with 2', async (args, words) => {
  const { code, stderr, stdout } = await runCli(['simulate', ...args]);
  expect({ code, text: stderr + stdout }).toEqual({ code: 2, text: expect.stringContaining(words) });
});

test('a file that is no recording is named by its line', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-simulate-'));
  try {
    const file = join(folder, 'x.jsonl');
    await writeFile(file, '{"dir":"in","frame":{}}\noops\n');
    const { code, stderr } = await runCli(['simulate', '--play', file]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('line 2') });
  } finally {
    await rm(folder, { recursive: true, maxRetries: 5 });
  }
});
