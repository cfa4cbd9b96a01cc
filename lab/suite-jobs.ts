import type { Cell } from './cells.ts';
import { settled } from './dashboard-jobs.ts';
import { type LabEngine, nextPage, venvOf } from './engine-modes.ts';
import { compat, inFolder, type Job } from './job.ts';

/** `turn --suite full`: every scenario, on an engine that is started for it with a scripted model. */

const row = 'all scenarios';

export const suiteJobs = (engines: readonly LabEngine[]): Job[] =>
  engines.map((engine) => ({
    parts: ['suite'],
    engine: engine.name,
    row,
    run: () => inFolder((folder) => measure(engine, folder)),
  }));

async function measure(engine: LabEngine, folder: string): Promise<Cell[]> {
  const venv = await venvOf(engine, folder);
  const words = ['turn', `local:${venv}`, '--suite', 'full', '--json'];
  const page: Record<string, string> =
    engine.version === '0.13.0' ? { HERMES_WEB_DIST: await nextPage() } : {};
  const result = await compat(words, folder, { TMPDIR: folder, ...page }, 1_200_000);
  return Object.entries(settled(result.code, result.stdout)).map(([column, is]) => ({
    part: 'suite',
    engine: engine.name,
    row,
    column,
    saw: { is },
  }));
}
