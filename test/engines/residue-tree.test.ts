import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Report } from '../../src/judge/schema.ts';
import { document, runCli } from '../support/cli.ts';
import { freePort, requireEngines } from '../support/engines.ts';
import { advisedLines, ourProgramIn, typeLines } from '../support/follow-advice.ts';
import { endAllOf, startScript, untilAnswers } from '../support/own-engine.ts';
import { canUpdate, namespace, realTree, type RealTree } from '../support/real-tree.ts';
import { isFull } from '../support/full.ts';

// What updates leave in a checkout of a real release: found by doctor, its commands typed as they are printed, then gone.

const ready = canUpdate && isFull && (await requireEngines('0.16.0', '0.21.0.post1'));
const trees: RealTree[] = [];
afterEach(async () => {
  for (const tree of trees.splice(0)) {
    await endAllOf(tree.folder);
    await tree.remove();
  }
});

async function tree(version: string): Promise<RealTree> {
  const made = await realTree(version);
  trees.push(made);
  return made;
}

async function doctor({ root, home, env }: RealTree, ...more: string[]): Promise<Report> {
  const words = ['doctor', `local:${root}`, '--home', home, '--json', ...more];
  return document<Report & { kind: 'report' }>(await runCli(words, { env, timeoutMs: 240_000 }));
}

const codes = ({ findings }: Report): string[] => findings.map(({ code }) => code);

async function foundThenGone(
  at: RealTree,
  code: string,
  more: string[],
  within: string[] = [],
): Promise<void> {
  const first = await doctor(at, ...more);
  expect(codes(first), JSON.stringify(first.findings)).toContain(code);
  const path = `${await ourProgramIn(at.folder)}:${at.env['PATH']}`;
  const typed = await typeLines(advisedLines(first, code), { ...at.env, PATH: path }, within);
  const after = await doctor(at, ...more);
  expect(codes(after), JSON.stringify([typed, after.findings], null, 1)).not.toContain(code);
}

describe.skipIf(!ready)('residue in a checkout', { timeout: 1_200_000 }, () => {
  test('the web build is older than its sources', async () => {
    const at = await tree('0.16.0');
    const port = await freePort();
    const start = join(at.folder, 'start.sh');
    await writeFile(start, startScript(join(at.root, 'venv'), at.home, port, at.env), { mode: 0o755 });
    spawn('/bin/sh', ['-c', `setsid "${start}" >"${at.folder}/log" 2>&1 </dev/null &`], { env: at.env });
    await untilAnswers(port);
    // Only now: a dashboard that starts builds what is stale itself.
    const web = join(at.root, 'web');
    await mkdir(join(web, 'src'), { recursive: true });
    await writeFile(join(web, 'src/App.tsx'), 'export {};\n');
    const build =
      'cp ../hermes_cli/web_dist/index.html new.html && mv new.html ../hermes_cli/web_dist/index.html';
    await writeFile(join(web, 'package.json'), JSON.stringify({ name: 'web', scripts: { build } }));
    await foundThenGone(at, 'WEB_BUILD_STALE', ['--port', String(port)]);
  });

  test('the lock of an update that is gone', async () => {
    const at = await tree('0.21.0.post1');
    const lock = join(at.home, '.hermes-update-in-progress');
    await writeFile(lock, `4194300\n${Math.floor(Date.now() / 1000) - 30}\n`);
    await foundThenGone(at, 'UPDATE_INTERRUPTED', [], namespace);
    expect(existsSync(lock)).toBe(false);
    expect(at.git('stash', 'list')).toBe('');
  });
});
