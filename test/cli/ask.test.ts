import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { afterEach, expect, test } from 'vitest';
import { ourProgramIn } from '../support/follow-advice.ts';
import { gitTree, type GitTree } from '../support/git-tree.ts';

// Questions on a terminal of their own, answered as a person does.

const trees: GitTree[] = [];
afterEach(async () => {
  for (const tree of trees.splice(0)) await tree.remove();
});

function typed(line: string, env: Record<string, string>, answer: string): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn('script', ['-qec', line, '/dev/null'], { env: { TERM: 'xterm', ...env } });
    let shown = '';
    let asked = false;
    child.stdout.on('data', (bytes: Buffer) => {
      shown += bytes.toString();
      if (asked || !shown.includes('[y/N]')) return;
      asked = true;
      child.stdin.write(answer);
    });
    child.once('close', (code) => resolve(`${shown}\nexit ${code}`));
  });
}

test.skipIf(!existsSync('/usr/bin/script')).each([
  ['y\r', true],
  ['n\r', false],
  ['\u0004', false],
  ['\u0003', false],
])('%j is a yes: %s', { timeout: 120_000 }, async (answer, agreed) => {
  const tree = await gitTree();
  trees.push(tree);
  const path = `${await ourProgramIn(tree.folder)}:/usr/local/bin:/usr/bin:/bin`;
  const env = { PATH: path, HOME: tree.folder, SHELL: '/bin/sh', HERMES_HOME: tree.home };
  const shown = await typed('hermes-compat hook install git', env, answer);
  expect(shown).toContain('[y/N]');
  expect(existsSync(join(tree.root, '.git/hooks/post-merge')), shown).toBe(agreed);
  expect(shown).toContain(`exit ${agreed ? 0 : answer === '\u0003' ? '' : 4}`);
});
