import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { releases } from '../../src/simulate/index.ts';
import { ourRuns, refusal } from '../docs/commands.ts';

// The example workflow for authors of clients: its commands are ones that the program takes, its releases ones that it can be.

interface Workflow {
  jobs: Record<
    string,
    { strategy: { matrix: { node: number[]; release: string[] } }; steps: { run?: string }[] }
  >;
}

test('the workflow for client authors', async () => {
  const path = fileURLToPath(new URL('../../integrations/github-action', import.meta.url));
  const { jobs } = parse(await readFile(join(path, 'client-tests.yml'), 'utf8')) as Workflow;
  const { strategy, steps } = jobs['test'] as Workflow['jobs'][string];
  expect(strategy.matrix.node).toEqual([20, 22, 24]);
  const known = releases.map(({ version }) => version);
  for (const release of strategy.matrix.release)
    expect(known.some((version) => version === release || version.startsWith(`${release}.`))).toBe(true);
  const lines = steps.flatMap(({ run = '' }) => run.split('\n')).map((line) => line.replace(/ &$/, ''));
  const runs = lines.flatMap((line) => ourRuns(line.replaceAll('npx ', '')));
  expect(runs).toHaveLength(2);
  for (const argv of runs) expect(await refusal(argv)).toBeNull();
});
