import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bin } from '../support/bin.ts';
import { afterEach, expect, test } from 'vitest';
import type { Report } from '../../src/judge/schema.ts';
import { document, runCli } from '../support/cli.ts';
import { ourProgramIn, typeLines } from '../support/follow-advice.ts';
import { farAway, gitTree, type GitTree } from '../support/git-tree.ts';
import { miniServer } from '../support/mini-engine.ts';

const trees: GitTree[] = [];
afterEach(async () => {
  for (const tree of trees.splice(0)) await tree.remove();
});

test(
  'Ctrl-C while the updater works: it is waited for, said, and gone on with',
  { timeout: 300_000 },
  async () => {
    const tree = await gitTree();
    trees.push(tree);
    await writeFile(join(tree.home, 'updater.json'), '{"slow": "merged", "seconds": 3}');
    await tree.upstream({ 'hermes_cli/web_server.py': farAway(miniServer) });
    const target = `local:${tree.root}`;
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: tree.folder };
    const child = spawn(
      process.execPath,
      [bin, 'update', target, '--home', tree.home, '--yes', '--no-check'],
      {
        env: { ...env, NO_COLOR: '1' },
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    let said = '';
    child.stderr.on('data', (bytes: Buffer) => {
      if (!said.includes('step merged') && bytes.toString().includes('step merged')) child.kill('SIGINT');
      said += bytes.toString();
    });
    const code = await new Promise((resolve) => void child.once('close', resolve));
    expect(code, said).toBe(130);
    expect(said).toContain("the engine's updater is not cut: waiting for its end");
    expect(said).toContain('Update complete!');
    expect(said).toContain('interrupted after the step "updated"');
    const line = `hermes-compat update ${target} --home ${tree.home}`;
    expect(said).toContain(`$ ${line}\n`);

    const words = ['doctor', target, '--home', tree.home, '--json'];
    const findings = async () => document<Report & { kind: 'report' }>(await runCli(words, { env })).findings;
    expect(JSON.stringify(await findings())).toContain('after the step \\"updated\\"');
    const path = `${await ourProgramIn(tree.folder)}:${env.PATH}`;
    await typeLines([`${line} --no-check`], { ...env, PATH: path });
    expect((await findings()).map((each) => each.code)).not.toContain('UPDATE_INTERRUPTED');
    expect(await readFile(tree.server, 'utf8')).toBe(farAway(miniServer));
  },
);
