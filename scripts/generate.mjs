// Writes what is generated from the code: JSON Schemas and the man page. `--check` only compares and fails on a difference.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { publishedSchemas } from '../dist/report/published-schemas.js';
import { manPage } from '../dist/cli/man-page.js';

const check = process.argv.includes('--check');
const files = { 'man/hermes-compat.1': await manPage() };
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
