import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Line, linesOf } from './commands.ts';
import { pages, root } from './markdown.ts';
import { type Sandbox, sandbox } from './sandbox.ts';
import { isFull } from '../support/full.ts';

// The commands of the pages, run in the order of each page: the README's in the gate, all in the full run.

/** Pages whose commands another test runs, on machines made for them. */
const elsewhere: Record<string, string> = {
  'docs/ci.md': 'test/docs/fleet.test.ts',
  'docs/remote.md': 'test/docs/fleet.test.ts',
  'docs/turns.md': 'test/cli/turn.test.ts',
};

const chosen = (await pages())
  .map((page) => ({ page, lines: linesOf(page).filter(({ run }) => run) }))
  .filter(({ page, lines }) => lines.length > 0 && (isFull || page.path === 'README.md'))
  .filter(({ page }) => elsewhere[page.path] === undefined);

/** A verdict, and changes that are pending, are answers too. */
const allowed = ({ text, exit }: Line): readonly number[] => {
  if (exit !== null) return [exit];
  if (/hermes-compat (doctor|preflight|report|hook run|update|launch|turn)/.test(text)) return [0, 1];
  if (/hermes-compat patch (plan|status)/.test(text)) return [0, 10];
  return /hermes-compat patch (apply|revert)/.test(text) ? [0, 1] : [0];
};

describe.each(chosen.map((each) => [each.page.path, each] as const))('%s', (_path, { page, lines }) => {
  let place: Sandbox;
  beforeAll(async () => {
    place = await sandbox(page, isFull);
  }, 120_000);
  afterAll(() => place?.end());

  it.for(lines.map((line) => [`${line.line}: ${line.text}`, line] as const))(
    '%s',
    { timeout: 300_000 },
    async ([, line], context) => {
      const why = place.lacks(line);
      context.skip(why !== null, why ?? '');
      const { code, output } = await place.run(line);
      expect(allowed(line), `ended with ${code}:\n${output}`).toContain(code);
      expect(output).not.toContain('token-of-the-pages');
    },
  );
});

it.each(Object.entries(elsewhere))('the commands of %s are run by %s', async (path, file) => {
  expect(await readFile(join(root, file), 'utf8')).toContain(path.split('/').at(-1));
});
