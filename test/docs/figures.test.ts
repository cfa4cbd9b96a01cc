import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './markdown.ts';

// The figures of the README and of docs/fleets.md come from the run that docs/performance.md shows.

const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');
const between = (text: string, name: string): string =>
  text.split(`<!-- ${name} -->`)[1]?.split(`<!-- /${name} -->`)[0] ?? '';
const rows = (text: string): string[] => text.split('\n').filter((line) => /^\| .*\d/.test(line));

/** A release has figures; in between there may be none, in all places alike. */
test.each([
  ['README.md', 'speed', 8],
  ['docs/fleets.md', 'fleets', 4],
])('%s shows the figures of docs/performance.md', async (path, name, least) => {
  const results = between(await read('docs/performance.md'), 'results');
  const all = rows(results);
  if (results.includes('Not measured yet.'))
    return expect(between(await read(path), name)).toContain('Not measured yet.');
  const shown = rows(between(await read(path), name));
  expect(shown.length).toBeGreaterThanOrEqual(least);
  expect(shown.filter((row) => !all.includes(row))).toEqual([]);
});
