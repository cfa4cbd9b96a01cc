import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type CliResult, document, runCli } from '../support/cli.ts';
import { copyEngine } from '../support/engine-copy.ts';
import { requireEngines, sitePackages } from '../support/engines.ts';
import { gitEnv } from '../support/git-tree.ts';
import { snapshot } from '../support/patch-scene.ts';

// `patch …` as the built program: documents, exit codes, and what reaches which stream.

const usable = await requireEngines('0.14.0');

interface Plan {
  kind: 'plan';
  steps: { patch: string; carrier: string; path: string; action: string }[];
  files: { path: string; beforeSha256: string | null; afterSha256: string | null }[];
  refusals: { code: string }[];
}

test('list needs no engine: ids, purposes, and when each retires', async () => {
  const human = await runCli(['patch', 'list']);
  expect(human.code).toBe(0);
  expect(human.stdout).toMatch(/embedded-chat {2}revision \d/);
  expect(human.stdout).toContain('retires');
  const listed = document<{ patches: { id: string; retires: string }[] }>(
    await runCli(['patch', 'list', '--json']),
  );
  expect(listed.patches.map(({ id }) => id)).toEqual(['embedded-chat', 'model-library']);
});

test.each([
  [['patch', 'apply', '--carrier', 'magic'], /--carrier is one of overlay, source/],
  [['patch', 'status', '--target', 'http://127.0.0.1:1'], /patches change files/],
  [['patch', 'apply', '--plan', '/nonexistent'], /cannot read the plan/],
  [['patch', 'nonsense'], /nonsense/],
])('%j: exit 2', async (args, says) => {
  const result = await runCli(args, { env: { HOME: tmpdir() } });
  expect(result.code).toBe(2);
  expect(result.stderr).toMatch(says);
  expect(result.stdout).toBe('');
});

describe.runIf(usable)('on a real tree', () => {
  let folder: string;
  let venv: string;
  let home: string;

  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'hermes-cli-')));
    venv = join(folder, 'venv');
    await copyEngine('0.14.0', venv);
  });
  afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  beforeEach(async () => {
    home = await mkdtemp(join(folder, 'home-'));
    await writeFile(join(home, 'config.yaml'), '# mine\nmodel: x\n');
  });

  const patch = (...args: string[]): Promise<CliResult> =>
    runCli(['patch', ...args, '--target', `local:${venv}`, '--home', home], {
      env: { HOME: folder },
      timeoutMs: 240_000,
    });
  const files = () => snapshot(folder, ['__pycache__']);

  test('plan: what would be written, hashed; exit 10 on wish; nothing is written', async () => {
    const before = await files();
    const plan = document<Plan>(await patch('plan', '--json'));
    expect(plan.steps.map(({ patch: id, carrier }) => `${id} ${carrier}`)).toContain('model-library overlay');
    expect(plan.files.at(-1)).toMatchObject({
      path: join(home, 'config.yaml'),
      beforeSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect((await patch('plan', '--detailed-exitcode')).code).toBe(10);
    expect((await patch('status', '--detailed-exitcode')).code).toBe(10);
    const human = await patch('plan', 'embedded-chat', '--carrier', 'source');
    expect(human.stdout).toContain('+    _DASHBOARD_EMBEDDED_CHAT_ENABLED = embedded_chat or host in');
    expect(human.stdout).toContain('-    _DASHBOARD_EMBEDDED_CHAT_ENABLED = embedded_chat');
    expect(await files()).toEqual(before);
  });

  test('apply without a yes and without a terminal: the plan on stderr, exit 4', async () => {
    const before = await files();
    const result = await patch('apply');
    expect(result.code).toBe(4);
    expect(result.stderr).toContain('files to write');
    expect(result.stderr).toContain('nobody agreed');
    expect(await files()).toEqual(before);
    const dry = await patch('apply', '--dry-run', '--json');
    expect(dry.code).toBe(0);
    expect(document<{ outcome: string }>(dry).outcome).toBe('dry-run');
    expect(await files()).toEqual(before);
  });

  test('an unknown id: exit 2, with those that there are', async () => {
    const result = await patch('plan', 'no-such');
    expect(result.code).toBe(2);
    expect(result.stderr).toContain('embedded-chat, model-library');
  });

  test('a saved plan is carried out as it is, or not at all', { timeout: 300_000 }, async () => {
    const saved = join(folder, 'plan.json');
    expect((await patch('plan', 'model-library', '--out', saved)).code).toBe(0);
    const config = join(home, 'config.yaml');
    await writeFile(config, '# mine\nmodel: y\n');
    const drifted = await patch('apply', '--plan', saved, '--yes', '--json');
    expect(drifted.code).toBe(4);
    expect(document<{ error: { message: string } }>(drifted).error.message).toContain(
      `${config} has changed since`,
    );
    await writeFile(config, '# mine\nmodel: x\n');
    const applied = await patch('apply', '--plan', saved, '--yes', '--json');
    expect(applied.code, applied.stderr).toBe(0);
    expect(document<{ outcome: string; verified: { ok: boolean }[] }>(applied)).toMatchObject({
      outcome: 'done',
      verified: expect.arrayContaining([expect.objectContaining({ step: 'GET', ok: true })]),
    });
    const again = await patch('apply', '--plan', saved, '--yes');
    expect(again.code).toBe(4);
    expect((await patch('apply', 'model-library', '--yes')).code).toBe(0);
    const status = document<{ patches: { state: string; effective: string }[] }>(
      await patch('status', '--json'),
    );
    expect(status.patches[1]).toMatchObject({ state: 'applied', effective: 'yes' });
    const history = document<{ entries: { action: string; patches: string[] }[] }>(
      await patch('history', '--json'),
    );
    expect(history.entries).toMatchObject([{ action: 'apply', patches: ['model-library'] }]);
    expect((await patch('history')).stdout).toMatch(/apply {2}model-library/);
    const reverted = await patch('revert', '--yes', '--purge', '--json');
    expect(reverted.code, reverted.stderr).toBe(0);
    expect(document<{ purged: string[] }>(reverted).purged).toContain(
      join(home, 'desktop-compat/hermes-compat.json'),
    );
    expect(Object.keys(await snapshot(home))).toEqual(['config.yaml']);
    expect((await patch('revert', '--yes', '--purge')).code).toBe(0);
  });

  test(
    '--purge does not take away what undoes a patch that is still there',
    { timeout: 120_000 },
    async () => {
      expect((await patch('apply', '--yes')).code).toBe(0);
      const half = await patch('revert', 'embedded-chat', '--yes', '--purge');
      expect(half.code).toBe(4);
      expect(half.stderr).toMatch(/records stay while patches are applied: model-library/);
      expect((await patch('revert', '--yes', '--purge')).code).toBe(0);
    },
  );

  test('export is a patch that git applies to the release, and that compiles', async () => {
    const result = await patch('export');
    expect(result.code).toBe(0);
    const tree = await mkdtemp(join(folder, 'tree-'));
    const git = (...words: string[]): string =>
      execFileSync('git', ['-C', tree, ...words], { encoding: 'utf8', env: gitEnv, input: '' });
    await mkdir(join(tree, 'hermes_cli'));
    const server = await readFile(join(await sitePackages(venv), 'hermes_cli/web_server.py'));
    await writeFile(join(tree, 'hermes_cli/web_server.py'), server);
    git('init', '-q');
    git('add', '-A');
    git('commit', '-qm', 'release');
    await writeFile(join(folder, 'export.patch'), result.stdout);
    git('am', '-q', join(folder, 'export.patch'));
    expect(git('show', '--stat', '--format=%s')).toMatch(
      /Open \/api\/ws[\s\S]*hermes_compat_model_library\.py[\s\S]*web_server\.py/,
    );
    execFileSync('python3', [
      '-I',
      '-c',
      'import ast, sys; ast.parse(open(sys.argv[1]).read())',
      join(tree, 'hermes_cli/web_server.py'),
    ]);
  });

  test('unlock: nothing, a dead claim, a claim from elsewhere, a live one', async () => {
    const claim = async (name: string): Promise<void> => {
      await mkdir(join(home, 'desktop-compat/lock'), { recursive: true, mode: 0o700 });
      await writeFile(join(home, 'desktop-compat/lock', name), '');
    };
    expect(await patch('unlock')).toMatchObject({ code: 0, stdout: 'No lock is held.\n' });
    await claim('elsewhere~4711~abc-1~0123456789ab');
    expect((await patch('apply', '--yes')).code).toBe(4);
    const asked = await patch('unlock');
    expect(asked.code).toBe(4);
    expect(asked.stderr).toMatch(/4711 on elsewhere, nobody can tell/);
    expect((await patch('unlock', '--yes')).code).toBe(0);
    expect(await patch('unlock')).toMatchObject({ stdout: 'No lock is held.\n' });
  });

  test.each(['update', 'hooks'])('unlock: the lock of %s is one of ours too', async (of) => {
    const lock = join(home, 'desktop-compat', of, 'lock');
    await mkdir(lock, { recursive: true, mode: 0o700 });
    await writeFile(join(lock, 'elsewhere~4711~abc-1~0123456789ab'), '');
    expect((await patch('unlock')).stderr).toMatch(/4711 on elsewhere, nobody can tell/);
    expect((await patch('unlock', '--yes')).code).toBe(0);
    expect(await patch('unlock')).toMatchObject({ stdout: 'No lock is held.\n' });
    expect(existsSync(lock)).toBe(false);
  });
});
