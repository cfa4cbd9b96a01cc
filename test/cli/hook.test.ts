import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { HookRunDocument, HooksDocument } from '../../src/lifecycle/hook-schema.ts';
import type { UpdateDocument } from '../../src/lifecycle/update/schema.ts';
import { document, runCli } from '../support/cli.ts';
import { farAway, gitTree, type GitTree } from '../support/git-tree.ts';
import { miniServer } from '../support/mini-engine.ts';

const trees: GitTree[] = [];
afterEach(async () => {
  for (const tree of trees.splice(0)) await tree.remove();
});

async function scene() {
  const tree = await gitTree();
  trees.push(tree);
  const bin = join(tree.folder, 'bin');
  await mkdir(bin);
  await writeFile(
    join(bin, 'crontab'),
    `#!/bin/sh\ncase $1 in -l) cat ${bin}/table 2>/dev/null || { echo "no crontab" >&2; exit 1; } ;; -r) rm ${bin}/table ;; *) cat >${bin}/table ;; esac\n`,
    { mode: 0o755 },
  );
  const env = { PATH: `${bin}:/usr/local/bin:/usr/bin:/bin`, HOME: tree.folder, HERMES_HOME: tree.home };
  return { tree, bin, run: (...words: string[]) => runCli(words, { env, timeoutMs: 120_000 }) };
}

test('hook install, status, remove, run on the command line', { timeout: 240_000 }, async () => {
  const { tree, bin, run } = await scene();
  const nowhere = join(tree.folder, 'nowhere');
  const refused = await run('hook', 'install', 'cron', '--home', nowhere, '--yes');
  expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining(`needs the folder ${nowhere}`) });
  expect(existsSync(nowhere)).toBe(false);
  expect(await run('hook', 'install', 'cron')).toMatchObject({ code: 4 });
  expect(existsSync(join(bin, 'table'))).toBe(false);
  const shown = document<HooksDocument>(await run('hook', 'install', 'git', '--dry-run', '--json'));
  expect(shown.hooks[0]?.files[0]?.text).toContain('hook run --home');
  const installed = document<HooksDocument>(await run('hook', 'install', 'cron', '--yes', '--json'));
  expect(installed.hooks.find(({ id }) => id === 'cron')).toMatchObject({ state: 'installed' });
  expect(await readFile(join(bin, 'table'), 'utf8')).toContain('hermes-compat.js hook run --home');
  await writeFile(join(bin, 'table'), '');
  const status = await run('hook', 'status', '--json');
  expect(status.code).toBe(1);
  expect(document<HooksDocument>(status).hooks.find(({ id }) => id === 'cron')).toMatchObject({
    state: 'gone',
  });
  expect((await run('hook', 'remove', '--yes')).code).toBe(0);
  const ran = await run('hook', 'run', '--json');
  expect(ran.code).toBe(0);
  expect(document<HookRunDocument>(ran)).toMatchObject({ outcome: 'nothing-recorded' });
  expect((await run('hook', 'install', 'nonsense', '--yes')).code).toBe(2);
});

test('update on the command line: shown, refused without a yes, done', { timeout: 240_000 }, async () => {
  const { tree, run } = await scene();
  await tree.upstream({ 'hermes_cli/web_server.py': farAway(miniServer) });
  const head = tree.git('rev-parse', 'HEAD');
  const target = `local:${tree.root}`;
  const shown = document<UpdateDocument>(await run('update', target, '--dry-run', '--json'));
  expect(shown).toMatchObject({ outcome: 'dry-run', exitCode: 0, home: tree.home });
  expect(await run('update', target)).toMatchObject({ code: 4 });
  expect(tree.git('rev-parse', 'HEAD')).toBe(head);
  const done = await run('update', target, '--yes', '--no-check', '--json');
  expect(document<UpdateDocument>(done)).toMatchObject({ outcome: 'updated', exitCode: 0 });
  expect(done.stderr).toContain('Update complete!');
  expect(await readFile(tree.server, 'utf8')).toBe(farAway(miniServer));
});

test('a target that is an install: its home gets the hooks, the checkout gets nothing', async () => {
  const { tree, bin, run } = await scene();
  const other = join(tree.folder, 'other');
  await mkdir(other);
  const target = `local:${tree.root}`;
  const install = await run('hook', 'install', 'cron', 'git', '--yes', '--json', '--target', target);
  expect(document<HooksDocument>(install)).toMatchObject({ home: tree.home });
  const table = await readFile(join(bin, 'table'), 'utf8');
  expect(table).toContain(`hook run --home ${tree.home} `);
  expect(existsSync(join(tree.root, 'desktop-compat'))).toBe(false);
  expect(existsSync(join(tree.root, '.git/hooks/post-merge'))).toBe(true);
  const status = await run('hook', 'status', '--json', '--target', `local:${tree.root}/venv`);
  expect(document<HooksDocument>(status).hooks.filter(({ state }) => state === 'installed')).toHaveLength(2);
  expect((await run('hook', 'remove', '--yes', '--target', target)).code).toBe(0);
  expect(existsSync(join(tree.root, '.git/hooks/post-merge'))).toBe(false);

  // A home without an install of its own.
  const named = await run('hook', 'install', 'git', '--yes', '--json', '--target', target, '--home', other);
  expect(document<HooksDocument>(named)).toMatchObject({ home: other });
  expect(await readFile(join(tree.root, '.git/hooks/post-merge'), 'utf8')).toContain(
    `hook run --home ${other}`,
  );
  await run('hook', 'remove', '--yes', '--target', target, '--home', other);
});

test('hook run finds the home of its target as the other commands do', async () => {
  const { tree, run } = await scene();
  const other = join(tree.folder, 'other');
  await mkdir(join(other, 'plugins'), { recursive: true });
  const homeOf = async (...words: string[]): Promise<string> =>
    document<HookRunDocument>(await run('hook', 'run', '--json', ...words)).home;
  expect(await homeOf()).toBe(tree.home);
  // Also where an earlier version wrote into the checkout.
  await mkdir(join(tree.root, 'desktop-compat'));
  expect(await homeOf('--target', `local:${tree.root}`)).toBe(tree.home);
  expect(await homeOf('--target', `local:${tree.root}/hermes_cli`)).toBe(tree.home);
  expect(await homeOf('--target', `local:${tree.root}/venv`)).toBe(tree.home);
  expect(await homeOf('--target', `local:${other}`)).toBe(other);
  expect(await homeOf('--target', `local:${tree.root}`, '--home', other)).toBe(other);
});

test('a target where neither a home nor an install is gets no hook', async () => {
  const { tree, bin, run } = await scene();
  const nothing = `local:${tree.folder}/typo`;
  expect(await run('hook', 'install', 'cron', '--yes', '--target', nothing)).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/typo.*is neither a Hermes home nor an install/s),
  });
  expect(existsSync(join(bin, 'table'))).toBe(false);
  expect(document<HookRunDocument>(await run('hook', 'run', '--json', '--target', nothing))).toMatchObject({
    outcome: 'failed',
    message: expect.stringContaining('neither a Hermes home nor an install'),
  });
});

describe('where neither systemd nor cron answers', () => {
  async function bare(carried: boolean) {
    const here = await scene();
    await writeFile(join(here.bin, 'crontab'), '#!/bin/sh\necho "not allowed" >&2\nexit 1\n', {
      mode: 0o755,
    });
    await writeFile(join(here.bin, 'systemctl'), '#!/bin/sh\necho "no bus" >&2\nexit 1\n', { mode: 0o755 });
    const overlay = join(here.tree.home, 'plugins/hermes-compat/dashboard');
    await mkdir(overlay, { recursive: true });
    if (carried) await writeFile(join(overlay, 'manifest.json'), '{}');
    return { ...here, onStart: join(here.tree.home, 'desktop-compat/hooks/on-start') };
  }

  test('the default installs what is possible, and says what is not and why', async () => {
    const { run, onStart } = await bare(true);
    for (const word of ['overlay is installed', 'overlay was installed already']) {
      const done = await run('hook', 'install', '--yes', '--json');
      expect(done.code).toBe(0);
      expect(document<HooksDocument>(done).done).toEqual([
        expect.stringContaining(word),
        'cron is not installed: crontab refuses: not allowed.',
      ]);
      expect(existsSync(onStart)).toBe(true);
    }
    expect((await run('hook', 'install', '--yes')).stdout).toContain(
      'cron is not installed: crontab refuses',
    );
  });

  test('the default without any that is possible, and one that was named: refused, nothing is written', async () => {
    const { run, onStart } = await bare(true);
    const refused = {
      code: 4,
      stderr: expect.stringContaining('hook cron cannot be installed: crontab refuses'),
    };
    expect(await run('hook', 'install', 'overlay', 'cron', '--yes')).toMatchObject(refused);
    expect(existsSync(onStart)).toBe(false);
    const other = await bare(false);
    expect(await other.run('hook', 'install', '--yes')).toMatchObject(refused);
    expect(existsSync(join(other.tree.home, 'desktop-compat'))).toBe(false);
  });
});

test('a changed hook is not removed, nor is any beside it; one out of effect is told', async () => {
  const { tree, bin, run } = await scene();
  await run('hook', 'install', 'git', 'cron', '--yes');
  const table = (await readFile(join(bin, 'table'), 'utf8')).replace('*/5', '*/10');
  await writeFile(join(bin, 'table'), table);
  const hook = join(tree.root, '.git/hooks/post-merge');
  expect(await run('hook', 'remove', '--yes')).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/cron was changed.*crontab -e/s),
  });
  expect(await readFile(join(bin, 'table'), 'utf8')).toBe(table);
  expect(existsSync(hook)).toBe(true);
  tree.git('config', 'core.hooksPath', '/elsewhere');
  const status = await run('hook', 'status', '--json');
  expect(status.code).toBe(1);
  expect(document<HooksDocument>(status).hooks).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ id: 'cron', state: 'changed' }),
      expect.objectContaining({
        id: 'git',
        state: 'gone',
        problem: expect.stringContaining('core.hooksPath'),
      }),
    ]),
  );
  expect((await run('hook', 'status')).stdout).toMatch(
    /git +was installed and is not in effect any\s+more: core/,
  );
  expect(await run('hook', 'remove', 'git', '--yes')).toMatchObject({ code: 0 });
  expect(existsSync(hook)).toBe(false);
});
