import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSimulator } from '../../src/simulate/index.ts';
import { document, runCli } from '../support/cli.ts';

// Facts can be saved and judged later: the same report, apart from the time that it took.

const canary = 'canary-s4v3dF4ctsT0ken';
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'facts-'));
});
afterAll(() => rm(folder, { recursive: true, maxRetries: 5 }));

describe('doctor --from', () => {
  it.each([
    ['0.14.0', [], {}],
    ['0.19.0', [], { HERMES_COMPAT_TOKEN: canary }],
    ['0.19.0', ['foreign-origin'], { HERMES_COMPAT_TOKEN: canary }],
    ['0.22.2', ['contract-text'], { HERMES_COMPAT_TOKEN: canary }],
  ])('%s %j', async (release, faults, env) => {
    const simulator = await startSimulator({ release, faults, token: canary });
    try {
      const facts = await runCli(['detect', simulator.url, '--session-probe', 'always', '--json'], { env });
      document(facts);
      expect(facts.stdout).not.toContain(canary);
      const file = join(folder, 'facts.json');
      await writeFile(file, facts.stdout);
      for (const client of ['minimal', 'hermes-one', 'hermes-desktop']) {
        const live = document(
          await runCli(['doctor', simulator.url, '--session-probe', 'always', '--client', client, '--json'], {
            env,
          }),
        );
        const saved = document(await runCli(['doctor', '--from', file, '--client', client, '--json']));
        expect(timeless(saved)).toEqual(timeless(live));
      }
    } finally {
      await simulator.close();
    }
  });
});

/** Durations, and evidence that quotes them, differ from run to run. */
function timeless(report: Record<string, unknown>): unknown {
  return JSON.parse(
    JSON.stringify(report, (key, value: unknown) => (key === 'durationMs' ? 0 : value)).replaceAll(
      /\d+(\.\d+)? ms/g,
      'N ms',
    ),
  );
}
