import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

const file = (status: string, ...tests: string[]): unknown => ({
  status,
  assertionResults: tests.map((state) => ({ status: state })),
});

function totals(report: string, code: number): { last: string | undefined; status: number | null } {
  const folder = mkdtempSync(join(tmpdir(), 'totals-'));
  const path = join(folder, 'report.json');
  writeFileSync(path, report);
  const { stdout, status } = spawnSync(process.execPath, ['scripts/test-totals.mjs', path, String(code)]);
  rmSync(folder, { recursive: true });
  return { last: stdout.toString().trimEnd().split('\n').at(-1), status };
}

test.each([
  ['all green', [file('passed', 'passed', 'passed', 'pending')], 0, '2 passed, 0 failed, 1 skipped', 0],
  ['one red', [file('failed', 'passed', 'failed')], 1, '1 passed, 1 failed, 0 skipped', 1],
  [
    'a file that cannot load',
    [file('passed', 'passed'), file('failed')],
    1,
    '1 passed, 1 failed, 0 skipped',
    1,
  ],
  ['all skipped', [file('passed', 'skipped', 'todo')], 0, '0 passed, 0 failed, 2 skipped', 1],
  ['vitest fails by itself', [file('passed', 'passed')], 1, '1 passed, 0 failed, 0 skipped', 1],
])('%s', (_name, testResults, code, last, status) => {
  expect(totals(JSON.stringify({ testResults }), code)).toEqual({ last, status });
});

test('no report is a failure', () => {
  expect(totals('', 0)).toEqual({ last: '0 passed, 0 failed, 0 skipped', status: 1 });
});
