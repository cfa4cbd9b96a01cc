import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Line, linesOf } from './commands.ts';
import { pages } from './markdown.ts';
import { type Sandbox, sandbox } from './sandbox.ts';

// The commands of the pages, run in the order of each page: the README's in the gate, all in the full run.

const full = process.env['HERMES_COMPAT_TEST_FULL'] === '1';
const chosen = (await pages())
  .map((page) => ({ page, lines: linesOf(page).filter(({ run }) => run) }))
  .filter(({ page, lines }) => lines.length > 0 && (full || page.path === 'README.md'));

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
    place = await sandbox(page, full);
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
