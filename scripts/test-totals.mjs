// Last line of the gate: `N passed, N failed, N skipped` from vitest's JSON report. Usage: test-totals.mjs REPORT EXIT_CODE
// Fails when a test failed, when a file could not be loaded, when vitest failed for another reason, or when nothing ran.
import { readFileSync } from 'node:fs';

const [path, code] = process.argv.slice(2);
let files = [];
try {
  files = JSON.parse(readFileSync(path, 'utf8')).testResults;
} catch {
  console.error('vitest left no report');
}
const states = files.flatMap((file) => file.assertionResults.map((test) => test.status));
const count = (state) => states.filter((other) => other === state).length;
const notLoaded = files.filter(
  (file) => file.status === 'failed' && file.assertionResults.length === 0,
).length;
const passed = count('passed');
const failed = count('failed') + notLoaded;
console.log(`${passed} passed, ${failed} failed, ${states.length - passed - count('failed')} skipped`);
process.exitCode = failed > 0 || passed === 0 ? 1 : Number(code);
