import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, lstat, mkdir, readFile, readlink, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { cronLines } from '../../src/lifecycle/hooks/cron.ts';
import { installHook } from '../../src/lifecycle/hooks/install.ts';
import { hookState } from '../../src/lifecycle/hooks/kinds.ts';
import { readHooks } from '../../src/lifecycle/hooks/records.ts';
import { removeHook } from '../../src/lifecycle/hooks/remove.ts';
import { plist } from '../../src/lifecycle/hooks/launchd.ts';
import { pathUnit, serviceUnit } from '../../src/lifecycle/hooks/systemd.ts';
import type { GitTree } from '../support/git-tree.ts';
import { hookPlace } from '../support/hook-place.ts';
import { snapshot } from '../support/patch-scene.ts';

const trees: GitTree[] = [];
afterEach(async () => {
  for (const tree of trees.splice(0)) await tree.remove();
});

const at = '2026-11-30T12:00:00.000Z';

const placed: typeof hookPlace = async () => {
  const made = await hookPlace();
  trees.push(made.tree);
  return made;
};

const until = async (condition: () => boolean): Promise<void> => {
  const end = Date.now() + 20_000;
  while (!condition() && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 50));
  expect(condition()).toBe(true);
};

describe('git hook', () => {
  test('runs after git pull, calls the hook that was there, and gives it back as it was', async () => {
    const { tree, place, ran } = await placed();
    const hook = join(tree.root, '.git/hooks/post-merge');
    const trace = join(tree.folder, 'theirs');
    await writeFile(hook, `#!/bin/sh\necho "$1" >"${trace}"\nexit 3\n`);
    await chmod(hook, 0o750);
    const before = await snapshot(join(tree.root, '.git/hooks'));
    const { ino, mtimeMs } = await stat(hook);
    expect(await installHook(place, 'git', at)).toBe('installed');
    expect(await installHook(place, 'git', at)).toBe('kept');
    await tree.upstream({ 'hermes_cli/notes.py': 'ONE = 2\n' });
    tree.git('pull', '-q', '--ff-only');
    expect(await readFile(trace, 'utf8')).toBe('0\n');
    await until(() => existsSync(ran));
    expect(await readFile(ran, 'utf8')).toBe(`hook run --home ${tree.home}\n`);
    expect(await removeHook(place, 'git')).toBe(true);
    expect(await snapshot(join(tree.root, '.git/hooks'))).toEqual(before);
    expect(await stat(hook)).toMatchObject({ ino, mtimeMs });
    expect(await readHooks(place.host, tree.home)).toEqual([]);
  });

  test('refuses a hooks folder that others share, and a hook that somebody put over ours', async () => {
    const { tree, place } = await placed();
    tree.git('config', 'core.hooksPath', join(tree.folder, 'shared'));
    await expect(installHook(place, 'git', at)).rejects.toThrow(/core\.hooksPath/);
    tree.git('config', '--unset', 'core.hooksPath');
    const hook = join(tree.root, '.git/hooks/post-merge');
    await writeFile(hook, '#!/bin/sh\n', { mode: 0o755 });
    await installHook(place, 'git', at);
    await unlink(hook);
    await writeFile(hook, '#!/bin/sh\n# another tool\n', { mode: 0o755 });
    const [record] = await readHooks(place.host, tree.home);
    expect(await hookState(place, record!)).toBe('changed');
    await expect(removeHook(place, 'git')).rejects.toThrow(/is not the hook that was installed/);
    expect(await readFile(hook, 'utf8')).toContain('another tool');
  });
});

describe('cron', () => {
  test.each([
    ['no table', null],
    ['a table', 'MAILTO=me\n0 3 * * * backup\n'],
    ['a table without a last line break', '0 3 * * * backup'],
  ])('%s: added, executed as cron does, taken out to the byte', async (_name, before) => {
    const { tree, place, ran } = await placed();
    const table = join(tree.folder, 'table');
    if (before !== null) await writeFile(table, before);
    expect(await installHook(place, 'cron', at)).toBe('installed');
    const now = await readFile(table, 'utf8');
    expect(now.startsWith(before ?? '')).toBe(true);
    // cron hands all behind the five fields to sh, with \% for %.
    const line = now.split('\n').find((each) => each.startsWith('*/5')) as string;
    const command = line.split(' ').slice(5).join(' ').replaceAll('\\%', '%');
    execFileSync('/bin/sh', ['-c', command], { env: { PATH: '/usr/bin:/bin' } });
    expect(await readFile(ran, 'utf8')).toBe(`hook run --home ${tree.home}\n`);
    expect(await installHook(place, 'cron', at)).toBe('kept');
    expect(await removeHook(place, 'cron')).toBe(true);
    expect(existsSync(table) ? await readFile(table, 'utf8') : null).toBe(before);
  });

  test('lines that others add after ours stay', async () => {
    const { tree, place } = await placed();
    const table = join(tree.folder, 'table');
    await writeFile(table, 'A=1');
    await installHook(place, 'cron', at);
    await writeFile(table, `${await readFile(table, 'utf8')}B=2\n`);
    await removeHook(place, 'cron');
    expect(await readFile(table, 'utf8')).toBe('A=1\nB=2\n');
  });

  test('a percent sign is escaped', async () => {
    const { place } = await placed();
    expect(cronLines(place)).toContain('100\\%');
  });
});

describe('wrapper', () => {
  test.each(['script', 'link'] as const)(
    '%s: passes words and exit code, runs the re-check after update',
    async (kind) => {
      const { tree, place, ran } = await placed();
      const folder = join(tree.folder, 'local bin');
      await mkdir(folder);
      const command = join(folder, 'hermes');
      const real = join(tree.folder, 'real hermes');
      const text = '#!/bin/sh\necho "$0|$@"\nexit 7\n';
      await writeFile(kind === 'link' ? real : command, text, { mode: 0o755 });
      if (kind === 'link') await symlink('../real hermes', command);
      const before = await snapshot(folder);
      const here = { ...place, onPath: command };
      await installHook(here, 'wrapper', at);
      expect(await installHook(here, 'wrapper', at)).toBe('kept');
      const run = (...words: string[]): string => {
        try {
          execFileSync(command, words, { stdio: ['ignore', 'pipe', 'ignore'] });
        } catch (error) {
          const { status, stdout } = error as { status: number; stdout: Buffer };
          return `${status} ${stdout.toString().trim()}`;
        }
        return '0';
      };
      expect(run('chat', 'a b')).toMatch(/^7 .*hermes\|chat a b$/);
      expect(existsSync(ran)).toBe(false);
      expect(run('-p', 'coder', 'update')).toMatch(/^7 .*hermes\|-p coder update$/);
      expect(await readFile(ran, 'utf8')).toBe(`hook run --home ${tree.home}\n`);
      await removeHook(here, 'wrapper');
      expect(await snapshot(folder)).toEqual(before);
      if (kind === 'link') {
        expect((await lstat(command)).isSymbolicLink()).toBe(true);
        expect(await readlink(command)).toBe('../real hermes');
      }
    },
  );

  test('an install that replaced the wrapper keeps its new command', async () => {
    const { tree, place } = await placed();
    const folder = join(tree.folder, 'local');
    await mkdir(folder);
    const command = join(folder, 'hermes');
    await writeFile(command, '#!/bin/sh\necho old\n', { mode: 0o755 });
    const here = { ...place, onPath: command };
    await installHook(here, 'wrapper', at);
    await writeFile(command, '#!/bin/sh\necho new\n', { mode: 0o755 });
    await expect(removeHook(here, 'wrapper')).rejects.toThrow(/Keep the one that you want/);
    expect(execFileSync(command).toString()).toBe('new\n');
  });
});

describe('units', () => {
  const verify = existsSync('/usr/bin/systemd-analyze');
  test.skipIf(!verify)('systemd-analyze finds nothing wrong', async () => {
    const { tree, place } = await placed();
    const runtime = join(tree.folder, 'runtime');
    await mkdir(runtime, { mode: 0o700 });
    for (const scope of ['user', 'system'] as const) {
      const folder = join(tree.folder, scope);
      await mkdir(folder);
      await writeFile(join(folder, 'hermes-compat-test.service'), serviceUnit(place));
      await writeFile(join(folder, 'hermes-compat-test.path'), pathUnit(place, scope));
      const said = execFileSync(
        '/usr/bin/systemd-analyze',
        ['verify', `--${scope}`, '--recursive-errors=no', join(folder, 'hermes-compat-test.path')],
        {
          env: { PATH: '/usr/bin:/bin', XDG_RUNTIME_DIR: runtime, HOME: tree.folder },
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      );
      expect(said.toString()).toBe('');
    }
    const service = serviceUnit(place);
    expect(service).toContain(`re check's 100%%"`);
    for (const line of [
      `PathChanged=${tree.root}/hermes_cli/web_server.py`,
      `${tree.home}/desktop-compat/hooks/due`,
    ])
      expect(pathUnit(place, 'user')).toContain(line);
  });

  test('the agent of launchd parses, and names what systemd names', async () => {
    const { tree, place } = await placed();
    const file = join(tree.folder, 'agent.plist');
    await writeFile(file, plist(place));
    const parsed = JSON.parse(
      execFileSync('/usr/bin/python3', [
        '-c',
        'import json, plistlib, sys; print(json.dumps(plistlib.load(open(sys.argv[1], "rb"))))',
        file,
      ]).toString(),
    ) as { ProgramArguments: string[]; WatchPaths: string[] };
    expect(parsed.ProgramArguments).toEqual(place.command);
    expect(parsed.WatchPaths).toContain(`${tree.root}/hermes_cli/web_server.py`);
  });

  test('systemd that does not answer is no place for a hook, and nothing is left', async () => {
    const { tree, place } = await placed();
    const before = await snapshot(tree.folder, ['.git', 'venv', 'table']);
    // No systemd runs in a test.
    const answer = installHook(
      {
        ...place,
        host: {
          ...place.host,
          run: async (argv, options) =>
            argv[0] === 'systemctl'
              ? {
                  code: 1,
                  signal: null,
                  stdout: Buffer.alloc(0),
                  stderr: Buffer.from('no bus\n'),
                  timedOut: false,
                  overflow: false,
                }
              : place.host.run(argv, options),
        },
      },
      'systemd-user',
      at,
    );
    await expect(answer).rejects.toThrow(/systemd does not answer here \(no bus\)/);
    expect(await snapshot(tree.folder, ['.git', 'venv', 'table'])).toEqual(before);
  });
});
