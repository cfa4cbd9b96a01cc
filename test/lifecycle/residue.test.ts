import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Report } from '../../src/judge/schema.ts';
import { update } from '../../src/lifecycle/update/update.ts';
import { change } from '../../src/patch/change.ts';
import { runCli } from '../support/cli.ts';
import { advisedLines, ourProgramIn, typeLines } from '../support/follow-advice.ts';
import { farAway, gitTree, type GitTree } from '../support/git-tree.ts';
import { hermesOne } from '../support/hermes-one.ts';
import { openTree, updateRunOf } from '../support/lifecycle.ts';
import { miniServer } from '../support/mini-engine.ts';
import { agree } from '../support/patch-scene.ts';
import { isFull } from '../support/full.ts';

const trees: GitTree[] = [];
afterEach(async () => {
  for (const tree of trees.splice(0)) await tree.remove();
});

async function made(carrier: 'source' | 'overlay' | null = null): Promise<GitTree> {
  const tree = await gitTree();
  trees.push(tree);
  if (carrier === null) return tree;
  const { session } = await openTree({ install: tree.root, home: tree.home });
  await change(session, agree({ carrier }));
  return tree;
}

async function doctor(tree: GitTree): Promise<Report> {
  const result = await runCli(['doctor', `local:${tree.root}`, '--home', tree.home, '--json'], {
    env: { HOME: tree.folder },
  });
  return JSON.parse(result.stdout) as Report;
}

const codes = ({ findings }: Report): string[] => findings.map(({ code }) => code);

/** The engine's own update, behind our back. */
const engineUpdate = (tree: GitTree): void => {
  execFileSync(join(tree.root, 'venv/bin/hermes'), ['update'], {
    env: { PATH: '/usr/bin:/bin', HOME: tree.folder, HERMES_HOME: tree.home },
    stdio: 'pipe',
  });
};

/** Found, every command of its advice typed as it is printed, then gone. */
async function foundThenGone(tree: GitTree, code: string): Promise<Report> {
  const first = await doctor(tree);
  expect(codes(first)).toContain(code);
  const path = `${await ourProgramIn(tree.folder)}:/usr/local/bin:/usr/bin:/bin`;
  const typed = await typeLines(advisedLines(first, code), { PATH: path, HOME: tree.folder });
  const after = codes(await doctor(tree));
  expect(after, JSON.stringify(typed, null, 1)).not.toContain(code);
  return first;
}

/** The one stash that was kept before it was dropped. */
const kept = (tree: GitTree): string => {
  const ref = tree.git('for-each-ref', '--format=%(refname)', 'refs/hermes-compat').trim();
  return tree.git('stash', 'show', '-p', ref);
};

/** The folder of the one advice that was followed. */
const keptIn = async (tree: GitTree): Promise<string> => {
  const folder = join(tree.home, 'desktop-compat/set-aside');
  return join(folder, (await readdir(folder)).join('/'));
};

/** Each types several commands. */
const slow = test.skipIf(!isFull);

describe('residue made for real: found, its advice followed, gone', () => {
  test('our edit parked in a stash by an update that met the same lines', async () => {
    const tree = await made('source');
    await tree.upstream({
      'hermes_cli/web_server.py': miniServer.replace(
        '    _DASHBOARD_EMBEDDED_CHAT_ENABLED = embedded_chat\n',
        '    _DASHBOARD_EMBEDDED_CHAT_ENABLED = bool(embedded_chat)\n',
      ),
    });
    engineUpdate(tree);
    expect(tree.git('stash', 'list')).toContain('hermes-update-autostash');
    const report = await foundThenGone(tree, 'PATCH_PARKED_IN_STASH');
    expect(codes(report)).toContain('PATCH_LOST');
    expect(tree.git('stash', 'list')).toBe('');
    expect(kept(tree)).toContain('hermes-compat');
  });

  slow("Hermes One's edit parked in a stash", async () => {
    const tree = await made();
    const { compatible, source } = hermesOne(miniServer);
    expect(compatible).toBe(true);
    await writeFile(tree.server, hermesOne(source).source);
    await tree.upstream({
      'hermes_cli/web_server.py': miniServer.replace(
        'mount_spa(app)\n\n\n',
        'mount_spa(app)\nlast = 1\n\n\n',
      ),
    });
    await writeFile(join(tree.home, 'updater.json'), '{"park": true}');
    engineUpdate(tree);
    expect(tree.git('stash', 'show', '-p')).toContain('HERMES_ONE_MODEL_LIBRARY');
    await foundThenGone(tree, 'PATCH_PARKED_IN_STASH');
    expect(tree.git('stash', 'list')).toBe('');
    expect(kept(tree)).toContain('HERMES_ONE_MODEL_LIBRARY');
  });

  test('a stash of an update with an edit of somebody else', async () => {
    const tree = await made();
    await writeFile(join(tree.root, 'hermes_cli/notes.py'), 'ONE = 1\nTWO = 2\nTHREE = 4\n');
    await writeFile(join(tree.home, 'updater.json'), '{"park": true}');
    await tree.upstream({ 'hermes_cli/web_server.py': farAway(miniServer) });
    engineUpdate(tree);
    await foundThenGone(tree, 'STASH_LEFTOVER');
    expect(kept(tree)).toContain('THREE = 4');
  });

  test('conflict markers', async () => {
    const tree = await made();
    await writeFile(
      tree.server,
      miniServer.replace('embedded_chat\n\n    uvicorn', 'embedded_chat  # mine\n\n    uvicorn'),
    );
    tree.git('stash', '-q');
    await writeFile(
      tree.server,
      miniServer.replace('embedded_chat\n\n    uvicorn', 'embedded_chat  # theirs\n\n    uvicorn'),
    );
    tree.git('commit', '-q', '-am', 'theirs');
    expect(() => tree.git('stash', 'pop')).toThrow();
    expect(await readFile(tree.server, 'utf8')).toContain('<<<<<<< ');
    await foundThenGone(tree, 'CONFLICT_MARKERS');
  });

  test('an edit of somebody, and a file of somebody', async () => {
    const tree = await made();
    const mine = `${await readFile(tree.server, 'utf8')}# mine\n`;
    await writeFile(tree.server, mine);
    await writeFile(join(tree.root, 'mine.txt'), 'mine');
    await foundThenGone(tree, 'FOREIGN_EDITS');
    expect(tree.git('status', '--porcelain')).toBe('');
    const folder = await keptIn(tree);
    tree.git('apply', join(folder, 'set-aside.diff'));
    expect(await readFile(tree.server, 'utf8')).toBe(mine);
    expect(await readFile(join(folder, 'set-aside/mine.txt'), 'utf8')).toBe('mine');
  });

  test('a backup beside its source', async () => {
    const tree = await made();
    await writeFile(`${tree.server}.orig`, 'old');
    await foundThenGone(tree, 'BACKUP_LEFTOVER');
    const backup = 'move-backups/hermes_cli/web_server.py.orig';
    expect(await readFile(join(await keptIn(tree), backup), 'utf8')).toBe('old');
  });

  test('bytecode that runs instead of its source', async () => {
    const tree = await made();
    execFileSync(join(tree.root, 'venv/bin/python'), ['-m', 'py_compile', tree.server]);
    const { atime, mtime } = await stat(tree.server);
    // The same size and the same time: what a restore that keeps times makes.
    await writeFile(tree.server, miniServer.replace('title="Hermes"', 'title="hermes"'));
    await utimes(tree.server, atime, mtime);
    await foundThenGone(tree, 'STALE_BYTECODE');
  });

  test('a marker that cannot be read', async () => {
    const tree = await made('source');
    await writeFile(join(tree.home, 'desktop-compat/hermes-compat.json'), '{"cut');
    await foundThenGone(tree, 'MARKER_CORRUPT');
  });

  test.each(['overlay', 'source'] as const)(
    'our marker says another revision than the %s',
    async (carrier) => {
      const tree = await made(carrier);
      const file = join(tree.home, 'desktop-compat/hermes-compat.json');
      const text = await readFile(file, 'utf8');
      await writeFile(file, text.replace('"revision": 1', '"revision": 99'));
      await foundThenGone(tree, 'MARKER_MISMATCH');
      expect((await readFile(file, 'utf8')).replace(/"at": .*/g, '')).toBe(text.replace(/"at": .*/g, ''));
    },
  );

  test('an update that runs; its lock when it was cut', async () => {
    const tree = await made();
    const lock = join(tree.home, '.hermes-update-in-progress');
    const updater = spawn('sleep', ['120'], { stdio: 'ignore' });
    await writeFile(lock, `${updater.pid}\n${Math.floor(Date.now() / 1000)}\n`);
    expect(codes(await doctor(tree))).toContain('UPDATE_IN_PROGRESS');
    updater.kill('SIGKILL');
    await once(updater, 'close');
    expect(codes(await doctor(tree))).not.toContain('UPDATE_IN_PROGRESS');
    await foundThenGone(tree, 'UPDATE_INTERRUPTED');
    expect(existsSync(lock)).toBe(false);
  });

  slow('a tree that is half new', async () => {
    const tree = await made();
    const project = '[project]\nname = "hermes-agent"\nversion = "0.16.0"\n';
    await tree.upstream({
      'pyproject.toml': project,
      'hermes_cli/__init__.py': '__version__ = "0.16.0"\n__release_date__ = "2026.6.1"\n',
    });
    await writeFile(join(tree.root, 'pyproject.toml'), project);
    const report = await foundThenGone(tree, 'UPDATE_INTERRUPTED');
    expect(JSON.stringify(report.findings)).toContain('0.16.0');
    expect(tree.git('status', '--porcelain')).toBe('');
  });

  test('an update of ours that was cut: the command that is named goes on with it', async () => {
    const tree = await made('source');
    await tree.upstream({ 'hermes_cli/web_server.py': farAway(miniServer) });
    const stop = new AbortController();
    const run = updateRunOf(tree, {
      signal: stop.signal,
      reached: async (step) => void (step === 'taken-out' && stop.abort()),
    });
    await expect(update(run)).rejects.toThrow(/interrupted after the step "taken-out"/);
    const report = await foundThenGone(tree, 'UPDATE_INTERRUPTED');
    expect(JSON.stringify(report.findings)).toContain('taken-out');
    expect(await readFile(tree.server, 'utf8')).toContain('again."""');
    expect(existsSync(join(tree.home, 'desktop-compat/update/state.json'))).toBe(false);
  });

  slow('pre-update without post-update', async () => {
    const tree = await made('source');
    await update(updateRunOf(tree), { from: 'begin', to: 'taken-out' });
    const report = await foundThenGone(tree, 'UPDATE_INTERRUPTED');
    expect(advisedLines(report, 'UPDATE_INTERRUPTED')[0]).toContain('hermes-compat post-update');
    expect(existsSync(join(tree.home, 'desktop-compat/update/state.json'))).toBe(false);
  });

  test.each([
    ['git reset --hard', (tree: GitTree) => void tree.git('reset', '-q', '--hard')],
    [
      'git pull after git stash',
      (tree: GitTree) => {
        tree.git('stash', '-q', '-u');
        tree.git('pull', '-q', '--ff-only');
      },
    ],
  ])('behind our back, %s: doctor says what was lost', async (_name, act) => {
    const tree = await made('source');
    await tree.upstream({ 'hermes_cli/web_server.py': farAway(miniServer) });
    act(tree);
    const report = await doctor(tree);
    expect(codes(report)).toContain('PATCH_LOST');
  });
});
