import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Io } from '../../src/cli/io.ts';
import { main } from '../../src/cli/main.ts';
import { turnCases } from '../turn/cases.ts';
import { bin } from '../support/bin.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'replay-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** The program in this process, with streams of its own. */
async function replay(args: string[], input?: string | Buffer): Promise<Ended> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const texts = [stdout, stderr].map(async (stream) => {
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString('utf8');
  });
  const stdin = new PassThrough();
  stdin.end(input);
  const io: Io = {
    stdin,
    stdout,
    stderr,
    env: {},
    platform: 'linux',
    cwd: process.cwd(),
    home: folder,
    pid: 1,
    lastWords: new Set(),
    signal: new AbortController().signal,
  };
  const code = await main(['replay', ...args], io);
  stdout.end();
  stderr.end();
  const [out = '', err = ''] = await Promise.all(texts);
  return { code, stdout: out, stderr: err };
}

const root = join(import.meta.dirname, '../../cases/turns');
const fileOf = (name: string) => {
  const path = join(root, name);
  return readdirSync(join(path, '..')).includes(`${name.split('/')[1]}.jsonl`)
    ? `${path}.jsonl`
    : `${path}.jsonl.gz`;
};

/** The keys of the expected file, at every level. */
function picked(value: unknown, like: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(like)) {
    return value.map((one, i) => picked(one, like[i]));
  }
  if (typeof value === 'object' && value !== null && typeof like === 'object' && like !== null) {
    return Object.fromEntries(
      Object.keys(like).map((key) => [key, picked((value as never)[key], (like as never)[key])]),
    );
  }
  return value;
}

describe('every case through the command', () => {
  const ajv = new Ajv2020({ strict: false });
  const validate = ajv.compile(JSON.parse(readFileSync('schemas/timeline.schema.json', 'utf8')));
  test.each(turnCases().map((one) => [one.name, one] as const))('%s', async (name, one) => {
    const stored = one.stored === null ? [] : ['--stored', join(root, `${name}.stored.json`)];
    const { code, stdout, stderr } = await replay([fileOf(name), ...stored, '--json', '--twice']);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const document = JSON.parse(stdout) as Record<string, unknown>;
    expect(validate(document), ajv.errorsText(validate.errors)).toBe(true);
    expect(document).toMatchObject({
      kind: 'timeline',
      schemaVersion: '1.0',
      twice: { equal: true, changed: [] },
    });
    expect(picked(document, one.expected)).toEqual(one.expected);
  });
});

const frames = (name: string) => readFileSync(join(root, `${name}.jsonl`), 'utf8');

describe('where a recording comes from', () => {
  const wanted = async () =>
    JSON.parse((await replay([fileOf('v0.19.0/busy-tool'), '--json'])).stdout) as unknown;

  test('standard input, plain and packed, with and without a name', async () => {
    const text = frames('v0.19.0/busy-tool');
    for (const input of [text, gzipSync(text)]) {
      expect(JSON.parse((await replay(['-', '--json'], input)).stdout)).toEqual(await wanted());
      expect(JSON.parse((await replay(['--json'], input)).stdout)).toEqual(await wanted());
    }
  });

  test('a packed file, and one that ends early', async () => {
    const packed = gzipSync(frames('v0.19.0/busy-tool'));
    writeFileSync(join(folder, 'a.jsonl.gz'), packed);
    expect(JSON.parse((await replay([join(folder, 'a.jsonl.gz'), '--json'])).stdout)).toEqual(await wanted());
    writeFileSync(join(folder, 'cut.gz'), packed.subarray(0, packed.length - 600));
    const cut = await replay([join(folder, 'cut.gz'), '--json']);
    expect(cut.code).toBe(0);
    expect(cut.stderr).toContain('not whole');
    expect(
      (JSON.parse(cut.stdout) as { turns: { outcome: string }[] }).turns.map((turn) => turn.outcome),
    ).not.toContain('completed');
  });

  test('the HAR export of a browser', async () => {
    const messages = frames('v0.19.0/busy-tool')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { t: number; dir: string; frame?: unknown })
      .filter((record) => record.dir !== 'note')
      .map((record) => ({
        type: record.dir === 'in' ? 'receive' : 'send',
        time: 1_796_000_000 + record.t / 1000,
        opcode: 1,
        data: JSON.stringify(record.frame),
      }));
    const entry = {
      _resourceType: 'websocket',
      request: { url: 'ws://127.0.0.1:9119/api/ws?token=secret-in-url' },
      _webSocketMessages: [...messages, { type: 'receive', time: 0, data: 'not JSON' }],
    };
    const har = join(folder, 'a.har');
    writeFileSync(
      har,
      JSON.stringify({ log: { version: '1.2', entries: [{ request: { url: 'http://x/' } }, entry] } }),
    );
    const { stdout, code } = await replay([har, '--json']);
    expect(code).toBe(0);
    expect(stdout).not.toContain('secret-in-url');
    const plain = (text: unknown) =>
      (text as { turns: { parts: unknown[]; outcome: string }[] }).turns.map(({ outcome, parts }) => ({
        outcome,
        parts: parts.length,
      }));
    expect(plain(JSON.parse(stdout))).toEqual(plain(await wanted()));
  });

  test('lines that are no JSON are named, the rest counts; a half last line is not waited for', async () => {
    const text = frames('v0.19.0/busy-tool');
    const { stdout, stderr } = await replay(['-', '--json'], `oops\n${text}{"t": 1, "dir": "in", "fra`);
    expect(JSON.parse(stdout)).toEqual(await wanted());
    expect(stderr).toContain('line 1 is no JSON and was left out');
    expect(stderr).toContain('the end is not whole');
  });

  test.each([
    ['nothing', ''],
    ['other JSON lines', '{"a":1}\n{"b":2}\n'],
    ['no text at all', Buffer.from([0, 1, 2, 3, 255])],
    ['a HAR without messages', '{"log":{"entries":[]}}'],
    ['a HAR cut short', '{"log":{"entries":['],
    [
      'a damaged packed file',
      Buffer.concat([gzipSync('{"dir":"in"}').subarray(0, 12), Buffer.from('garbage and more garbage')]),
    ],
  ])('%s is no recording: exit 2', async (_name, input) => {
    const { code, stderr } = await replay(['-'], input);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^hermes-compat: /m);
  });

  test('several recordings are one document with their names', async () => {
    const { stdout } = await replay([fileOf('v0.19.0/plain'), fileOf('v0.19.0/busy'), '--json']);
    const document = JSON.parse(stdout) as { kind: string; timelines: { file: string; turns: unknown[] }[] };
    expect(document.kind).toBe('timelines');
    expect(document.timelines.map((one) => one.turns.length)).toEqual([1, 2]);
    expect(document.timelines[0]?.file).toContain('plain.jsonl');
  });
});

describe('usage', () => {
  test.each([
    [['/no/such/file.jsonl'], 'ENOENT'],
    [['.'], 'folder'],
    [['-', '-'], 'only once'],
    [['a', 'b', '--stored', 'x'], 'one recording'],
    [['-', '--fail-on-difference'], 'needs --stored'],
    [['-', '--format', 'xml'], 'human, json, rows, html'],
    [['-', '--stored', 'package.json'], 'no stored sessions'],
  ])('%j', async (args, said) => {
    const { code, stdout, stderr } = await replay(args, '');
    expect(code).toBe(2);
    expect(stderr).toContain(said);
    expect(stdout).toBe('');
  });

  test('the answer of the engine is stored rows as it is', async () => {
    const name = 'v0.19.0/busy-tool';
    const { sessions } = JSON.parse(readFileSync(join(root, `${name}.stored.json`), 'utf8')) as {
      sessions: { answer: object }[];
    };
    writeFileSync(join(folder, 'answer.json'), JSON.stringify(sessions[0]?.answer));
    const stored = join(folder, 'answer.json');
    const { code, stdout } = await replay([fileOf(name), '--json', '--stored', stored]);
    expect(code).toBe(0);
    const wanted = turnCases().find((one) => one.name === name)?.expected as { comparison: unknown };
    expect(JSON.parse(stdout)).toMatchObject({ comparison: wanted.comparison });
  });

  test('a turn without a submit here may be another client’s', async () => {
    const lines = frames('v0.19.0/busy-tool').split('\n');
    const seen = lines.filter((line) => !line.includes('"prompt.submit"'));
    const { stdout } = await replay(['-'], seen.join('\n'));
    expect(stdout).toContain('(not sent here)');
    expect(stdout).not.toContain('by the engine');
  });

  test('a stored id that is told after the turn still joins it with its rows', async () => {
    const lines = frames('v0.14.0/tool-fail')
      .split('\n')
      .filter((line) => line !== '');
    const isTitle = (line: string) => line.includes('session.title') || line.includes('session_key');
    const late = [...lines.filter((line) => !isTitle(line)), ...lines.filter(isTitle)].join('\n');
    const stored = JSON.parse(readFileSync(join(root, 'v0.14.0/tool-fail.stored.json'), 'utf8')) as {
      sessions: { answer: { messages: unknown[] } }[];
    };
    stored.sessions[0]!.answer.messages.pop();
    writeFileSync(join(folder, 'rows.json'), JSON.stringify(stored));
    const { stdout } = await replay(['-', '--json', '--stored', join(folder, 'rows.json')], late);
    expect((JSON.parse(stdout) as { comparison: unknown }).comparison).toEqual({
      equal: false,
      differences: [{ turn: 0, code: 'missing-assistant' }],
    });
  });

  test('--fail-on-difference', async () => {
    const name = 'v0.16.0/noprogress';
    const args = [fileOf(name), '--stored', join(root, `${name}.stored.json`)];
    expect((await replay(args)).code).toBe(0);
    expect((await replay([...args, '--fail-on-difference'])).code).toBe(1);
  });
});

describe('for people', () => {
  test('the summary and the answer at once, the rest on request, 80 columns', async () => {
    const short = await replay([fileOf('v0.19.0/write')]);
    expect(short.stdout).toMatch(/^#0 {2}✓ completed {2}.*tools/);
    expect(short.stdout).toContain('files     /home/user/');
    expect(short.stdout).not.toContain('thinks');
    for (const one of turnCases().filter((c) => !c.name.endsWith('/long'))) {
      const { stdout } = await replay([fileOf(one.name), '--verbose']);
      const long = stdout.split('\n').filter(
        (line) =>
          line.length > 80 &&
          line
            .trim()
            .split(' ')
            .every((word) => word.length < 40),
      );
      expect(long, one.name).toEqual([]);
    }
  });

  test('what led there, on a time axis', async () => {
    const { stdout } = await replay([fileOf('v0.19.0/compress'), '-v']);
    expect(stdout).toMatch(/·█+·* +✓ terminal/);
    expect(stdout).toContain('🗜️ Compacting context');
    expect(stdout).toContain('because   message.complete said complete (certain)');
  });

  test('--quiet leaves the closing lines', async () => {
    expect((await replay([fileOf('v0.19.0/plain'), '--quiet'])).stdout).toBe('1 turn: 1 completed.\n');
  });

  test('differences are named in words', async () => {
    const name = 'v0.14.0/disconnect-tool';
    const { stdout } = await replay([fileOf(name), '--stored', join(root, `${name}.stored.json`)]);
    expect(stdout).toContain('order-differs');
    expect(stdout).toContain('the stored turns stand in another order');
  });
});

/** A turn whose every text tries to get out of its place. */
function hostile(): string {
  const evil = '\u001b]0;title\u0007\u001b[2J\u202e<script>alert(1)</script> & "q" \r\u0000\u009b31m';
  const event = (type: string, payload: unknown) => ({
    dir: 'in',
    frame: { method: 'event', params: { type, session_id: 's', payload } },
  });
  const records = [
    { dir: 'out', frame: { id: 1, method: 'session.create', params: {} } },
    { dir: 'in', frame: { id: 1, result: { session_id: 's' } } },
    { dir: 'out', frame: { id: 2, method: 'prompt.submit', params: { session_id: 's', text: evil } } },
    event('message.start', null),
    event('reasoning.delta', { text: evil }),
    event('tool.start', { tool_id: evil, name: evil, context: evil, args: { a: evil } }),
    event('tool.complete', { tool_id: evil, name: evil, result: { output: evil, files_modified: [evil] } }),
    event('status.update', { kind: 'lifecycle', text: evil }),
    event('message.complete', { status: 'error', text: evil, error: evil }),
  ];
  return records.map((record) => JSON.stringify(record)).join('\n');
}

describe('foreign text', () => {
  test.each(['human', 'json', 'rows', 'html'])('steers nothing in %s', async (format) => {
    const { stdout } = await replay(['-', '-v', '--format', format], hostile());
    const control = Array.from(stdout).filter((sign) =>
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(sign),
    );
    expect(control).toEqual([]);
    if (format === 'html') expect(stdout).not.toContain('<script');
  });
});

describe('the page', () => {
  test('needs nothing else, and has everything closed above the answer', async () => {
    const { stdout } = await replay([
      fileOf('v0.19.0/compress'),
      '--format',
      'html',
      '--stored',
      join(root, 'v0.19.0/compress.stored.json'),
    ]);
    expect(stdout).toContain("default-src 'none'");
    expect(stdout).not.toMatch(/<script|<link|<img|src=|@import|url\(/);
    expect(stdout).toContain('name="viewport"');
    expect(stdout).toContain('prefers-color-scheme:dark');
    expect(stdout).not.toMatch(/<details[^>]* open/);
    const process = stdout.indexOf('5 tools (terminal ×5)');
    expect(process).toBeGreaterThan(0);
    expect(stdout.indexOf('class="answer', process)).toBeGreaterThan(process);
    expect(stdout).toContain('<code>truncated-result</code>');
    expect(stdout.match(/<(details|div|article|section|ol|li|p|table|tr|td|span|header)\b/g)?.length).toBe(
      stdout.match(/<\/(details|div|article|section|ol|li|p|table|tr|td|span|header)>/g)?.length,
    );
  });

  test('a very long answer is whole', async () => {
    const { stdout } = await replay([fileOf('v0.19.0/long'), '--format', 'html']);
    expect(stdout).toContain('03999 lorem ipsum');
  });
});

test('rows are what a client with a flat transcript shows', async () => {
  const { stdout } = await replay([fileOf('v0.19.0/two-sessions'), '--format', 'rows']);
  const { kind, rows } = JSON.parse(stdout) as { kind: string; rows: Record<string, unknown>[] };
  expect(kind).toBe('rows');
  expect(rows.filter((row) => row['turn'] === 1).map((row) => row['kind'] ?? row['role'])).toEqual([
    'user',
    'reasoning',
    'agent',
    'tool_call',
    'tool_result',
    'reasoning',
    'agent',
    'tool_call',
    'tool_result',
    'reasoning',
    'agent',
  ]);
  expect(new Set(rows.map((row) => row['id'])).size).toBe(rows.length);
});

test('--output is whole or not there', async () => {
  const file = join(folder, 'out.json');
  expect((await replay([fileOf('v0.19.0/plain'), '--json', '--output', file])).stdout).toBe('');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ kind: 'timeline' });
  expect((await replay(['-', '--json', '--output', join(folder, 'no.json')], '')).code).toBe(2);
  expect(readdirSync(folder).filter((name) => name.startsWith('no.json'))).toEqual([]);
});

describe('the built program', () => {
  test('prints a turn as soon as it is settled, while its input is still written', async () => {
    const child = spawn(process.execPath, [bin, 'replay', '-'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    const lines = frames('v0.19.0/busy').split('\n');
    const second = lines.findIndex((line) => line.includes('"message.complete"'));
    child.stdin.write(`${lines.slice(0, second + 4).join('\n')}\n`);
    for (let i = 0; i < 100 && !stdout.includes('cancelled'); i += 1) await sleep(50);
    expect(stdout).toContain('#0  ■ cancelled');
    expect(stdout).not.toContain('#1');
    child.stdin.end(lines.slice(second + 4).join('\n'));
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect(code).toBe(0);
    expect(stdout).toContain('2 turns: 1 completed, 1 cancelled.');
  });

  test('ends with 130 when it is interrupted, after the turns it knows', async () => {
    const child = spawn(process.execPath, [bin, 'replay', '-'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stdin.write(frames('v0.19.0/plain'));
    for (let i = 0; i < 100 && !stdout.includes('completed'); i += 1) await sleep(50);
    child.kill('SIGINT');
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect(code).toBe(130);
    expect(stdout).toContain('1 turn: 1 completed.');
  });
});
