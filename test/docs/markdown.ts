import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** A fenced block: the words behind the fence, its text, and the line of the fence (from 1). */
export interface Fence {
  info: string[];
  text: string;
  line: number;
}

export interface Page {
  /** Path below the root of the repository. */
  path: string;
  text: string;
  fences: Fence[];
  /** The lines outside of fences, with their numbers. */
  prose: { line: number; text: string }[];
}

const folders = ['.', 'docs', 'cases', 'integrations', 'examples', 'man'];

/** Every page that people read. */
export async function pages(): Promise<Page[]> {
  const found: string[] = [];
  for (const folder of folders) {
    const names = await readdir(join(root, folder), { recursive: folder !== '.' }).catch(() => []);
    found.push(...names.filter((name) => name.endsWith('.md')).map((name) => join(folder, name)));
  }
  return Promise.all(
    found.toSorted().map(async (path) => parsePage(path, await readFile(join(root, path), 'utf8'))),
  );
}

export function parsePage(path: string, text: string): Page {
  const page: Page = { path, text, fences: [], prose: [] };
  let open: Fence | null = null;
  for (const [at, line] of text.split('\n').entries()) {
    const fence = /^ *```+(.*)$/.exec(line);
    if (fence === null) {
      if (open === null) page.prose.push({ line: at + 1, text: line });
      else open.text += `${line}\n`;
    } else if (open === null) {
      open = { info: (fence[1] ?? '').trim().split(/\s+/).filter(Boolean), text: '', line: at + 1 };
    } else {
      page.fences.push(open);
      open = null;
    }
  }
  if (open !== null) throw new Error(`${path}:${open.line}: the block is not closed`);
  return page;
}

/** Anchors of a page by GitHub's rule: lower case, no punctuation, hyphens for spaces, numbered when they repeat. */
export function anchors(page: Page): Set<string> {
  const seen = new Map<string, number>();
  const found = new Set<string>();
  for (const { text } of page.prose) {
    for (const [, id] of text.matchAll(/<a (?:id|name)="([^"]+)"/g)) found.add(id ?? '');
    const heading = /^#{1,6} +(.*?) *#*$/.exec(text)?.[1];
    if (heading === undefined) continue;
    const slug = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
      .replaceAll(' ', '-');
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    found.add(times === 0 ? slug : `${slug}-${times}`);
  }
  return found;
}

/** Targets of the links of a page, with their lines. */
export const links = (page: Page): { line: number; to: string }[] =>
  page.prose.flatMap(({ line, text }) =>
    [...text.replaceAll(/`[^`]*`/g, '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, to]) => ({
      line,
      to: to ?? '',
    })),
  );
