import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { helpTexts, linesOf, ourRuns, refusal } from './commands.ts';
import { pages, parsePage, root } from './markdown.ts';

// Every command that a page shows is one that the program takes: an option that was renamed fails here.

const all = await pages();
const scripts = Object.keys(
  (JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { scripts: object }).scripts,
);

describe('commands in the pages', () => {
  it.each(all.map((page) => [page.path, page] as const))('%s', async (path, page) => {
    const bad: string[] = [];
    const check = async (line: number, text: string, mayLack?: RegExp): Promise<void> => {
      for (const argv of ourRuns(text)) {
        const why = await refusal(argv);
        if (why !== null && mayLack?.test(why) !== true) bad.push(`${path}:${line}: ${text}: ${why}`);
      }
      for (const [, name] of text.matchAll(/\bnpm run (?:-s )?([\w:-]+)/g))
        if (!scripts.includes(name ?? '')) bad.push(`${path}:${line}: no script ${name}`);
    };
    for (const { line, text } of linesOf(page)) await check(line, text);
    for (const { line, text } of page.prose)
      for (const [, code = ''] of text.matchAll(/`(hermes-compat [^`]+)`/g))
        if (!/[…·]/.test(code)) await check(line, code, /required (option|argument)/);
    expect(bad).toEqual([]);
  });

  it.each(all.map((page) => [page.path, page] as const))(
    '%s: commands stand in sh or console blocks',
    (path, page) => {
      const loose = page.prose
        .filter(({ text }) => /^(\t| {4,})\$? ?(hermes-compat|npm|npx) /.test(text))
        .map(({ line, text }) => `${path}:${line}: ${text.trim()}`);
      const unmarked = page.fences
        .filter(
          ({ info, text }) =>
            !['sh', 'console'].includes(info[0] ?? '') && /^\$? ?hermes-compat /m.test(text),
        )
        .map(({ line }) => `${path}:${line}: this block is neither sh nor console`);
      expect([...loose, ...unmarked]).toEqual([]);
    },
  );

  it('wrong options, commands and scripts are found', async () => {
    expect(await refusal(['doctor', '--frobnicate'])).toMatch(/unknown option/);
    expect(await refusal(['patch', 'aply'])).toMatch(/unknown command/);
    expect(await refusal(['patch', 'apply', 'model-library', '--yes'])).toBeNull();
    expect(await refusal(['update', '--', '--no-backup'])).toBeNull();
    expect(
      ourRuns('A=1 hermes-compat doctor "x y" > out.txt 2>&1 && cat a | hermes-compat replay -'),
    ).toEqual([
      ['doctor', 'x y'],
      ['replay', '-'],
    ]);
    expect(ourRuns('source <(hermes-compat completion bash)')).toEqual([['completion', 'bash']]);
  });

  it('lines are taken from sh and console blocks', () => {
    const page = parsePage(
      'x.md',
      '```sh norun\n# said\na \\\n  b   # why\n\n```\n```console exit=4\n$ c\nout\n```\n',
    );
    expect(linesOf(page)).toEqual([
      { page: 'x.md', line: 3, text: 'a b', run: false, exit: null },
      { page: 'x.md', line: 8, text: 'c', run: true, exit: 4 },
    ]);
  });
});

describe('examples in the help', () => {
  it(
    'are taken by the program, and the files of ours that they name are there',
    { timeout: 120_000 },
    async () => {
      const bad: string[] = [];
      const examples = (await helpTexts()).flatMap((text) =>
        [...text.matchAll(/^ {2}\$ (.*?)(?: {3,}\(.*)?$/gm)].map(([, line]) => line ?? ''),
      );
      expect(examples.length).toBeGreaterThan(40);
      for (const line of examples) {
        for (const argv of ourRuns(line)) {
          const why = await refusal(argv);
          if (why !== null) bad.push(`${line}: ${why}`);
        }
        for (const [path] of line.matchAll(/\bcases\/[\w./-]+/g))
          await access(join(root, path)).catch(() => bad.push(`${line}: there is no ${path}`));
      }
      expect(bad).toEqual([]);
    },
  );
});
