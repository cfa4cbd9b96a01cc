import { existsSync } from 'node:fs';
import { chmod, lstat, mkdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { previewUpdate, update } from '../../src/lifecycle/update/update.ts';
import { change } from '../../src/patch/change.ts';
import { farAway, gitTree, type GitTree } from '../support/git-tree.ts';
import { openTree, updateRunOf } from '../support/lifecycle.ts';
import { miniServer } from '../support/mini-engine.ts';
import { agree, snapshot } from '../support/patch-scene.ts';

const trees: GitTree[] = [];
afterEach(async () => {
  for (const tree of trees.splice(0)) await tree.remove();
});

async function applied(carrier: 'overlay' | 'source' | null): Promise<GitTree> {
  const tree = await gitTree();
  trees.push(tree);
  if (carrier === null) return tree;
  const { session } = await openTree({ install: tree.root, home: tree.home });
  await change(session, agree({ carrier }));
  return tree;
}

const outcomes = (patches: { patch: string; carrier: string; outcome: string }[]) =>
  Object.fromEntries(patches.map(({ patch, carrier, outcome }) => [`${patch} ${carrier}`, outcome]));

const behave = (tree: GitTree, how: object): Promise<void> =>
  writeFile(join(tree.home, 'updater.json'), JSON.stringify(how));

/** Chat is always on, as from 0.16. */
export const native = miniServer
  .replace('_ENABLED = False', '_ENABLED = True')
  .replace('    *,\n    embedded_chat: bool = False,\n', '')
  .replace(
    '    global _DASHBOARD_EMBEDDED_CHAT_ENABLED\n    _DASHBOARD_EMBEDDED_CHAT_ENABLED = embedded_chat\n',
    '',
  );

const theirs = (text: string): string => text.replace('THREE = 3', 'THREE = 30  # mine');

describe('update of a small tree', () => {
  test('source edits go out, the tree is clean for the updater, and come back', async () => {
    const tree = await applied('source');
    await tree.upstream({ 'hermes_cli/web_server.py': farAway(miniServer) });
    let dirty = '?';
    const said: string[] = [];
    const result = await update(
      updateRunOf(tree, {
        say: (line) => void said.push(line),
        reached: async (step) => {
          if (step === 'taken-out') dirty = tree.git('status', '--porcelain');
        },
      }),
    );
    expect(dirty).toBe('');
    expect(result.state.exitCode).toBe(0);
    expect(outcomes(result.settled.patches)).toEqual({
      'embedded-chat source': 'reapplied',
      'model-library source': 'reapplied',
    });
    expect(await readFile(tree.server, 'utf8')).toContain('again."""');
    expect(await readFile(tree.server, 'utf8')).toContain('hermes-compat');
    expect(tree.git('stash', 'list')).toBe('');
    expect(existsSync(join(tree.home, 'desktop-compat/update/state.json'))).toBe(false);
  });

  test('an overlay stays where it is, nothing is taken out, the tree stays clean', async () => {
    const tree = await applied('overlay');
    const plugin = join(tree.home, 'plugins');
    const before = await snapshot(plugin);
    await tree.upstream({ 'hermes_cli/web_server.py': farAway(miniServer) });
    const result = await update(updateRunOf(tree));
    expect(outcomes(result.settled.patches)).toEqual({
      'embedded-chat overlay': 'kept',
      'model-library overlay': 'kept',
    });
    expect(await snapshot(plugin)).toEqual(before);
    expect(tree.git('status', '--porcelain')).toBe('');
    expect(tree.git('stash', 'list')).toBe('');
  });

  test.each(['overlay', 'source'] as const)(
    '%s: what is native now is retired, its leftovers go',
    async (carrier) => {
      const tree = await applied(carrier);
      await tree.upstream({ 'hermes_cli/web_server.py': native });
      const result = await update(updateRunOf(tree));
      expect(outcomes(result.settled.patches)).toEqual({
        [`embedded-chat ${carrier}`]: 'retired',
        [`model-library ${carrier}`]: carrier === 'overlay' ? 'kept' : 'reapplied',
      });
      const marker = JSON.parse(
        await readFile(join(tree.home, 'desktop-compat/hermes-compat.json'), 'utf8'),
      ) as { entries: { patch: string }[] };
      expect(marker.entries.map(({ patch }) => patch)).toEqual(['model-library']);
      if (carrier === 'overlay')
        expect(existsSync(join(tree.home, 'plugins/hermes-compat/dashboard/embedded_chat.py'))).toBe(false);
      else expect(await readFile(tree.server, 'utf8')).not.toContain('embedded-chat');
    },
  );

  test("the user's edits beside ours in one file are carried over, the user's stash stays", async () => {
    const tree = await applied('source');
    const notes = join(tree.root, 'hermes_cli/notes.py');
    await writeFile(notes, theirs(await readFile(notes, 'utf8')));
    tree.git('stash', 'push', '-q', '-m', 'mine', '--', 'hermes_cli/notes.py');
    const stash = tree.git('stash', 'list', '--format=%H %gs');
    await writeFile(notes, theirs(await readFile(notes, 'utf8')));
    const mine = '    return {"ok": True, "mine": 1}\n';
    const edited = (await readFile(tree.server, 'utf8')).replace('    return {"ok": True}\n', mine);
    await writeFile(tree.server, edited);
    await writeFile(join(tree.root, 'my notes.txt'), 'untracked');
    await tree.upstream({
      'hermes_cli/web_server.py': farAway(miniServer),
      'hermes_cli/notes.py': 'ONE = 100\nTWO = 2\nTHREE = 3\n',
    });
    const done = await update(updateRunOf(tree));
    expect(done.edits.map(({ path, outcome }) => [path, outcome])).toEqual([
      ['hermes_cli/notes.py', 'kept'],
      ['hermes_cli/web_server.py', 'kept'],
      ['my notes.txt', 'kept'],
    ]);
    expect(await readFile(notes, 'utf8')).toBe('ONE = 100\nTWO = 2\nTHREE = 30  # mine\n');
    expect(await readFile(tree.server, 'utf8')).toBe(farAway(edited));
    expect(await readFile(join(tree.root, 'my notes.txt'), 'utf8')).toBe('untracked');
    expect(tree.git('stash', 'list', '--format=%H %gs')).toBe(stash);
  });

  test.each([
    ['the same lines', { 'hermes_cli/notes.py': 'ONE = 1\nTWO = 2\nTHREE = 33\n' }, 'touch the same lines'],
    ['a file that is gone', { 'hermes_cli/notes.py': null }, 'has no such file any more'],
  ])('an edit that would be parked is refused before anything is touched: %s', async (_name, files, why) => {
    const tree = await applied('source');
    const notes = join(tree.root, 'hermes_cli/notes.py');
    await writeFile(notes, theirs(await readFile(notes, 'utf8')));
    await tree.upstream(files);
    const before = await snapshot(tree.home, ['.git', 'venv', '__pycache__']);
    await expect(update(updateRunOf(tree))).rejects.toThrow(why);
    expect(await snapshot(tree.home, ['.git', 'venv', '__pycache__'])).toEqual(before);
  });

  test('a local commit would be reset away: refused', async () => {
    const tree = await applied('source');
    await tree.upstream({ 'hermes_cli/notes.py': 'ONE = 1\n' });
    await writeFile(join(tree.root, 'more.py'), 'A = 1\n');
    tree.git('add', 'more.py');
    tree.git('commit', '-q', '-m', 'mine');
    await expect(update(updateRunOf(tree))).rejects.toThrow(/1 local commit that/);
  });

  describe('another branch than the one that the updater updates', () => {
    async function onFeature(commit: boolean): Promise<{ tree: GitTree; notes: string }> {
      const tree = await applied(null);
      tree.git('checkout', '-q', '-b', 'feature');
      if (commit) {
        await writeFile(join(tree.root, 'more.py'), 'A = 1\n');
        tree.git('add', 'more.py');
        tree.git('commit', '-q', '-m', 'mine');
      }
      return { tree, notes: join(tree.root, 'hermes_cli/notes.py') };
    }

    test('commits that it lacks: refused, also without asking the remote, and nothing is touched', async () => {
      const { tree, notes } = await onFeature(true);
      await writeFile(notes, theirs(await readFile(notes, 'utf8')));
      await tree.upstream({ 'hermes_cli/notes.py': 'ONE = 1\nTWO = 2\nTHREE = 33\n' });
      const before = await snapshot(tree.home, ['.git', 'venv', '__pycache__', 'desktop-compat']);
      const says = /1 commit of feature that origin\/main lacks: .*changes to main[^]*checkout main/;
      await expect(previewUpdate(updateRunOf(tree))).rejects.toThrow(says);
      const refused = update(updateRunOf(tree));
      await expect(refused).rejects.toThrow(says);
      await expect(refused).rejects.toThrow(/notes\.py: your edit and the new version touch the same lines/);
      expect(await snapshot(tree.home, ['.git', 'venv', '__pycache__', 'desktop-compat'])).toEqual(before);
      expect(tree.git('branch', '--show-current')).toBe('feature\n');
    });

    test('none that it lacks: the change of branch is said, edits are compared with the updated one', async () => {
      const { tree, notes } = await onFeature(false);
      await writeFile(notes, theirs(await readFile(notes, 'utf8')));
      await tree.upstream({ 'hermes_cli/notes.py': 'ONE = 100\nTWO = 2\nTHREE = 3\n' });
      const { branchChange } = await previewUpdate(updateRunOf(tree));
      expect(branchChange).toEqual({ from: 'feature', to: 'main' });
      const result = await update(updateRunOf(tree));
      expect(result.edits).toEqual([{ path: 'hermes_cli/notes.py', outcome: 'kept', why: null }]);
      expect(await readFile(notes, 'utf8')).toBe('ONE = 100\nTWO = 2\nTHREE = 30  # mine\n');
      expect(tree.git('branch', '--show-current')).toBe('main\n');
    });

    test('commits of its local name that upstream lacks would be reset away: refused', async () => {
      const tree = await applied(null);
      await writeFile(join(tree.root, 'more.py'), 'A = 1\n');
      tree.git('add', 'more.py');
      tree.git('commit', '-q', '-m', 'mine');
      tree.git('checkout', '-q', '-b', 'feature', 'origin/main');
      await expect(previewUpdate(updateRunOf(tree))).rejects.toThrow(
        /1 local commit of your branch main that/,
      );
    });

    test('--branch names it', async () => {
      const { tree } = await onFeature(true);
      tree.git('push', '-q', 'origin', 'feature');
      await expect(previewUpdate(updateRunOf(tree))).rejects.toThrow(/update -- --branch feature/);
      for (const engineArgs of [['--branch', 'feature'], ['--branch=feature']])
        expect((await previewUpdate(updateRunOf(tree, { engineArgs }))).branchChange).toBeNull();
      const elsewhere = updateRunOf(tree, { engineArgs: ['--branch', 'nowhere'] });
      await expect(update(elsewhere)).rejects.toThrow(/origin has no branch nowhere/);
    });

    test('a detached HEAD on a commit of it goes on working', async () => {
      const tree = await applied(null);
      tree.git('checkout', '-q', '--detach');
      await tree.upstream({ 'hermes_cli/notes.py': 'ONE = 100\n' });
      const result = await update(updateRunOf(tree));
      expect(result.state.branchChange).toBeNull();
      expect(result.after?.head).not.toBe(result.state.before.head);
    });
  });

  test.each(['park', 'discard'] as const)(
    'an updater that leaves the edits out (%s): they are put back, its stash goes',
    async (how) => {
      const tree = await applied('source');
      const notes = join(tree.root, 'hermes_cli/notes.py');
      await writeFile(notes, theirs(await readFile(notes, 'utf8')));
      await behave(tree, { [how]: true });
      await tree.upstream({ 'hermes_cli/web_server.py': farAway(miniServer) });
      const result = await update(updateRunOf(tree));
      expect(result.edits).toEqual([{ path: 'hermes_cli/notes.py', outcome: 'put-back', why: null }]);
      expect(await readFile(notes, 'utf8')).toContain('# mine');
      expect(tree.git('stash', 'list')).toBe('');
    },
  );

  test.each([
    ['kept', {}],
    ['put-back', { park: true }],
    ['put-back', { discard: true }],
  ])('links and modes: %s, as they were (%j)', async (outcome, how) => {
    const tree = await applied(null);
    const at = (name: string): string => join(tree.root, name);
    await symlink('hermes_cli/notes.py', at('mylink'));
    await symlink('hermes_cli', at('myfolder'));
    await symlink('no such place', at('dangling'));
    await mkdir(at('mine'));
    await writeFile(at('mine/tool.sh'), '#!/bin/sh\n');
    await chmod(at('mine/tool.sh'), 0o755);
    await chmod(at('hermes_cli/main.py'), 0o755);
    await rm(at('pyproject.toml'));
    await symlink('/etc/hosts', at('pyproject.toml'));
    await behave(tree, how);
    await tree.upstream({ 'hermes_cli/notes.py': 'ONE = 100\n' });
    const result = await update(updateRunOf(tree));
    expect(result.edits.map(({ path, outcome: of }) => [path, of])).toEqual([
      ['hermes_cli/main.py', outcome],
      ['pyproject.toml', outcome],
      ['dangling', outcome],
      ['mine/tool.sh', outcome],
      ['myfolder', outcome],
      ['mylink', outcome],
    ]);
    expect(await readlink(at('mylink'))).toBe('hermes_cli/notes.py');
    expect(await readlink(at('myfolder'))).toBe('hermes_cli');
    expect(await readlink(at('dangling'))).toBe('no such place');
    expect(await readlink(at('pyproject.toml'))).toBe('/etc/hosts');
    expect((await lstat(at('mine/tool.sh'))).mode & 0o777).toBe(0o755);
    expect((await lstat(at('hermes_cli/main.py'))).mode & 0o777).toBe(0o755);
    expect(tree.git('stash', 'list')).toBe('');
  });

  test("the updater runs with the umask that we were started with; the files about it are the user's alone", async () => {
    const tree = await applied(null);
    const modeOf = async (path: string): Promise<string> => ((await lstat(path)).mode & 0o777).toString(8);
    const notes = join(tree.root, 'hermes_cli/notes.py');
    const tool = join(tree.root, 'mytool.sh');
    await writeFile(tool, '#!/bin/sh\n');
    await chmod(tool, 0o755);
    await tree.upstream({ 'hermes_cli/notes.py': 'ONE = 100\n' });
    const our = join(tree.home, 'desktop-compat/update');
    let ofOurs: string[] = [];
    await update(
      updateRunOf(tree, {
        reached: async (step) => {
          if (step === 'updated')
            ofOurs = await Promise.all(['updater.log', 'code', 'pid'].map((name) => modeOf(join(our, name))));
        },
      }),
    );
    const umask = process.umask();
    expect(await modeOf(notes)).toBe((0o666 & ~umask).toString(8));
    expect(await modeOf(tool)).toBe((0o777 & ~umask).toString(8));
    expect(ofOurs).toEqual(['600', '600', '600']);
  });

  test('an updater that fails leaves the engine as it was and ours in place', async () => {
    const tree = await applied('source');
    const before = await readFile(tree.server, 'utf8');
    await behave(tree, { fail: 'begin' });
    await tree.upstream({ 'hermes_cli/web_server.py': farAway(miniServer) });
    const result = await update(updateRunOf(tree));
    expect(result.state.exitCode).toBe(1);
    expect(result.after?.head).toBe(result.state.before.head);
    expect(await readFile(tree.server, 'utf8')).toBe(before);
  });

  test('nobody agrees: nothing is touched', async () => {
    const tree = await applied('source');
    await tree.upstream({ 'hermes_cli/web_server.py': farAway(miniServer) });
    const before = await snapshot(tree.home, ['.git', 'venv', '__pycache__']);
    await expect(update(updateRunOf(tree, { consent: async () => false }))).rejects.toThrow(/nobody agreed/);
    expect(await snapshot(tree.home, ['.git', 'venv', '__pycache__'])).toEqual(before);
  });

  test('pre-update, an update of ones own, post-update', async () => {
    const tree = await applied('source');
    await tree.upstream({ 'hermes_cli/web_server.py': farAway(miniServer) });
    await update(updateRunOf(tree), { from: 'begin', to: 'taken-out' });
    expect(tree.git('status', '--porcelain')).toBe('');
    tree.git('pull', '-q', '--ff-only');
    const result = await update(updateRunOf(tree), { from: 'updated', to: 'end' });
    expect(outcomes(result.settled.patches)).toEqual({
      'embedded-chat source': 'reapplied',
      'model-library source': 'reapplied',
    });
    expect(await readFile(tree.server, 'utf8')).toContain('hermes-compat');
  });

  test('an interrupt is obeyed between steps, and the next run goes on', async () => {
    const tree = await applied('source');
    await tree.upstream({ 'hermes_cli/web_server.py': farAway(miniServer) });
    const stop = new AbortController();
    const cut = update(
      updateRunOf(tree, {
        signal: stop.signal,
        reached: async (step) => void (step === 'taken-out' && stop.abort()),
      }),
    );
    await expect(cut).rejects.toThrow(/interrupted after the step "taken-out"/);
    expect(tree.git('status', '--porcelain')).toBe('');
    const result = await update(updateRunOf(tree));
    expect(result.continuedFrom).toBe('taken-out');
    expect(await readFile(tree.server, 'utf8')).toContain('hermes-compat');
    await rm(join(tree.home, 'updater.json'), { force: true });
  });
});
