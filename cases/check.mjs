#!/usr/bin/env node
// Runs these cases against a program. See README.md, "How to run them". Needs Node 20 and nothing else.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';

const usage = 'usage: check.mjs turns|rows [--only TEXT]… [--unpack] -- COMMAND [ARGUMENT]…';
const root = import.meta.dirname ?? new URL('.', import.meta.url).pathname;
const split = process.argv.indexOf('--');
const [what, ...options] = process.argv.slice(2, split < 0 ? undefined : split);
const command = split < 0 ? [] : process.argv.slice(split + 1);
const only = options.flatMap((word, i) => (word === '--only' ? [options[i + 1]] : []));
if ((what !== 'turns' && what !== 'rows') || command.length === 0) {
  console.error(usage);
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), 'cases-'));
let failed = 0;
let passed = 0;
try {
  for (const one of what === 'turns' ? turnCases() : rowCases()) {
    if (only.length > 0 && !only.some((text) => one.name.includes(text))) continue;
    const difference = one.run();
    if (difference === null) passed += 1;
    else {
      failed += 1;
      console.log(`not ok ${one.name}\n  ${difference}`);
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

function turnCases() {
  return readdirSync(join(root, 'turns')).flatMap((engine) => {
    const files = readdirSync(join(root, 'turns', engine));
    return files
      .filter((file) => /\.jsonl(\.gz)?$/.test(file))
      .map((file) => {
        const base = file.replace(/\.jsonl(\.gz)?$/, '');
        const path = (name) => join(root, 'turns', engine, name);
        const stored = files.includes(`${base}.stored.json`) ? path(`${base}.stored.json`) : null;
        const expected = JSON.parse(readFileSync(path(`${base}.expected.json`), 'utf8'));
        return {
          name: `${engine}/${base}`,
          run: () => compareOutput(filled(plain(path(file)), stored), null, expected, picked),
        };
      });
  });
}

function plain(path) {
  if (!options.includes('--unpack') || !path.endsWith('.gz')) return path;
  const copy = join(folder, basename(path, '.gz'));
  writeFileSync(copy, gunzipSync(readFileSync(path)));
  return copy;
}

/** `{recording}` and `{stored}` in the arguments; without stored rows the argument goes, and an option before it. */
function filled(recording, stored) {
  const words = [];
  for (const word of command) {
    if (word === '{stored}' && stored === null) {
      if (words.at(-1)?.startsWith('-')) words.pop();
    } else words.push(word.replaceAll('{recording}', recording).replaceAll('{stored}', stored ?? ''));
  }
  return words;
}

function rowCases() {
  return readdirSync(join(root, 'reconcile')).flatMap((file) =>
    JSON.parse(readFileSync(join(root, 'reconcile', file), 'utf8')).map(({ expected, sendable, ...given }) => {
      const op = given.op ?? (sendable === undefined ? 'reconcile' : 'sendable');
      const input = JSON.stringify({ ...given, op });
      return {
        name: `${file.replace('.json', '')}/${given.name}`,
        run: () => compareOutput(command, input, expected ?? sendable, (value) => value),
      };
    }),
  );
}

function compareOutput([program, ...words], input, expected, pick) {
  const { error, status, stdout, stderr } = spawnSync(program, words, {
    input: input ?? '',
    encoding: 'utf8',
    maxBuffer: 1 << 30,
    timeout: 120_000,
  });
  if (error !== undefined) return String(error.message);
  let got;
  try {
    got = JSON.parse(stdout);
  } catch {
    return `no JSON (exit ${status}): ${(stderr || stdout).slice(0, 300)}`;
  }
  return difference(pick(got, expected), expected, '');
}

/** Only the keys that are expected: a program may print more. */
function picked(got, like) {
  if (Array.isArray(got) && Array.isArray(like)) return got.map((one, i) => picked(one, like[i]));
  if (!isObject(got) || !isObject(like)) return got;
  return Object.fromEntries(Object.keys(like).map((key) => [key, picked(got[key], like[key])]));
}

function difference(got, expected, path) {
  if (Array.isArray(got) && Array.isArray(expected) && got.length !== expected.length) {
    return `${path || 'the list'} has ${got.length} entries, expected ${expected.length}`;
  }
  if (typeof got === 'object' && typeof expected === 'object' && got !== null && expected !== null) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(got)])) {
      const found = difference(got[key], expected[key], path === '' ? key : `${path}.${key}`);
      if (found !== null) return found;
    }
    return null;
  }
  if (got === expected) return null;
  return `${path}: ${JSON.stringify(got)?.slice(0, 200)}, expected ${JSON.stringify(expected)?.slice(0, 200)}`;
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
