import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Report, Reports } from '../../src/judge/schema.ts';
import { startSimulator } from '../../src/simulate/index.ts';
import type { Simulator, SimulatorOptions } from '../../src/simulate/index.ts';
import { type CliResult, document, runCli } from '../support/cli.ts';
import { freePort } from '../support/engines.ts';
import { checkedJunit } from '../support/junit-grammar.ts';
import { bin } from '../support/bin.ts';

// `preflight` and `report merge` as a CI job runs them, against stand-ins.

const token = 'CANARY-token-of-the-fleet-0123';
const password = 'CANARY-password-of-the-fleet';
let folder: string;
const running: Simulator[] = [];
const silent: Server = createServer((socket) => socket.on('error', () => undefined).resume());
let silentUrl: string;

const standIn = async (options: SimulatorOptions): Promise<string> => {
  const simulator = await startSimulator({ token, ...options });
  running.push(simulator);
  return simulator.url;
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'preflight-'));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  silentUrl = `http://127.0.0.1:${(silent.address() as { port: number }).port}`;
});
afterAll(async () => {
  await Promise.all(running.map((each) => each.close()));
  silent.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

interface Target {
  name: string;
  address: string;
  [key: string]: unknown;
}

let files = 0;
async function targetsFile(targets: readonly Target[], more: Record<string, unknown> = {}): Promise<string> {
  files += 1;
  const path = join(folder, `targets-${files}.json`);
  await writeFile(
    path,
    JSON.stringify({
      defaults: { client: 'minimal', tokenEnv: 'FLEET_TOKEN', timeoutMs: 8000 },
      ...more,
      targets,
    }),
  );
  return path;
}

const env = { FLEET_TOKEN: token, FLEET_PASSWORD: password };

async function preflight(args: string[], more: Record<string, string> = {}): Promise<CliResult> {
  const result = await runCli(['preflight', ...args], { env: { ...env, ...more }, timeoutMs: 120_000 });
  expect(result.stdout + result.stderr).not.toContain('CANARY');
  return result;
}

const verdicts = ({ reports }: Reports): string[] =>
  reports.map(({ target, verdict, exitCode }) => `${target.name} ${verdict} ${exitCode}`);
const codes = (report: Report | undefined): string[] =>
  (report?.findings ?? []).filter(({ severity }) => severity === 'error').map(({ code }) => code);

describe('mixed targets', () => {
  let file: string;
  const names = [
    'good',
    'chat-off',
    'host',
    'refused',
    'silent',
    'login',
    'wrong-token',
    'legacy',
    'legacy-at-dashboard',
  ];
  beforeAll(async () => {
    const good = await standIn({ release: '0.19.0' });
    const gated = await startSimulator({ release: '0.22.2', gated: { username: 'ann', password } });
    running.push(gated);
    file = await targetsFile([
      { name: 'good', address: good, require: ['sessions', 'model-set'] },
      { name: 'chat-off', address: await standIn({ release: '0.14.0' }) },
      { name: 'host', address: await standIn({ release: '0.19.0', faults: ['foreign-host'] }) },
      { name: 'refused', address: `http://127.0.0.1:${await freePort()}` },
      { name: 'silent', address: silentUrl, timeoutMs: 1500 },
      { name: 'login', address: gated.url, username: 'ann', passwordEnv: 'FLEET_PASSWORD' },
      {
        name: 'wrong-token',
        address: await standIn({ release: '0.18.2', token: 'another-token-0123456789' }),
      },
      {
        name: 'legacy',
        address: await standIn({ release: '0.19.0', faults: ['api-server'] }),
        mode: 'legacy',
      },
      { name: 'legacy-at-dashboard', address: good, mode: 'legacy' },
    ]);
  });

  test('each has its verdict, in the order of the file; the exit code is the worst by the published order', async () => {
    const result = await preflight([file, '--json']);
    const reports = document<Reports>(result);
    expect(verdicts(reports)).toEqual([
      'good compatible 0',
      'chat-off needs-remedy 1',
      'host incompatible 1',
      'refused unknown 3',
      'silent unknown 3',
      'login compatible 0',
      'wrong-token unknown 3',
      'legacy unknown 3',
      'legacy-at-dashboard unknown 3',
    ]);
    expect(reports.reports.map(codes)).toEqual([
      [],
      ['CHAT_DISABLED'],
      ['HOST_REJECTED'],
      ['CONNECTION_REFUSED'],
      ['RESPONSE_TIMEOUT'],
      [],
      ['TOKEN_REJECTED'],
      ['TOKEN_REJECTED'],
      ['WRONG_SERVICE'],
    ]);
    expect(reports.summary).toMatchObject({
      total: 9,
      compatible: 2,
      'needs-remedy': 1,
      incompatible: 1,
      unknown: 5,
      exitCode: 1,
    });
    expect(result.code).toBe(1);
    expect(result.stderr).toBe('');
    // What a client in the other mode would get is told beside it.
    expect(reports.reports[0]?.transport).toMatchObject({ auto: { chooses: 'dashboard', usable: 'yes' } });
  });

  test('people read a line for each, then the details of those that are not compatible', async () => {
    const { stdout } = await preflight([file]);
    const lines = stdout.split('\n');
    expect(lines.slice(0, 9).map((line) => line.trim().split(/\s+/)[1])).toEqual(names);
    expect(stdout).toContain('9 targets: 2 compatible, 1 needs-remedy, 1 incompatible, 5 unknown\n');
    expect(stdout).toContain('── chat-off\n');
    expect(stdout).not.toContain('── good\n');
  });

  test('a shard is a part, and the parts merged are the whole', async () => {
    const whole = document<Reports>(await preflight([file, '--json']));
    const parts = await Promise.all(
      [1, 2, 3, 4].map(async (index) => {
        const path = join(folder, `shard-${index}.json`);
        await preflight([file, '--shard', `${index}/4`, '--json', '--output', path]);
        return path;
      }),
    );
    const sizes = await Promise.all(
      parts.map(async (path) => (JSON.parse(await readFile(path, 'utf8')) as Reports).reports.length),
    );
    expect(sizes.toSorted((a, b) => a - b)).toEqual([2, 2, 2, 3]);
    const merged = await runCli(['report', 'merge', ...parts.toReversed(), '--json']);
    expect(timeless(document<Reports>(merged))).toEqual(timeless(whole));
    expect(merged.code).toBe(1);

    const missing = await runCli(['report', 'merge', ...parts.slice(1)]);
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('the shard 1/4 is missing')]);
    const twice = await runCli(['report', 'merge', ...parts, parts[0] ?? '']);
    expect(twice.code).toBe(2);
  });

  test('more shards than targets: the empty ones are whole too', async () => {
    const few = await targetsFile([{ name: 'only', address: silentUrl, timeoutMs: 500 }]);
    const results = await Promise.all(
      [1, 2].map((index) => preflight([few, '--shard', `${index}/2`, '--json'])),
    );
    expect(
      results.map((result) => document<Reports>(result).summary.total).toSorted((a, b) => a - b),
    ).toEqual([0, 1]);
    expect(results.map(({ code }) => code ?? -1).toSorted((a, b) => a - b)).toEqual([0, 3]);
  });
});

/** Without what differs from run to run: times. */
const timeless = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, inner: unknown) =>
      ['durationMs', 'ms'].includes(key)
        ? 0
        : typeof inner === 'string'
          ? inner.replace(/ in \d+ ms$/, '')
          : inner,
    ),
  );

describe('limits', () => {
  test('silent targets wait at the same time, each for its own limit', async () => {
    const targets = Array.from({ length: 12 }, (_, index) => ({
      name: `s${index}`,
      address: silentUrl,
      timeoutMs: 1500,
    }));
    const began = performance.now();
    const reports = document<Reports>(
      await preflight([await targetsFile(targets), '--parallel', '12', '--json']),
    );
    expect(reports.summary.unknown).toBe(12);
    for (const report of reports.reports) {
      expect(report.durationMs).toBeGreaterThan(1400);
      expect(report.durationMs).toBeLessThan(6000);
    }
    // One after the other they would take 18 s.
    expect(performance.now() - began).toBeLessThan(12_000);
  });

  test('never more at once than --parallel says, and results stay in order', async () => {
    let open = 0;
    let most = 0;
    const slow = createServer((socket) => {
      open += 1;
      most = Math.max(most, open);
      socket
        .on('error', () => undefined)
        .on('close', () => (open -= 1))
        .resume();
    });
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${(slow.address() as { port: number }).port}`;
    const targets = Array.from({ length: 9 }, (_, index) => ({ name: `n${index}`, address, timeoutMs: 300 }));
    const reports = document<Reports>(
      await preflight([await targetsFile(targets, { parallel: 3 }), '--json']),
    );
    slow.close();
    expect(reports.reports.map(({ target }) => target.name)).toEqual(targets.map(({ name }) => name));
    // The status, and one connection opened ahead for the upgrade.
    expect(most).toBeLessThanOrEqual(6);
    expect(most).toBeGreaterThan(2);
  });

  test('an ssh target that nobody answers ends with its limit and leaves the others alone', async () => {
    const port = (silent.address() as { port: number }).port;
    const file = await targetsFile([
      { name: 'ssh', address: `ssh://nobody@127.0.0.1:${port}`, timeoutMs: 1500 },
      { name: 'good', address: await standIn({ release: '0.19.0' }) },
    ]);
    const reports = document<Reports>(await preflight([file, '--json']));
    expect(verdicts(reports)).toEqual(['ssh unknown 3', 'good compatible 0']);
    expect(reports.reports[0]?.durationMs).toBeLessThan(6000);
  });
});

describe('interrupted', () => {
  test('what was checked is reported, what was not is named, and the code is 130', async () => {
    const file = await targetsFile(
      [
        { name: 'good', address: await standIn({ release: '0.19.0' }) },
        { name: 'waiting', address: silentUrl, timeoutMs: 60_000 },
        { name: 'never', address: silentUrl, timeoutMs: 60_000 },
      ],
      { parallel: 1 },
    );
    const output = join(folder, 'interrupted.json');
    // The first target is done when the second one is asked.
    const second = new Promise<void>((resolve) => silent.once('connection', () => setTimeout(resolve, 500)));
    const result = await interruptedRun(['preflight', file, '--json', '--output', output], second);
    expect(result.code).toBe(130);
    const reports = JSON.parse(await readFile(output, 'utf8')) as Reports;
    expect(verdicts(reports)).toEqual(['good compatible 0']);
    expect(reports.notRun).toEqual(['waiting', 'never']);
    expect(reports.summary.exitCode).toBe(130);
    expect(result.afterSignalMs).toBeLessThan(8000);

    const merged = await runCli(['report', 'merge', output]);
    expect(merged.code).toBe(130);
    expect(merged.stdout).toContain('Interrupted: 2 targets were not checked (waiting, never)');
    const junit = await runCli(['report', 'merge', output, '--format', 'junit']);
    expect(junit.stdout.match(/<error message="not checked: interrupted"/g)).toHaveLength(2);
  });
});

function interruptedRun(
  args: string[],
  when: Promise<void>,
): Promise<{ code: number | null; afterSignalMs: number }> {
  const child = spawn(process.execPath, [bin, ...args], {
    env: { PATH: '/usr/bin:/bin', HOME: folder, ...env },
    stdio: 'ignore',
  });
  let sent = 0;
  void when.then(() => {
    sent = performance.now();
    child.kill('SIGINT');
  });
  return new Promise((resolve) =>
    child.once('close', (code) => resolve({ code, afterSignalMs: performance.now() - sent })),
  );
}

describe('a baseline', () => {
  let file: string;
  beforeAll(async () => {
    file = await targetsFile([
      { name: 'good', address: await standIn({ release: '0.19.0' }) },
      { name: 'old', address: await standIn({ release: '0.14.0' }) },
      { name: 'gone', address: `http://127.0.0.1:${await freePort()}` },
    ]);
  });
  const baseline = async (known: unknown[]): Promise<string> => {
    const path = join(folder, `baseline-${(files += 1)}.json`);
    await writeFile(path, JSON.stringify({ known }));
    return path;
  };
  const entry = (target: string, code: string, until: string) => ({
    target,
    code,
    until,
    reason: 'asked for an update',
  });

  test('accepts what it names until its day: the verdict stays, the exit code does not fail', async () => {
    const path = await baseline([
      entry('old', 'CHAT_DISABLED', '2999-12-31'),
      entry('*', 'CONNECTION_REFUSED', '2999-12-31'),
      entry('good', 'TOKEN_REJECTED', '2999-12-31'),
    ]);
    const result = await preflight([file, '--baseline', path, '--json']);
    const reports = document<Reports>(result);
    expect(verdicts(reports)).toEqual(['good compatible 0', 'old needs-remedy 0', 'gone unknown 0']);
    expect(result.code).toBe(0);
    expect(reports.reports[1]?.findings.find(({ code }) => code === 'CHAT_DISABLED')?.known).toEqual({
      until: '2999-12-31',
      reason: 'asked for an update',
    });
    expect(reports.baseline).toEqual({ expired: [], unused: ['good: TOKEN_REJECTED (until 2999-12-31)'] });

    const junit = (await preflight([file, '--baseline', path, '--format', 'junit'])).stdout;
    expect(junit).toMatch(/<testsuites name="hermes-compat" tests="\d+" failures="0"/);
    const github = (await preflight([file, '--baseline', path, '--format', 'github'])).stdout;
    expect(github).not.toContain('::error');
    expect(github).toMatch(/^::notice title=old%3A CHAT_DISABLED::.*Accepted, known until 2999-12-31/m);
    const people = (await preflight([file, '--baseline', path])).stdout;
    expect(people).toContain('CHAT_DISABLED (known)');
    expect(people).toContain('In the baseline, and not met any more: good: TOKEN_REJECTED');
  });

  test('after its day it counts again, and is named', async () => {
    const path = await baseline([
      entry('old', 'CHAT_DISABLED', '2020-01-31'),
      entry('gone', 'CONNECTION_REFUSED', '2999-12-31'),
    ]);
    const result = await preflight([file, '--baseline', path, '--json']);
    expect(result.code).toBe(1);
    expect(document<Reports>(result).baseline?.expired).toEqual(['old: CHAT_DISABLED (until 2020-01-31)']);
  });

  test('another finding of the same target still fails', async () => {
    const path = await baseline([entry('old', 'MODEL_LIBRARY_MISSING', '2999-12-31')]);
    expect((await preflight([file, '--baseline', path, '--json'])).code).toBe(1);
  });

  test.each([
    ['{"known":[{"target":"a","code":"chat","until":"2030-01-01","reason":"x"}]}', 'known.0.code'],
    ['{"known":[{"target":"a","code":"CHAT_DISABLED","until":"2030-02-31","reason":"x"}]}', 'known.0.until'],
    ['{"known":[{"target":"a","code":"CHAT_DISABLED","until":"2030-01-01"}]}', 'known.0.reason'],
    ['known: [', 'is not YAML'],
  ])('%s is refused', async (text, place) => {
    const path = join(folder, 'bad-baseline.json');
    await writeFile(path, text);
    const result = await preflight([file, '--baseline', path]);
    expect([result.code, result.stderr]).toEqual([2, expect.stringContaining(place)]);
    expect(result.stdout).toBe('');
  });
});

describe('formats', () => {
  test('the job summary of a GitHub step is written beside the annotations', async () => {
    const file = await targetsFile([
      { name: 'good', address: await standIn({ release: '0.19.0' }) },
      { name: 'gone', address: `http://127.0.0.1:${await freePort()}` },
    ]);
    const summary = join(folder, 'summary.md');
    const result = await preflight([file, '--format', 'github'], { GITHUB_STEP_SUMMARY: summary });
    expect(result.stdout).toMatch(/^::error title=gone%3A CONNECTION_REFUSED::/m);
    const lines = (await readFile(summary, 'utf8')).split('\n');
    expect(lines[0]).toBe('## hermes-compat');
    // The bad ones first: a summary may be cut.
    expect(lines.filter((line) => line.startsWith('| ')).map((line) => line.split('|')[2]?.trim())).toEqual([
      'Target',
      'gone',
      'good',
    ]);
    const unwritable = await preflight([file, '--format', 'github'], { GITHUB_STEP_SUMMARY: folder });
    expect([unwritable.code, unwritable.stderr]).toEqual([3, expect.stringContaining('job summary')]);
  });

  test('one run, every format of it, each as its readers expect it', async () => {
    const file = await targetsFile([
      { name: 'good, with: marks % and "more"', address: await standIn({ release: '0.19.0' }) },
      { name: 'off', address: await standIn({ release: '0.14.0' }) },
      { name: 'gone', address: `http://127.0.0.1:${await freePort()}` },
    ]);
    const saved = join(folder, 'saved.json');
    await preflight([file, '--json', '--output', saved]);
    const as = async (format: string): Promise<string> => {
      const result = await runCli(['report', 'merge', saved, '--format', format]);
      expect([format, result.code, result.stderr]).toEqual([format, 1, '']);
      return result.stdout;
    };
    document<Reports>({ code: 1, stdout: await as('json'), stderr: '' });
    const lines = (await as('ndjson')).trimEnd().split('\n');
    expect(lines).toHaveLength(4);
    for (const line of lines) document({ code: 1, stdout: line, stderr: '' });
    const suites = checkedJunit(await as('junit')).children;
    expect(suites.map(({ attributes }) => attributes['name'])).toEqual([
      'good, with: marks % and &quot;more&quot;',
      'off',
      'gone',
    ]);
    for (const line of (await as('github')).trimEnd().split('\n'))
      expect(line).toMatch(/^(?:::(?:error|warning|notice) title=[^:,]*::[^\r\n]+|hermes-compat \S+ .*)$/);
    expect(await as('html')).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(await as('human')).toContain('3 targets: 1 compatible, 1 needs-remedy, 1 unknown');
  });
});

describe('input that is wrong ends the run before anything is asked', () => {
  const cases: [string, string | Target[], string][] = [
    [
      'a misspelt key',
      'targets:\n  - name: a\n    adress: local\n    client: minimal\n',
      '3:5: unknown key "adress"',
    ],
    ['no client', 'targets:\n  - name: a\n    address: http://127.0.0.1:1\n', '2:11'],
    [
      'a name twice',
      'targets:\n  - {name: a, address: local, client: minimal}\n  - {name: a, address: local, client: minimal}\n',
      '3:12: the name "a" is used twice',
    ],
    [
      'a URL with a password',
      'targets:\n  - {name: a, address: "http://me:CANARY@h", client: minimal}\n',
      '2:24: the target holds a user name or password',
    ],
    [
      'an unknown client',
      [{ name: 'a', address: 'http://127.0.0.1:1', client: 'nobody' }],
      'target "a": no client "nobody"',
    ],
    [
      'an unknown capability',
      [{ name: 'a', address: 'http://127.0.0.1:1', require: ['telepathy'] }],
      'target "a": no capability "telepathy"',
    ],
    [
      'a variable that is unset',
      [{ name: 'a', address: 'http://127.0.0.1:1', tokenEnv: 'NOT_THERE' }],
      'target "a": tokenEnv: the environment variable NOT_THERE is not set',
    ],
    [
      'a file that is not there',
      [{ name: 'a', address: 'http://127.0.0.1:1', tokenFile: 'missing' }],
      'ENOENT',
    ],
    [
      'a certificate that is none',
      [{ name: 'a', address: 'https://127.0.0.1:1', ca: 'secret' }],
      'holds no PEM certificate',
    ],
    [
      'a certificate that cannot be read',
      [{ name: 'a', address: 'https://127.0.0.1:1', ca: 'garbage.pem' }],
      'target "a": the certificate in ',
    ],
    [
      'a header line that is none',
      [{ name: 'a', address: 'http://127.0.0.1:1', headerFile: 'secret' }],
      'line 1 of the header file',
    ],
    [
      'a command',
      'targets:\n  - {name: a, address: local, client: minimal, tokenCommand: id}\n',
      'unknown key "tokenCommand"',
    ],
    [
      'an unset variable has its place',
      'targets:\n  - {name: a, address: local, client: minimal, tokenEnv: NOT_THERE}\n',
      'bad.yaml:2:12: target "a": tokenEnv: the environment variable NOT_THERE is not set',
    ],
    ['no YAML at all', '\u0000\u0001', ':1:'],
    ['an empty file', '', '1:1'],
    ['a list instead of a map', '- a\n- b\n', '1:1'],
    ['two documents', 'targets: []\n---\ntargets: []\n', 'yaml'],
  ];
  test.each(cases)('%s', async (_, given, said) => {
    await writeFile(join(folder, 'secret'), 'CANARY-not-a-header\n');
    await writeFile(
      join(folder, 'garbage.pem'),
      '-----BEGIN CERTIFICATE-----\nCANARY\n-----END CERTIFICATE-----\n',
    );
    const path = typeof given === 'string' ? join(folder, 'bad.yaml') : await targetsFile(given);
    if (typeof given === 'string') await writeFile(path, given);
    const result = await preflight([path]);
    expect([result.code, result.stderr]).toEqual([2, expect.stringContaining(said)]);
    expect(result.stdout + result.stderr).not.toContain('CANARY');
    expect(result.stdout).toBe('');
  });

  test('a folder, a device without an end, a file that cannot be read, and both sources at once', async () => {
    expect((await preflight([folder])).stderr).toContain('EISDIR');
    expect(await preflight(['/dev/zero'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('larger than'),
    });
    // Not even root reads that one.
    expect((await preflight(['/proc/self/mem'])).stderr).toContain(
      'cannot read the targets file /proc/self/mem (EIO)',
    );
    expect((await preflight([])).code).toBe(2);
    expect((await preflight([join(folder, 'x'), '--ansible-inventory', 'y'])).code).toBe(2);
  });

  test.each([
    ['--shard', '0/4'],
    ['--shard', '5/4'],
    ['--shard', '1'],
    ['--parallel', '0'],
    ['--parallel', 'many'],
    ['--fail-on', 'nothing'],
    ['--format', 'pdf'],
  ])('%s %s', async (option, value) => {
    const result = await preflight([await targetsFile([{ name: 'a', address: silentUrl }]), option, value]);
    expect([result.code, result.stderr]).toEqual([2, expect.stringContaining(option)]);
  });

  test('ten thousand lines are read at once, and a fault at their end is found', async () => {
    const rows = Array.from(
      { length: 5000 },
      (_, index) => `  - name: t${index}\n    address: http://127.0.0.1:1\n`,
    );
    const path = join(folder, 'long.yaml');
    await writeFile(path, `defaults: {client: minimal}\ntargets:\n${rows.join('')}  - nam: x\n`);
    const began = performance.now();
    const result = await preflight([path]);
    expect([result.code, result.stderr]).toEqual([
      2,
      expect.stringContaining('long.yaml:10003:5: unknown key "nam"'),
    ]);
    expect(performance.now() - began).toBeLessThan(15_000);
  });

  test('a YAML bomb', async () => {
    const levels = Array.from(
      { length: 30 },
      (_, index) => `l${index + 1}: &l${index + 1} [${Array(10).fill(`*l${index}`).join(',')}]`,
    );
    const path = join(folder, 'bomb.yaml');
    await writeFile(path, `l0: &l0 [x]\n${levels.join('\n')}\ntargets: *l30\n`);
    const began = performance.now();
    expect((await preflight([path])).code).toBe(2);
    expect(performance.now() - began).toBeLessThan(15_000);
  });
});

describe('an Ansible inventory', () => {
  test('is read through ansible-inventory --list; its hosts are the targets', async () => {
    const good = await standIn({ release: '0.19.0' });
    const inventory = {
      _meta: { hostvars: { web: { hermes_compat_address: good, hermes_compat_token_env: 'FLEET_TOKEN' } } },
      all: { children: ['ungrouped'] },
      ungrouped: { hosts: ['web'] },
    };
    const program = join(folder, 'ansible-inventory');
    await writeFile(
      program,
      `#!/bin/sh\n[ "$1 $3" = "--inventory --list" ] || exit 9\ncat <<'END'\n${JSON.stringify(inventory)}\nEND\n`,
    );
    await chmod(program, 0o755);
    const PATH = `${folder}:/usr/bin:/bin`;
    const result = await preflight(['--ansible-inventory', 'hosts.ini', '--client', 'minimal', '--json'], {
      PATH,
    });
    expect(verdicts(document<Reports>(result))).toEqual(['web compatible 0']);
    expect((await preflight(['--ansible-inventory', 'hosts.ini'], { PATH })).stderr).toContain('no client');
    const missing = await preflight(['--ansible-inventory', 'hosts.ini', '--client', 'minimal'], {
      PATH: '/nonexistent',
    });
    expect([missing.code, missing.stderr]).toEqual([
      2,
      expect.stringContaining('ansible-inventory is not on PATH'),
    ]);
  });
});
