import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { bin } from '../support/bin.ts';

function check(...args: string[]): { code: number | null; stdout: string } {
  const { status, stdout } = spawnSync(process.execPath, ['cases/check.mjs', ...args], { encoding: 'utf8' });
  return { code: status, stdout };
}

const replay = [process.execPath, bin, 'replay', '{recording}', '--stored', '{stored}', '--json'];

describe('the conformance kit', () => {
  test('passes for our own program, with and without stored rows', () => {
    const { code, stdout } = check(
      'turns',
      '--only',
      'v0.19.0/tool',
      '--only',
      'v0.14.0/bad-params',
      '--only',
      '/long',
      '--',
      ...replay,
    );
    expect(stdout).toMatch(/^\d+ passed, 0 failed\n$/);
    expect(Number(stdout.split(' ')[0])).toBeGreaterThan(5);
    expect(code).toBe(0);
  });

  test('unpacks recordings for programs that do not', () => {
    expect(check('turns', '--only', '/long', '--unpack', '--', ...replay).stdout).toBe(
      '1 passed, 0 failed\n',
    );
  });

  test('passes for our own rows', () => {
    const { code, stdout } = check('rows', '--', process.execPath, 'test/cases/row-program.mjs');
    expect(stdout).toMatch(/^30 passed, 0 failed\n$/);
    expect(code).toBe(0);
  });

  test('names the first difference, no JSON, and a program that is not there', () => {
    const wrong = check(
      'turns',
      '--only',
      'v0.19.0/plain',
      '--',
      process.execPath,
      '-e',
      'console.log(JSON.stringify({turns:[{index:0}]}))',
    );
    expect(wrong.code).toBe(1);
    expect(wrong.stdout).toContain('not ok v0.19.0/plain\n  turns.0.session: undefined, expected "b30c7466"');
    expect(check('turns', '--only', 'v0.19.0/plain', '--', process.execPath, '-e', '0').stdout).toContain(
      'no JSON (exit 0)',
    );
    expect(check('turns', '--only', 'v0.19.0/plain', '--', '/no/such/program').stdout).toContain('ENOENT');
  });

  test('usage', () => {
    expect(check('turns').code).toBe(2);
    expect(check('what', '--', 'x').code).toBe(2);
    expect(check('turns', '--only', 'no such case', '--', 'true').code).toBe(1);
  });
});
