// Writes what is generated from the code: JSON Schemas, the man page, completions, and pages of docs/. `--check` only compares and fails on a difference.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { publishedSchemas } from '../dist/report/published-schemas.js';
import { manPage } from '../dist/cli/man-page.js';
import { codesPage, verdictsPage } from './pages.mjs';

const check = process.argv.includes('--check');
const files = {
  'man/hermes-compat.1': await manPage(),
  'docs/codes.md': codesPage(),
  'docs/verdicts.md': await verdictsPage(),
};
const shells = { bash: 'bash', zsh: 'zsh', fish: 'fish', powershell: 'ps1' };
for (const [shell, ending] of Object.entries(shells)) {
  const script = execFileSync(process.execPath, ['bin/hermes-compat.js', 'completion', shell], {
    encoding: 'utf8',
  });
  files[`completions/hermes-compat.${ending}`] = `${script.trim()}\n`;
}
for (const [name, schema] of Object.entries(await publishedSchemas())) {
  files[`schemas/${name}`] = `${JSON.stringify(schema, null, 2)}\n`;
}
for (const [path, text] of Object.entries(files)) {
  let before = null;
  try {
    before = readFileSync(path, 'utf8');
  } catch {}
  if (before === text) continue;
  if (check) {
    console.error(`${path} is not what the code says; run: npm run generate`);
    process.exitCode = 1;
  } else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    console.log(`wrote ${path}`);
  }
}
