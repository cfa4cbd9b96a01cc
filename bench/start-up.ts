import { fileURLToPath } from 'node:url';
import { compare, table } from './ratio.ts';
import { closedPort } from './closed-port.ts';

// The first two ratios of the design: start-up against bare node, doctor on a closed port against the bare imports.
const bin = fileURLToPath(new URL('../bin/hermes-compat.js', import.meta.url));
const libraries = fileURLToPath(new URL('same-libraries.mjs', import.meta.url));
const node = process.execPath;
const port = await closedPort();

const rows = [
  compare('`--version` / `node -e 0`', [node, bin, '--version'], [node, '-e', '0'], { runs: 21, limit: 1.5 }),
  compare('`--help` / `node -e 0`', [node, bin, '--help'], [node, '-e', '0'], { runs: 21, limit: 1.5 }),
  compare(
    '`doctor`, closed port / node importing the same libraries',
    [node, bin, 'doctor', `http://127.0.0.1:${port}`],
    [node, libraries],
    { runs: 21, limit: 1.3 },
  ),
];
console.log(table(rows));
