import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bin } from '../support/bin.ts';
import { document, runCli } from '../support/cli.ts';

// What a person mistypes: exit 2, one clear sentence, what to do; as JSON one document on stdout.

interface ErrorDocument {
  kind: 'error';
  exitCode: number;
  error: { kind: string; message: string; commands: string[][] };
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'usage-'));
  await writeFile(join(folder, 'list.json'), '[]');
  await writeFile(join(folder, 'old.json'), JSON.stringify({ kind: 'facts', schemaVersion: '1.0' }));
  await writeFile(join(folder, 'empty'), '');
  await writeFile(join(folder, 'headers'), 'Host: evil\n');
});
afterAll(() => rm(folder, { recursive: true, maxRetries: 5 }));

describe('usage errors', () => {
  it.concurrent.each([
    [['doktor'], /unknown command 'doktor'/],
    [['doctor', '--frobnicate'], /unknown option '--frobnicate'/],
    [['doctor', 'ftp://x'], /scheme "ftp"/],
    [['doctor', '/root/.hermes'], /local:\/path/],
    [['doctor', 'http://me:S3cret@h'], /user name or password/],
    [['doctor', 'http://127.0.0.1:1', '--client', 'nobody'], /no client "nobody"; there is hermes-desktop/],
    [['doctor', 'http://127.0.0.1:1', '--only', 'nothing'], /no check "nothing"/],
    [['doctor', 'http://127.0.0.1:1', '--port', '1'], /refine a local or ssh target/],
    [['doctor', '--port', '99999'], /not a port/],
    [['doctor', '--timeout', 'soon'], /--timeout is a number of seconds/],
    [['doctor', '--patience', 'saint'], /--patience is one of normal, cold/],
    [['doctor', '--format', 'pdf'], /--format is one of/],
    [['doctor', 'http://127.0.0.1:1', '--token-env', 'NOT_SET_ANYWHERE'], /NOT_SET_ANYWHERE is not set/],
    [
      ['doctor', 'http://127.0.0.1:1', '--token-file', '/nonexistent/token'],
      /cannot read the secret file.*ENOENT/,
    ],
    [['doctor', 'http://127.0.0.1:1', '--username', 'me'], /--password-env/],
    [['doctor', '--from', '/nonexistent/facts'], /cannot read .*ENOENT/],
    [['detect', '--home'], /argument missing/],
    [['explain', 'NO_SUCH_CODE'], /no finding code/],
    [['contract', 'nobody'], /no client/],
    [['preflight'], /give a targets file/],
    [['preflight', '/nonexistent/targets.yaml'], /cannot read the targets file/],
    [['report', 'merge', '/nonexistent/report.json'], /cannot read the report/],
    [['completion', 'tcsh'], /no completion for the shell/],
  ])('%j', { timeout: 60_000 }, async (args, message) => {
    const text = await runCli(args);
    expect(text.code).toBe(2);
    expect(text.stdout).toBe('');
    expect(text.stderr).toMatch(message);
    expect(text.stderr).not.toMatch(/S3cret|\n\s+at /);
  });

  it.each(['list.json', 'old.json', 'empty'])('--from %s is no facts document', async (name) => {
    const result = await runCli(['doctor', '--from', join(folder, name)]);
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(/is not JSON|holds no facts/);
  });

  it('an empty token file and a header file that would break the request are refused', async () => {
    const url = 'http://127.0.0.1:1';
    const token = await runCli(['doctor', url, '--token-file', join(folder, 'empty')]);
    expect(token).toMatchObject({ code: 2, stderr: expect.stringContaining('empty secret') });
    const header = await runCli(['doctor', url, '--header-file', join(folder, 'headers')]);
    expect(header).toMatchObject({ code: 2, stderr: expect.stringContaining('line 1 of the header file') });
  });

  it('gives a program one document', async () => {
    const result = await runCli(['doctor', 'ftp://x', '--json']);
    const { error, exitCode } = document<ErrorDocument>(result);
    expect(result).toMatchObject({ code: 2, stderr: '' });
    expect({ exitCode, kind: error.kind }).toEqual({ exitCode: 2, kind: 'usage' });
    expect(error.message).toMatch(/scheme "ftp"/);
  });
});

describe('without a command', () => {
  it.each([[[]], [['--help']], [['-h']], [['help']]])('%j shows the same help', async (args) => {
    const result = await runCli(args);
    expect(result.code).toBe(0);
    expect(result.stdout).toMatch(/^Usage: hermes-compat <command>/);
    for (const line of result.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  it('every command has help with examples', async () => {
    const { stdout } = await runCli(['--help']);
    const names = [...stdout.matchAll(/^ {2}([a-z-]+) {2,}\S/gm)].map(([, name]) => name ?? '');
    expect(names.length).toBeGreaterThan(8);
    for (const name of names) {
      const help = await runCli([name, '--help']);
      expect({ name, code: help.code }).toEqual({ name, code: 0 });
      expect(help.stdout).toMatch(new RegExp(`^Usage: hermes-compat ${name}`));
      const prose = help.stdout.split('\n').filter((line) => !line.startsWith('  $ '));
      expect(prose.filter((line) => line.length > 80)).toEqual([]);
    }
  });

  it('prints its version', async () => {
    const result = await runCli(['--version']);
    expect(result).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });
});

describe('what the program knows, as JSON', () => {
  it.each([
    ['codes', ['explain', '--json'], 'codes'],
    ['explanation', ['explain', 'CHAT_DISABLED', '--json'], 'code'],
    ['clients', ['contract', '--json'], 'clients'],
    ['checks', ['doctor', '--list-checks', '--json'], 'checks'],
    ['scenarios', ['turn', '--list', '--json'], 'scenarios'],
  ])('%s', async (kind, argv, key) => {
    const result = await runCli(argv);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    const said = document(result);
    expect(said).toMatchObject({ kind });
    expect(JSON.stringify(said[key]).length).toBeGreaterThan(10);
  });

  it('every client that ships is as its schema says', async () => {
    const said = document<{ clients: { name: string }[] }>(await runCli(['contract', '--json']));
    expect(said.clients.map(({ name }) => name)).toEqual(['hermes-desktop', 'hermes-one', 'minimal']);
  });
});

describe('nobody reads any more', () => {
  it.concurrent.each([
    ['a report', ['doctor', 'http://127.0.0.1:1', '--client', 'minimal', '--json']],
    ['an error', ['doctor', '--frobnicate']],
    ['an error as JSON', ['doctor', '--frobnicate', '--json']],
  ])(
    'of %s: the program ends, and does not turn in circles',
    async (_, args) => {
      const child = spawn(process.execPath, [bin, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
      child.stdout.destroy();
      child.stderr.destroy();
      const timer = setTimeout(() => child.kill('SIGKILL'), 40_000);
      const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
      clearTimeout(timer);
      expect(code).not.toBeNull();
      expect(code).not.toBe(70);
    },
    60_000,
  );

  it.each(['--help', '--version'])('of %s: no word about it', async (word) => {
    const child = spawn(process.execPath, [bin, word], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    expect({ code, said }).toEqual({ code: 0, said: '' });
  });

  const full = it.runIf(existsSync('/dev/full'));

  async function intoFull(...words: string[]): Promise<{ code: number | null; said: string }> {
    const file = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [bin, ...words], {
      stdio: ['ignore', file, 'pipe'],
      env: { PATH: process.env['PATH'], HOME: '/nonexistent' },
    });
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    closeSync(file);
    return { code, said };
  }

  full.each(['--help', '--version'])('a full disk is told: %s', async (word) => {
    expect((await intoFull(word)).code).toBe(70);
  });

  full.each([
    ['doctor', '--quiet'],
    ['doctor', '--json', '--quiet'],
    ['doctor', '--help'],
    ['hook', 'run'],
    ['hook', 'run', '--json'],
    ['detect', '--json'],
    ['contract', '--json'],
    ['patch', 'status', '--target', 'http://127.0.0.1:1', '--json'],
  ])('it is no bug of ours: %s %s %s', { timeout: 60_000 }, async (...words) => {
    const { code, said } = await intoFull(...words);
    expect(said).toMatch(/^hermes-compat: the output could not be written \(ENOSPC\)\n$/);
    expect(code).toBe(70);
  });
});
