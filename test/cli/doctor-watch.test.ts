import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { gitTree } from '../support/git-tree.ts';
import { bin } from '../support/bin.ts';

test('doctor --watch: one line at first, one a change, none between', { timeout: 120_000 }, async () => {
  const tree = await gitTree();
  const child = spawn(
    process.execPath,
    [bin, 'doctor', `local:${tree.root}`, '--home', tree.home, '--watch'],
    {
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: tree.folder, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const lines = (): string[] => text.split('\n').filter((line) => line !== '');
  const until = async (count: number): Promise<void> => {
    const end = Date.now() + 40_000;
    while (lines().length < count && Date.now() < end)
      await new Promise((resolve) => setTimeout(resolve, 100));
    expect(lines()).toHaveLength(count);
  };
  try {
    await until(1);
    expect(lines()[0]).toContain('DASHBOARD_NOT_RUNNING');
    await new Promise((resolve) => setTimeout(resolve, 6000));
    await writeFile(join(tree.root, 'hermes_cli/web_server.py'), '# mine\n', { flag: 'a' });
    await until(2);
    expect(lines()[1]).toMatch(/FOREIGN_EDITS.*changed: .*web_server\.py/);
    await new Promise((resolve) => setTimeout(resolve, 6000));
    expect(lines(), text).toHaveLength(2);
  } finally {
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    child.kill('SIGINT');
    await ended;
    await tree.remove();
  }
});
