import { access, readdir } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchors, links, pages, parsePage, root } from './markdown.ts';

const all = await pages();
const byPath = new Map(all.map((page) => [page.path, page]));

/** What is wrong with a link; null when it leads somewhere. */
async function broken(from: string, to: string): Promise<string | null> {
  if (/^(https?:|mailto:)/.test(to)) return null;
  const [file = '', anchor] = to.split('#');
  const path = file === '' ? from : normalize(join(dirname(from), file));
  if (path.startsWith('..')) return 'leads out of the repository';
  const there = await access(join(root, path)).then(
    () => true,
    () => false,
  );
  if (!there) return 'no such file';
  const page = byPath.get(path);
  return anchor === undefined || (page !== undefined && anchors(page).has(anchor)) ? null : 'no such heading';
}

describe('links', () => {
  it.each(all.map((page) => [page.path, page] as const))('%s', async (path, page) => {
    const bad: string[] = [];
    for (const { line, to } of links(page)) {
      const why = await broken(path, to);
      if (why !== null) bad.push(`${path}:${line}: ${to}: ${why}`);
    }
    expect(bad).toEqual([]);
  });

  it('a wrong file and a wrong heading are found', async () => {
    expect(await broken('README.md', 'docs/nothing.md')).toBe('no such file');
    expect(await broken('docs/ssh.md', 'patches.md#nothing')).toBe('no such heading');
    expect(await broken('docs/ssh.md', 'patches.md#two-carriers')).toBeNull();
    const page = parsePage('x.md', '# A `b` (c)\n\n## Twice\n## Twice\n');
    expect([...anchors(page)]).toEqual(['a-b-c', 'twice', 'twice-1']);
  });

  it('the README leads to every page of docs', async () => {
    const readme = byPath.get('README.md');
    if (readme === undefined) throw new Error('no README');
    const named = new Set(links(readme).map(({ to }) => to.split('#')[0]));
    const docs = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md'));
    expect(docs.filter((name) => !named.has(`docs/${name}`))).toEqual([]);
  });
});
