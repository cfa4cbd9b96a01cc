import { fileURLToPath } from 'node:url';
import { change } from '../src/patch/change.ts';
import { gitTree } from '../test/support/git-tree.ts';
import { openTree } from '../test/support/lifecycle.ts';
import { agree } from '../test/support/patch-scene.ts';
import { compare } from './ratio.ts';

// `hook run` with nothing changed may cost 300 ms more than starting node: it runs every few minutes, for ever.
const bin = fileURLToPath(new URL('../bin/hermes-compat.js', import.meta.url));
const tree = await gitTree();
try {
  const { session } = await openTree({ install: tree.root, home: tree.home });
  await change(session, agree({ carrier: 'source' }));
  const run = [process.execPath, bin, 'hook', 'run', '--home', tree.home];
  // The first run writes down what it saw.
  compare('', run, run, { runs: 1, limit: null });
  const row = compare('`hook run`, unchanged / `node -e 0`', run, [process.execPath, '-e', '0'], {
    runs: 15,
    limit: null,
  });
  const more = row.ours - row.base;
  console.log(
    `| Measured | ours, ms | node, ms | more, ms | limit |\n|---|---|---|---|---|\n| ${row.name} | ${row.ours.toFixed(0)} | ${row.base.toFixed(0)} | ${more.toFixed(0)} | ≤ 300 |`,
  );
  if (more > 300) process.exitCode = 1;
} finally {
  await tree.remove();
}
