import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Report } from '../../src/judge/schema.ts';
import { document, runCli } from '../support/cli.ts';
import { advisedLines, ourProgramIn, type Typed, typeLines } from '../support/follow-advice.ts';
import { type GitTree, gitTree } from '../support/git-tree.ts';

// What the advice takes away can be had back, also after a second round of it, and after its lines were typed once more.

let tree: GitTree;
beforeEach(async () => {
  tree = await gitTree();
});
afterEach(() => tree.remove());

const notes = 'hermes_cli/notes.py';
const at = (path: string): string => join(tree.root, path);
const write = (path: string, text: string): Promise<void> => writeFile(at(path), text);
const codes = ({ findings }: Report): string[] => findings.map(({ code }) => code);

async function doctor(): Promise<Report> {
  const words = ['doctor', `local:${tree.root}`, '--home', tree.home, '--json'];
  return document<Report & { kind: 'report' }>(await runCli(words, { env: { HOME: tree.folder } }));
}

async function typed(lines: string[]): Promise<Typed[]> {
  const path = `${await ourProgramIn(tree.folder)}:/usr/local/bin:/usr/bin:/bin`;
  return typeLines(lines, { PATH: path, HOME: tree.folder });
}

/** Follows the advice of this finding to the letter; every line works, and the finding is gone. */
async function followed(code: string): Promise<string[]> {
  const report = await doctor();
  expect(codes(report)).toContain(code);
  const lines = advisedLines(report, code);
  const shown = await typed(lines);
  expect(shown.filter((each) => each.code !== 0)).toEqual([]);
  expect(codes(await doctor()), JSON.stringify(shown, null, 1)).not.toContain(code);
  return lines;
}

/** Files below the folder of what was set aside, with their text. */
function kept(): Record<string, string> {
  const folder = join(tree.home, 'desktop-compat/set-aside');
  if (!existsSync(folder)) return {};
  const found = execFileSync('find', [folder, '-type', 'f'], { encoding: 'utf8' }).trim().split('\n');
  return Object.fromEntries(
    found.sort().map((file) => [file, execFileSync('cat', [file], { encoding: 'utf8' })]),
  );
}

const keptAs = (end: string): string[] =>
  Object.entries(kept())
    .flatMap(([file, text]) => (file.endsWith(end) ? [text] : []))
    .sort();

describe('stashes of an update', () => {
  const refs = (): string[] =>
    tree.git('for-each-ref', '--format=%(refname)', 'refs/hermes-compat').split('\n').filter(Boolean);
  const stash = async (text: string): Promise<string> => {
    await write(notes, `ONE = "staged ${text}"\n`);
    tree.git('add', notes);
    await write(notes, `ONE = "${text}"\n`);
    await write('un tracked.txt', text);
    tree.git('stash', 'push', '-q', '--include-untracked', '-m', `hermes-update-autostash-${text}`);
    return tree.git('rev-parse', 'stash@{0}').trim();
  };
  const broughtBack = async (commit: string, text: string): Promise<void> => {
    const ref = refs().find((each) => tree.git('rev-parse', each).trim() === commit);
    tree.git('stash', 'apply', '-q', '--index', ref ?? 'no ref holds it');
    expect(await readFile(at('un tracked.txt'), 'utf8')).toBe(text);
    expect(await readFile(at(notes), 'utf8')).toBe(`ONE = "${text}"\n`);
    expect(tree.git('show', `:${notes}`)).toBe(`ONE = "staged ${text}"\n`);
    tree.git('reset', '-q', '--hard');
    await rm(at('un tracked.txt'));
  };

  test('all of each comes back: untracked files and the index too, after a second round and a clean-up', async () => {
    const untouched = codes(await doctor());
    const first = await stash('first');
    await followed('STASH_LEFTOVER');
    const [second, third] = [await stash('second'), await stash('third')];
    await followed('STASH_LEFTOVER');
    expect(tree.git('stash', 'list')).toBe('');
    expect(tree.git('status', '--porcelain')).toBe('');
    expect(codes(await doctor())).toEqual(untouched);
    tree.git('reflog', 'expire', '--expire=now', '--all');
    tree.git('fetch', '-q', '--prune', '--prune-tags');
    tree.git('gc', '-q', '--prune=now');
    await broughtBack(first, 'first');
    await broughtBack(second, 'second');
    await broughtBack(third, 'third');
  });

  test('lines that are typed once more, or too late, drop no other stash', async () => {
    await write('mine.txt', 'mine');
    tree.git('stash', 'push', '-q', '-u', '-m', 'my own');
    const own = tree.git('rev-parse', 'stash@{0}').trim();
    await stash('first');
    const lines = await followed('STASH_LEFTOVER');
    await typed(lines);
    expect(tree.git('rev-parse', 'stash@{0}').trim()).toBe(own);
    await stash('second');
    const late = advisedLines(await doctor(), 'STASH_LEFTOVER');
    await write('newer.txt', 'newer');
    tree.git('stash', 'push', '-q', '-u', '-m', 'newer, my own');
    const shown = await typed(late);
    expect(shown.at(-1)?.shown).toContain('doctor');
    expect(tree.git('stash', 'list').trim().split('\n')).toHaveLength(3);
    await followed('STASH_LEFTOVER');
    expect(tree.git('stash', 'list').trim().split('\n')).toHaveLength(2);
  });
});

describe('edits and files of somebody', () => {
  test('two rounds keep both, in folders of their own; the same lines once more change nothing', async () => {
    await mkdir(at('a'));
    await write('a/same.txt', 'new file in a');
    await write('same.txt', 'one');
    await write(notes, 'ONE = "edit 1"\n');
    await write('hermes_cli/added.py', 'ADDED = 1\n');
    tree.git('add', 'hermes_cli/added.py');
    await rm(at('pyproject.toml'));
    const lines = await followed('FOREIGN_EDITS');
    expect(tree.git('status', '--porcelain')).toBe('');
    const before = kept();
    await typed(lines);
    expect(kept()).toEqual(before);

    await write('same.txt', 'two');
    await write(notes, 'ONE = "edit 2"\n');
    await typed(lines);
    expect(kept()).toEqual(before);
    expect(await readFile(at(notes), 'utf8')).toBe('ONE = "edit 2"\n');
    await followed('FOREIGN_EDITS');
    expect(keptAs('/same.txt')).toEqual(['new file in a', 'one', 'two']);
    expect(keptAs(`/${notes}`)).toEqual(['ONE = "edit 1"\n', 'ONE = "edit 2"\n']);
    expect(keptAs('/added.py')).toEqual(['ADDED = 1\n']);

    const diffs = Object.keys(kept())
      .filter((file) => file.endsWith('/set-aside.diff'))
      .sort();
    expect(diffs).toHaveLength(2);
    tree.git('apply', diffs[0] ?? '');
    expect(await readFile(at(notes), 'utf8')).toBe('ONE = "edit 1"\n');
    expect(existsSync(at('pyproject.toml'))).toBe(false);
    tree.git('checkout', '-q', '.');
    tree.git('apply', diffs[1] ?? '');
    expect(await readFile(at(notes), 'utf8')).toBe('ONE = "edit 2"\n');
  });

  test('backups of one name, in two folders and twice', async () => {
    await mkdir(at('tui_gateway'));
    for (const round of ['one', 'two']) {
      await write('hermes_cli/server.py.orig', `${round} of hermes_cli`);
      await write('tui_gateway/server.py.orig', `${round} of tui_gateway`);
      await followed('BACKUP_LEFTOVER');
    }
    expect(keptAs('/hermes_cli/server.py.orig')).toEqual(['one of hermes_cli', 'two of hermes_cli']);
    expect(keptAs('/tui_gateway/server.py.orig')).toEqual(['one of tui_gateway', 'two of tui_gateway']);
  });
});

describe('a merge that stopped half way, in any file of the engine', () => {
  const conflict = (report: Report) => report.findings.find(({ code }) => code === 'CONFLICT_MARKERS');
  const markers = '<<<<<<< Updated upstream\nONE = 1\n=======\nONE = 2\n>>>>>>> Stashed changes\n';

  test('markers by hand: named once, saved, gone, and again', async () => {
    for (const round of ['one', 'two']) {
      await write(notes, `${markers}# ${round}\n`);
      const report = await doctor();
      expect(conflict(report)).toMatchObject({ severity: 'warn', args: { files: [notes] } });
      expect(codes(report)).not.toContain('FOREIGN_EDITS');
      await followed('CONFLICT_MARKERS');
      expect(tree.git('status', '--porcelain')).toBe('');
    }
    expect(keptAs(`/${notes}`)).toEqual([`${markers}# one\n`, `${markers}# two\n`]);
    const diffs = Object.keys(kept()).filter((file) => file.endsWith('/check-out.diff'));
    expect(diffs).toHaveLength(2);
    tree.git('apply', diffs[0] ?? '');
    expect(await readFile(at(notes), 'utf8')).toBe(`${markers}# one\n`);
  });

  test('one end of a conflict alone, or one in a text, is none', async () => {
    await write(notes, '<<<<<<< Updated upstream\nONE = 1\n');
    await write('README.md', markers);
    tree.git('add', 'README.md');
    expect(codes(await doctor())).not.toContain('CONFLICT_MARKERS');
  });

  test('a failed stash apply: both changed, both added, deleted here, deleted there', async () => {
    const both = 'hermes_cli/both.py';
    await write('deleted-here.txt', 'old\n');
    await write('deleted-there.py', 'OLD = 1\n');
    tree.git('add', '-A');
    tree.git('commit', '-q', '-m', 'more');
    await write(notes, 'ONE = "mine"\n');
    await write(both, 'MINE = 1\n');
    await write('deleted-here.txt', 'mine\n');
    tree.git('rm', '-q', 'deleted-there.py');
    tree.git('add', '-A');
    tree.git('stash', 'push', '-q', '-m', 'hermes-update-autostash-x');
    await write(notes, 'ONE = "theirs"\n');
    await write(both, 'THEIRS = 1\n');
    await write('deleted-there.py', 'OLD = "theirs"\n');
    tree.git('rm', '-q', 'deleted-here.txt');
    tree.git('add', '-A');
    tree.git('commit', '-q', '-m', 'theirs');
    expect(() => tree.git('stash', 'apply', '-q')).toThrow();
    const unmerged = tree
      .git('status', '--porcelain')
      .trim()
      .split('\n')
      .map((line) => line.slice(0, 2));
    expect(unmerged.sort()).toEqual(['AA', 'DU', 'UD', 'UU']);
    const found = conflict(await doctor());
    expect(found?.args['files']).toEqual(['deleted-here.txt', 'deleted-there.py', both, notes]);
    await followed('CONFLICT_MARKERS');
    expect(tree.git('status', '--porcelain')).toBe('');
    expect(await readFile(at(notes), 'utf8')).toBe('ONE = "theirs"\n');
    expect(keptAs('/deleted-here.txt')).toEqual(['mine\n']);
    expect(keptAs(`/${both}`)[0]).toContain('MINE = 1');
  });
});
