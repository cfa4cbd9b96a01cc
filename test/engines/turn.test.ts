import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scenarios } from '../../src/live/scenarios.ts';
import { document, runCli, type CliResult } from '../support/cli.ts';
import { engineDir, requireEngines } from '../support/engines.ts';

// `turn --suite full` on real engines with the scripted model: exactly the committed cells, and nothing left behind.

const isFull = process.env['HERMES_COMPAT_TEST_FULL'] === '1';
const versions = isFull
  ? ['0.14.0', '0.16.0', '0.19.0', '0.21.4.post1', '0.22.2.post1']
  : ['0.19.0', '0.22.2.post1'];
const few = ['plain', 'tools', 'interrupt', 'lost-socket'];
const ready = await requireEngines(...versions);

interface Turns {
  kind: 'turns';
  target: { url: string };
  engine: { version: string };
  scenarios: { id: string; status: string; got: string; expected: string; from: string }[];
  findings: unknown[];
  exitCode: number;
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'turn-suite-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const turn = (args: string[]): Promise<CliResult> =>
  runCli(['turn', ...args], { env: { TMPDIR: folder, HOME: folder }, timeoutMs: 580_000 });

describe.skipIf(!ready)('turn --suite full', { timeout: 600_000 }, () => {
  it.each(versions)('%s gives the committed cells', async (version) => {
    const args = [`local:${engineDir(version)}`, '--suite', 'full', '--json'];
    const result = await turn(isFull ? args : [...args, '--only', few.join(',')]);
    const turns = document<Turns>(result);
    const wanted = isFull ? scenarios.map(({ id }) => id) : few;
    expect(turns.scenarios.map(({ id }) => id)).toEqual(wanted);
    const cells = (which: 'got' | 'expected'): string[] =>
      turns.scenarios.map((scenario) => `${scenario.id}: ${scenario[which]}`);
    expect(cells('got')).toEqual(cells('expected'));
    expect(turns.scenarios.every(({ from }) => from === 'table')).toBe(true);
    expect(turns).toMatchObject({ engine: { version }, findings: [], exitCode: 0 });
    expect(result.code).toBe(0);
    expect(await readdir(folder)).toEqual([]);
    await expect(fetch(turns.target.url)).rejects.toThrow();
  });
});

describe.skipIf(!ready)('record', { timeout: 300_000 }, () => {
  it('writes no frame and asks no model without consent', async () => {
    const prompt = join(folder, 'prompt.txt');
    const output = join(folder, 'never.jsonl');
    await writeFile(prompt, 'hello');
    const result = await runCli([
      'record',
      'http://127.0.0.1:1',
      '--prompt-file',
      prompt,
      '--output',
      output,
    ]);
    expect(result).toMatchObject({ code: 3, stderr: expect.stringContaining('nothing was sent') });
    await expect(readFile(output)).rejects.toThrow('ENOENT');
    await rm(prompt);
  });
});
