import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const cwd = fileURLToPath(new URL('../../', import.meta.url));

test('schemas, man page, completions and the pages that are made from the code are what the code says', async () => {
  const { stderr } = await run(process.execPath, ['scripts/generate.mjs', '--check'], { cwd }).catch(
    (error: { stderr: string }) => error,
  );
  expect(stderr).toBe('');
});

test('the man page is one that man takes', async () => {
  const page = await readFile(new URL('../../man/hermes-compat.1', import.meta.url), 'utf8');
  expect(page).toMatch(/^\.TH HERMES-COMPAT 1 /);
  const requests = new Set([...page.matchAll(/^\.(\S+)/gm)].map(([, name]) => name));
  expect(requests).toEqual(new Set(['B', 'I', 'SH', 'SS', 'TH', 'TP', 'br']));
  for (const section of ['NAME', 'SYNOPSIS', 'COMMANDS', 'EXIT STATUS', 'ENVIRONMENT'])
    expect(page).toContain(`.SH ${section}\n`);
});
