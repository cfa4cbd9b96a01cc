import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Reports } from '../../src/judge/schema.ts';
import { startSimulator } from '../../src/simulate/index.ts';
import type { Simulator } from '../../src/simulate/index.ts';
import { freePort } from '../support/engines.ts';
import { checkedJunit } from '../support/junit-grammar.ts';

// The composite action: the scripts of its steps run by bash as a runner runs them, with the packed program.

interface Step {
  name: string;
  id?: string;
  shell: string;
  env?: Record<string, string>;
  run: string;
}

interface Action {
  inputs: Record<string, { default?: string; required?: boolean }>;
  outputs: Record<string, { value: string }>;
  runs: { using: string; steps: Step[] };
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);
const action = parse(await readFile(join(root, 'integrations/github-action/action.yml'), 'utf8')) as Action;

let folder: string;
let tarball: string;
const running: Simulator[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'action-'));
  const packed = await run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], {
    cwd: root,
  });
  tarball = join(folder, packed.stdout.trim());
}, 180_000);
afterAll(async () => {
  await Promise.all(running.map((each) => each.close()));
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

interface Job {
  /** Code of the first step that failed; 0 when none did. */
  code: number;
  failed: string | null;
  log: string;
  outputs: Record<string, Record<string, string>>;
  summary: string;
  workspace: string;
}

let jobs = 0;

/** What the first installation of the tarball gave; later jobs need not wait for another one. */
let installed: Record<string, string> | null = null;

/** Runs the steps in order until one fails, as a runner does. */
async function job(
  inputs: Record<string, string>,
  env: Record<string, string> = {},
  workspace?: string,
): Promise<Job> {
  jobs += 1;
  const own = join(folder, `job-${jobs}`);
  const state: Job = {
    code: 0,
    failed: null,
    log: '',
    outputs: {},
    summary: '',
    workspace: workspace ?? join(own, 'work'),
  };
  await mkdir(state.workspace, { recursive: true });
  const paths = { GITHUB_OUTPUT: join(own, 'output'), GITHUB_STEP_SUMMARY: join(own, 'summary') };
  await mkdir(own, { recursive: true });
  const given = Object.fromEntries(
    Object.entries(action.inputs).map(([name, input]) => [name, inputs[name] ?? input.default ?? '']),
  );
  for (const step of action.runs.steps) {
    if (step.id === 'install' && installed !== null && inputs['tarball'] === tarball) {
      state.outputs['install'] = installed;
      continue;
    }
    await writeFile(paths.GITHUB_OUTPUT, '');
    const values = Object.fromEntries(
      Object.entries(step.env ?? {}).map(([name, value]) => [name, filled(value, given, state.outputs)]),
    );
    const script = join(own, 'step.sh');
    await writeFile(script, step.run);
    const result = await run('bash', ['--noprofile', '--norc', '-eo', 'pipefail', script], {
      cwd: state.workspace,
      env: { ...runnerEnv(), RUNNER_TEMP: folder, ...paths, ...env, ...values },
      maxBuffer: 64 * 1024 * 1024,
      timeout: 180_000,
    }).catch((error: { code: number; stdout: string; stderr: string }) => error);
    state.log += `${result.stdout}${result.stderr}`;
    if (step.id !== undefined)
      state.outputs[step.id] = outputsOf(await readFile(paths.GITHUB_OUTPUT, 'utf8'));
    if (step.id === 'install' && !('code' in result)) installed = state.outputs['install'] ?? null;
    if ('code' in result && result.code !== 0) {
      Object.assign(state, { code: result.code, failed: step.name });
      break;
    }
  }
  state.summary = await readFile(paths.GITHUB_STEP_SUMMARY, 'utf8').catch(() => '');
  return state;
}

/** A runner has an environment of its own, with what a machine needs to reach its registry; of an npm that runs us nothing is left. */
const runnerEnv = (): Record<string, string | undefined> => ({
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(npm_(?!config_registry)|GITHUB_|HERMES_|VITEST)/.test(name),
    ),
  ),
  PATH: `${join(process.execPath, '..')}:${process.env['PATH'] ?? '/usr/bin:/bin'}`,
});

const outputsOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line.includes('='))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );

/** `${{ inputs.x }}` and `${{ steps.x.outputs.y }}`, the two that the action uses. */
function filled(text: string, inputs: Record<string, string>, outputs: Job['outputs']): string {
  return text.replaceAll(/\$\{\{ ([\w.-]+) \}\}/g, (_, path: string) => {
    const [kind, name = '', , output = ''] = path.split('.');
    const value = kind === 'inputs' ? inputs[name] : (outputs[name]?.[output] ?? '');
    if (value === undefined) throw new Error(`the action has no ${path}`);
    return value;
  });
}

const standIn = async (release: string): Promise<string> => {
  const simulator = await startSimulator({ release, token: 'CANARY-token-0123456789' });
  running.push(simulator);
  return simulator.url;
};

const env = { FLEET_TOKEN: 'CANARY-token-0123456789' };

async function targets(list: { name: string; address: string }[]): Promise<string> {
  const file = join(folder, `targets-${(jobs += 1)}.json`);
  await writeFile(
    file,
    JSON.stringify({
      defaults: { client: 'minimal', tokenEnv: 'FLEET_TOKEN', timeoutMs: 5000 },
      targets: list,
    }),
  );
  return file;
}

describe('the action', { timeout: 240_000 }, () => {
  test('is a composite one whose scripts hold nothing that is filled in from outside', async () => {
    expect(action.runs.using).toBe('composite');
    for (const step of action.runs.steps) {
      expect(step.shell).toBe('bash');
      expect(step.run).not.toContain('${{');
    }
    const example = parse(await readFile(join(root, 'integrations/github-action/example.yml'), 'utf8')) as {
      jobs: Record<string, { steps: { uses?: string; with?: Record<string, string> }[] }>;
    };
    const uses = Object.values(example.jobs)
      .flatMap(({ steps }) => steps)
      .filter((step) => step.uses === './integrations/github-action');
    expect(uses).toHaveLength(2);
    expect(JSON.stringify(example)).toContain('"node":[20,22,24]');
    for (const each of uses)
      for (const name of Object.keys(each.with ?? {})) expect(Object.keys(action.inputs)).toContain(name);
  });

  test('checks, annotates, sums up, and fails as the verdicts say', async () => {
    const file = await targets([
      { name: 'good', address: await standIn('0.19.0') },
      { name: 'off', address: await standIn('0.14.0') },
      { name: 'gone', address: `http://127.0.0.1:${await freePort()}` },
    ]);
    const done = await job({ targets: file, tarball, output: 'a folder/report' }, env);
    expect([done.failed, done.code]).toEqual(['Verdict', 1]);
    expect(done.log).toMatch(/^::error title=off%3A CHAT_DISABLED::/m);
    expect(done.log).toContain('hermes-compat compatible good (minimal)');
    expect(done.log).not.toContain('CANARY');
    expect(done.summary).toContain('3 targets: 1 compatible, 1 need a remedy, 0 incompatible, 1 unknown');
    const outputs = Object.fromEntries(
      Object.entries(action.outputs).map(([name, { value }]) => [name, filled(value, {}, done.outputs)]),
    );
    expect(outputs['exit-code']).toBe('1');
    const read = (name: string): Promise<string> =>
      readFile(join(done.workspace, outputs[name] ?? ''), 'utf8');
    expect((JSON.parse(await read('report')) as Reports).summary.total).toBe(3);
    expect(checkedJunit(await read('junit')).children).toHaveLength(3);
    expect(await read('html')).toMatch(/^<!doctype html>/);
  });

  test('passes when all is well, and fails on what could not be checked', async () => {
    const good = await targets([{ name: 'good', address: await standIn('0.19.0') }]);
    expect(await job({ targets: good, tarball }, env)).toMatchObject({ code: 0, failed: null });
    const gone = await targets([{ name: 'gone', address: `http://127.0.0.1:${await freePort()}` }]);
    expect(await job({ targets: gone, tarball }, env)).toMatchObject({ code: 3, failed: 'Verdict' });
  });

  test('parts do not decide, the merged report does', async () => {
    const file = await targets([
      { name: 'good', address: await standIn('0.19.0') },
      { name: 'off', address: await standIn('0.14.0') },
    ]);
    const work = join(folder, 'fleet');
    for (const part of ['1/2', '2/2']) {
      const done = await job(
        { targets: file, tarball, shard: part, output: `parts/part ${part[0]}` },
        env,
        work,
      );
      expect([done.code, done.log.includes('::error')]).toEqual([0, false]);
    }
    const merged = await job({ merge: 'parts/*/report.json', tarball }, {}, work);
    expect([merged.failed, merged.code]).toEqual(['Verdict', 1]);
    expect(merged.summary).toContain('2 targets: 1 compatible, 1 need a remedy');
    const none = await job({ merge: 'nowhere/*.json', tarball }, {}, work);
    expect(none.failed).toBe('Check the targets');
  });

  test('wrong input ends it with its reason', async () => {
    const bad = join(folder, 'bad.yaml');
    await writeFile(bad, 'targets:\n  - name: a\n    adress: local\n');
    const done = await job({ targets: bad, tarball }, env);
    expect([done.failed, done.code]).toEqual(['Check the targets', 2]);
    expect(done.log).toMatch(/^::error title=hermes-compat::.*3:5: unknown key "adress"$/m);
    const version = await job({ targets: bad, version: 'x; touch /tmp/never' });
    expect([version.failed, version.code]).toEqual(['Install hermes-compat', 2]);
    const missing = await job({ targets: bad, tarball: join(folder, 'not-there.tgz') });
    expect(missing.failed).toBe('Install hermes-compat');
    const option = await job({ targets: '--help', tarball }, env);
    expect([option.failed, option.code]).toEqual(['Check the targets', 2]);
  });
});
