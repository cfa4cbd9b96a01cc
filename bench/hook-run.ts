import { change } from '../src/patch/change.ts';
import { gitTree } from '../test/support/git-tree.ts';
import { openTree } from '../test/support/lifecycle.ts';
import { agree } from '../test/support/patch-scene.ts';
import { node, program } from './paths.ts';
import { compare } from './ratio.ts';
import type { Section } from './section.ts';

const limitMs = 300;

/** `hook run` with nothing changed may cost 300 ms more than starting node: it runs every few minutes, for ever. */
export async function hookRun(runs = 15): Promise<Section> {
  const tree = await gitTree();
  try {
    const { session } = await openTree({ install: tree.root, home: tree.home });
    await change(session, agree({ carrier: 'source' }));
    const run = [node, program, 'hook', 'run', '--home', tree.home];
    // The first run writes down what it saw.
    compare('', run, run, { runs: 1, limit: null });
    const row = compare('`hook run`, unchanged / `node -e 0`', run, [node, '-e', '0'], { runs, limit: null });
    const more = row.ours - row.base;
    return {
      title: 'Hook',
      note: 'A re-check with nothing changed.',
      head: ['Measured', 'ours, ms', 'node, ms', 'more, ms', 'limit'],
      rows: [[row.name, row.ours.toFixed(0), row.base.toFixed(0), more.toFixed(0), `≤ ${limitMs}`]],
      missed:
        more > limitMs ? [`hook run: ${more.toFixed(0)} ms more than node, the limit is ${limitMs}`] : [],
    };
  } finally {
    await tree.remove();
  }
}
