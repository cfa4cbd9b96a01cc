import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { localHost } from '../../src/host/local.ts';
import { runHook } from '../../src/lifecycle/hook-run.ts';
import { installHook } from '../../src/lifecycle/hooks/install.ts';
import type { HookId, HookPlace } from '../../src/lifecycle/hooks/types.ts';
import { change } from '../../src/patch/change.ts';
import { farAway, gitTree, type GitTree } from '../support/git-tree.ts';
import { hookRunOf, openTree } from '../support/lifecycle.ts';
import { miniServer } from '../support/mini-engine.ts';
import { agree } from '../support/patch-scene.ts';

const program = fileURLToPath(new URL('../support/hook-run.mjs', import.meta.url));
const trees: GitTree[] = [];
afterEach(async () => {
  for (const tree of trees.splice(0)) await tree.remove();
});

const mine = '    return {"ok": True, "mine": 1}\n';

/** A tree with our source edits and an edit of the user in one file, seen once by the hook, with this hook installed. */
async function scene(id: HookId): Promise<{ tree: GitTree; bin: string }> {
  const tree = await gitTree();
  trees.push(tree);
  const bin = join(tree.folder, 'bin');
  await mkdir(bin);
  const hermes = join(bin, 'hermes');
  await writeFile(hermes, `#!/bin/sh\nexec ${tree.root}/venv/bin/hermes "$@"\n`, { mode: 0o755 });
  await writeFile(
    join(bin, 'crontab'),
    `#!/bin/sh\ncase $1 in -l) cat ${bin}/table 2>/dev/null || { echo "no crontab" >&2; exit 1; } ;; *) cat >${bin}/table ;; esac\n`,
    { mode: 0o755 },
  );
  const host = localHost({ path: `${bin}:/usr/bin:/bin`, home: tree.folder, platform: 'linux' });
  const { session } = await openTree({ install: tree.root, home: tree.home }, host);
  await change(session, agree({ carrier: 'source' }));
  await writeFile(
    tree.server,
    (await readFile(tree.server, 'utf8')).replace('    return {"ok": True}\n', mine),
  );
  await runHook(hookRunOf(tree.home));
  const { home, install } = session.scene;
  const command = [process.execPath, program, tree.home];
  const place: HookPlace = { host, home, install, command, userHome: tree.folder, onPath: hermes };
  await installHook(place, id, new Date().toISOString());
  return { tree, bin };
}

const env = (tree: GitTree, bin: string) => ({
  PATH: `${bin}:/usr/bin:/bin`,
  HOME: tree.folder,
  HERMES_HOME: tree.home,
});

const acts: Record<string, (tree: GitTree, bin: string) => void> = {
  'hermes update': (tree, bin) =>
    void execFileSync(join(bin, 'hermes'), ['update'], { env: env(tree, bin), stdio: 'pipe' }),
  'git pull': (tree) => void tree.git('pull', '-q', '--rebase=false', '--autostash'),
  'git reset --hard': (tree) => {
    tree.git('fetch', '-q');
    tree.git('reset', '-q', '--hard', 'origin/main');
  },
};

const cron = async (tree: GitTree, bin: string): Promise<void> => {
  const line =
    (await readFile(join(bin, 'table'), 'utf8')).split('\n').find((each) => each.startsWith('*/5')) ?? '';
  execFileSync('/bin/sh', ['-c', line.split(' ').slice(5).join(' ')], {
    env: { PATH: '/usr/bin:/bin', HOME: tree.folder },
  });
};

async function comesBack(tree: GitTree): Promise<string> {
  const end = Date.now() + 60_000;
  for (;;) {
    const text = await readFile(tree.server, 'utf8');
    const whole = text.includes('>>> hermes-compat') || text.includes('hermes_compat_model_library');
    if ((whole && text.includes('again.')) || Date.now() > end) return text;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

describe('updates behind our back, on a small tree with the steps of the 0.14 updater', () => {
  test.each([
    ['wrapper', 'hermes update', {}, true],
    ['wrapper', 'hermes update', { discard: true }, false],
    ['wrapper', 'hermes update', { park: true }, false],
    ['git', 'git pull', {}, true],
    ['git', 'hermes update', { discard: true }, false],
    ['cron', 'git reset --hard', {}, false],
    ['cron', 'hermes update', { discard: true }, false],
  ] as const)('%s, %s %j', { timeout: 180_000 }, async (id, act, behaviour, keepsMine) => {
    const { tree, bin } = await scene(id);
    await writeFile(join(tree.home, 'updater.json'), JSON.stringify(behaviour));
    await tree.upstream({ 'hermes_cli/web_server.py': farAway(miniServer) });
    acts[act]?.(tree, bin);
    if (id === 'cron') await cron(tree, bin);
    const text = await comesBack(tree);
    expect(text).toContain('again.');
    expect(text).toContain('hermes_compat_model_library');
    expect(text).toContain('or host in ("127.0.0.1"');
    // What the engine itself threw away or parked is not ours to bring back: it is found and told.
    expect(text.includes(mine)).toBe(keepsMine);
    expect(existsSync(join(tree.root, 'hermes_cli/hermes_compat_model_library.py'))).toBe(true);
  });
});
