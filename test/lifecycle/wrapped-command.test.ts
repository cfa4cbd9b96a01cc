import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { update } from '../../src/lifecycle/update/update.ts';
import { installHook } from '../../src/lifecycle/hooks/install.ts';
import type { HookPlace } from '../../src/lifecycle/hooks/types.ts';
import { engineCommand } from '../../src/patch/engine-command.ts';
import { farAway, gitTree, type GitTree } from '../support/git-tree.ts';
import { openTree, updateRunOf } from '../support/lifecycle.ts';
import { installFacts, testHost } from '../support/patch-scene.ts';
import { miniServer } from '../support/mini-engine.ts';

const trees: GitTree[] = [];
afterEach(async () => {
  for (const tree of trees.splice(0)) await tree.remove();
});

const at = '2026-11-30T12:00:00.000Z';

async function scene(): Promise<{ tree: GitTree; place: HookPlace; own: string }> {
  const tree = await gitTree();
  trees.push(tree);
  const { session } = await openTree({ install: tree.root, home: tree.home });
  const own = join(tree.root, 'venv/bin/hermes');
  return {
    tree,
    own,
    place: {
      host: testHost(),
      home: session.scene.home,
      install: session.scene.install,
      command: ['/bin/true', 'hook', 'run'],
      userHome: tree.folder,
      onPath: own,
    },
  };
}

describe("the wrapper and the environment's own command", () => {
  test('is refused there, also by another name of the folder; a link to it elsewhere can be wrapped', async () => {
    const { tree, place, own } = await scene();
    const before = await readFile(own, 'utf8');
    await symlink(join(tree.root, 'venv/bin'), join(tree.folder, 'activated'));
    for (const onPath of [own, join(tree.folder, 'activated/hermes')]) {
      await expect(installHook({ ...place, onPath }, 'wrapper', at)).rejects.toMatchObject({
        kind: 'refused',
        message: expect.stringMatching(/own environment.*hook install git/s),
      });
    }
    expect(await readFile(own, 'utf8')).toBe(before);
    // The chosen install may be another one.
    await expect(installHook({ ...place, install: null }, 'wrapper', at)).rejects.toThrow(/own environment/);
    const bin = join(tree.folder, 'bin');
    await mkdir(bin);
    await symlink(own, join(bin, 'hermes'));
    expect(await installHook({ ...place, onPath: join(bin, 'hermes') }, 'wrapper', at)).toBe('installed');
  });

  test('an update passes one that an earlier version put there', { timeout: 60_000 }, async () => {
    const { tree, own } = await scene();
    const aside = join(tree.root, 'venv/bin/.before-hermes-compat');
    await mkdir(aside);
    await rename(own, join(aside, 'hermes'));
    await writeFile(
      own,
      `#!/bin/sh\nfor hc_word do\n  case $hc_word in\n    update) hc_update=1 ;;\n  esac\ndone\nexec '${aside}/hermes' "$@"\n`,
      { mode: 0o755 },
    );
    await tree.upstream({ 'hermes_cli/web_server.py': farAway(miniServer) });
    const result = await update(updateRunOf(tree));
    expect(result.state.exitCode).toBe(0);
    expect(await readFile(tree.server, 'utf8')).toBe(farAway(miniServer));
  });
});

test.each([
  ['a script of pip', '#!/x/bin/python3.12\nimport sys\n', true],
  ['by env', '#!/usr/bin/env python3\nimport sys\n', true],
  [
    'a script whose interpreter has a long path',
    `#!/bin/sh\n'''exec' "/x y/python" "$0" "$@"\n' '''\n`,
    true,
  ],
  ['without a first line for the kernel', 'import sys\n', true],
  ['a shell script', '#!/bin/sh\nexec hermes "$@"\n', false],
  ['a shell script that names Python', '#!/bin/bash\nexec /x/python -m hermes_cli.main "$@"\n', false],
  ['a program', '\u007fELF\u0002\u0001\u0000', false],
])('run with Python: %s: %j', async (_what, text, isScript) => {
  const tree = await gitTree();
  trees.push(tree);
  const bin = join(tree.root, 'venv/bin');
  await writeFile(join(bin, 'hermes'), text);
  const install = installFacts(join(tree.root, 'hermes_cli'), join(bin, 'python'));
  expect(await engineCommand(testHost(), { ...install, commands: [join(bin, 'hermes')] })).toEqual([
    join(bin, 'python'),
    ...(isScript ? [join(bin, 'hermes')] : ['-m', 'hermes_cli.main']),
  ]);
});
