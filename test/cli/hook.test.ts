import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
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
