import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { change, planNow } from '../../src/patch/change.ts';
import { statusOf } from '../../src/patch/status.ts';
import { readWorld } from '../../src/patch/world.ts';
import { block, blockEnd, hermesOne } from '../support/hermes-one.ts';
import { miniServer } from '../support/mini-engine.ts';
import { agree, miniScene, options, session, snapshot, type TestScene } from '../support/patch-scene.ts';

const scenes: TestScene[] = [];
async function scene(server: string, files: Record<string, string> = {}): Promise<TestScene> {
  const made = await miniScene(server);
  scenes.push(made);
  for (const [name, text] of Object.entries(files))
    await writeFile(join(made.install.packageDir, name), text);
  return made;
}
afterEach(async () => {
  for (const each of scenes.splice(0)) await each.remove();
});

const server = (of: TestScene): string => join(of.install.packageDir, 'web_server.py');
const withImports = miniServer.replace(
  'import json\n',
  'import json\nimport secrets\nimport time\nfrom typing import Any, Dict, Optional\nfrom fastapi import HTTPException\nfrom hermes_constants import get_hermes_home\nfrom hermes_cli.config import load_config\n',
);

async function look(of: TestScene) {
  const run = await session(of);
  const status = await statusOf(await readWorld(run.host, of, run.catalogue), run.catalogue);
  const [chat, library] = status.patches.map(({ state, effective }) => `${state}/${effective}`);
  return { chat, library, findings: status.findings.map(({ code }) => code), status };
}

/** What stands in a tree, and what is said of it. */
const trees: [string, string, string, string, string[]][] = [
  ['untouched', miniServer, 'absent/no', 'absent/no', []],
  [
    'Hermes One',
    hermesOne(withImports).source,
    'applied-by-other/no',
    'applied-by-other/yes',
    ['PATCH_INEFFECTIVE', 'PATCH_BY_OTHER'],
  ],
  [
    'a fork of it',
    hermesOne(withImports, 'Agents One', false).source,
    'applied-by-other/no',
    'applied-by-other/yes',
    ['PATCH_INEFFECTIVE', 'PATCH_BY_OTHER'],
  ],
  [
    'its first version, after the catch-all',
    `${withImports}\n${block('Hermes One', false)}\n`,
    'absent/no',
    'applied-by-other/no',
    ['PATCH_INEFFECTIVE'],
  ],
  [
    'its block where the names that it reads are missing',
    hermesOne(miniServer).source,
    'applied-by-other/no',
    'applied-by-other/no',
    ['PATCH_INEFFECTIVE', 'PATCH_INEFFECTIVE'],
  ],
  [
    'only the module constant',
    miniServer.replace('_DASHBOARD_EMBEDDED_CHAT_ENABLED = False', '_DASHBOARD_EMBEDDED_CHAT_ENABLED = True'),
    'applied-by-other/no',
    'absent/no',
    ['PATCH_INEFFECTIVE'],
  ],
  [
    'the assignment, by hand',
    miniServer.replace('= embedded_chat\n', '= True\n'),
    'applied-by-other/yes',
    'absent/no',
    ['PATCH_BY_OTHER'],
  ],
  [
    'the route, by hand',
    miniServer.replace(
      '# Mount plugin',
      '@app.get("/api/model/library")\ndef mine():\n    return {}\n\n\n# Mount plugin',
    ),
    'absent/no',
    'applied-by-other/yes',
    ['PATCH_BY_OTHER'],
  ],
];

describe.each(trees)('%s', (_what, text, chat, library, codes) => {
  test('is told apart by bytes', async () => {
    const here = await scene(text);
    here.install.state = 'edited';
    here.install.editedFiles = ['hermes_cli/web_server.py'];
    const seen = await look(here);
    expect(seen).toMatchObject({ chat, library });
    expect(seen.findings).toEqual(codes);
  });

  test('whatever is there stays, and nothing is there twice', async () => {
    const here = await scene(text);
    here.install.state = 'edited';
    here.install.editedFiles = ['hermes_cli/web_server.py'];
    const { plan } = await change(await session(here), agree());
    expect(await readFile(server(here), 'utf8')).toBe(text);
    const done = new Set(plan.document.steps.map(({ patch }) => patch));
    expect(done.has('embedded-chat')).toBe(!chat.endsWith('/yes'));
    expect(done.has('model-library')).toBe(!library.endsWith('/yes'));
  });
});

test('a module that carries the API is recognised, used or not', async () => {
  const module =
    'HERMES_ONE_MODEL_LIBRARY_COMPAT_V1 = True\n\n\ndef mount_hermes_one_model_library(app):\n    @app.get("/api/model/library")\n    def read():\n        return {}\n';
  const files = { 'hermes_one_model_library.py': module };
  const used = miniServer.replace(
    '# Mount plugin',
    'from hermes_cli.hermes_one_model_library import mount_hermes_one_model_library\nmount_hermes_one_model_library(app)\n\n# Mount plugin',
  );
  expect(await look(await scene(used, files))).toMatchObject({ library: 'applied-by-other/yes' });
  expect(await look(await scene(miniServer, files))).toMatchObject({ library: 'applied-by-other/no' });
});

test('an engine that serves the route itself needs no patch', async () => {
  const here = await scene(miniServer, {
    'models.py': '@router.get("/api/model/library")\ndef read():\n    return {}\n',
  });
  const { status } = await look(here);
  expect(status.patches[1]).toMatchObject({ state: 'not-needed' });
  const { plan } = await planNow(await session(here), options({ patches: ['model-library'] }));
  expect(plan.document).toMatchObject({
    steps: [],
    refusals: [],
    notes: [{ text: expect.stringContaining('not needed') }],
  });
});

test('--replace takes theirs out and puts ours in', async () => {
  const here = await scene(hermesOne(withImports).source);
  await change(await session(here), agree({ replace: true, carrier: 'source' }));
  const text = await readFile(server(here), 'utf8');
  expect(text).not.toContain('HERMES_ONE');
  expect(text).toContain('embedded_chat: bool = False');
  expect(await look(here)).toMatchObject({ chat: 'applied/yes', library: 'applied/yes', findings: [] });
});

describe('beside Hermes One', () => {
  test.each(['overlay', 'source'] as const)('its next look changes nothing of ours (%s)', async (carrier) => {
    const here = await scene(withImports);
    await change(await session(here), agree({ carrier }));
    const ours = await readFile(server(here), 'utf8');
    const theirs = hermesOne(ours);
    expect(theirs.compatible).toBe(true);
    // Its block and its default come on top; each line of ours stays, in its order.
    const kept = theirs.source.split('\n').filter((line) => ours.split('\n').includes(line));
    for (const line of ours
      .split('\n')
      .filter((each) => each.includes('hermes-compat') || each.includes('hermes_compat')))
      expect(kept).toContain(line);
    expect(theirs.source.indexOf('>>> hermes-compat')).toBeLessThan(theirs.source.indexOf(blockEnd));
    await writeFile(server(here), theirs.source);
    expect(await look(here)).toMatchObject({ chat: 'applied/yes', library: 'applied/yes' });
    expect(hermesOne(theirs.source).source).toBe(theirs.source);
    await change(await session(here), agree({ do: 'revert' }));
    const left = await readFile(server(here), 'utf8');
    expect(left).not.toContain('hermes-compat');
    expect(left).toBe(hermesOne(withImports).source);
  });
});

describe('a structure never seen', () => {
  const cases: [string, string, string, RegExp, RegExp][] = [
    [
      'the function renamed',
      miniServer.replace('def start_server(', 'def run_server('),
      'embedded-chat',
      /in "def start_server"/,
      /no function start_server/,
    ],
    [
      'two functions of that name',
      `${miniServer}\n\ndef start_server(host):\n    pass\n`,
      'embedded-chat',
      /start_server/,
      /2 functions/,
    ],
    [
      'the assignment twice',
      miniServer.replace(
        '    uvicorn.run',
        '    _DASHBOARD_EMBEDDED_CHAT_ENABLED = embedded_chat\n    uvicorn.run',
      ),
      'embedded-chat',
      /once/,
      /2 assignments/,
    ],
    [
      'another right side',
      miniServer.replace('= embedded_chat\n', '= bool(embedded_chat)\n'),
      'embedded-chat',
      /= embedded_chat/,
      /bool\(embedded_chat\)/,
    ],
    [
      'the host under another name',
      miniServer.replace('    host: str', '    bind: str').replace('host=host', 'host=bind'),
      'embedded-chat',
      /"host" in scope/,
      /not defined/,
    ],
    [
      'the call moved into a function',
      miniServer.replace(
        '\n_mount_plugin_api_routes()\n',
        '\ndef later():\n    _mount_plugin_api_routes()\n',
      ),
      'model-library',
      /_mount_plugin_api_routes/,
      /no such call/,
    ],
    [
      'the call inside an if',
      miniServer.replace('\n_mount_plugin_api_routes()\n', '\nif True:\n    _mount_plugin_api_routes()\n'),
      'model-library',
      /module level/,
      /inside another statement/,
    ],
    [
      'the call twice',
      miniServer.replace(
        '\n_mount_plugin_api_routes()\n',
        '\n_mount_plugin_api_routes()\n_mount_plugin_api_routes()\n',
      ),
      'model-library',
      /once/,
      /2 calls \(lines \d+, \d+\)/,
    ],
    [
      'the call with arguments',
      miniServer.replace('\n_mount_plugin_api_routes()\n', '\n_mount_plugin_api_routes(app)\n'),
      'model-library',
      /_mount_plugin_api_routes/,
      /with arguments/,
    ],
    [
      'the catch-all first',
      miniServer.replace(
        '_mount_plugin_api_routes()\n\nmount_spa(app)',
        'mount_spa(app)\n\n_mount_plugin_api_routes()',
      ),
      'model-library',
      /before "mount_spa/,
      /an earlier mount_spa/,
    ],
    [
      'the app under another name',
      miniServer.replaceAll(/\bapp\b/g, 'server'),
      'model-library',
      /"app" defined before/,
      /it is not/,
    ],
    [
      'the words only in a string',
      miniServer.replace('\n_mount_plugin_api_routes()\n', '\nTEXT = """\n_mount_plugin_api_routes()\n"""\n'),
      'model-library',
      /_mount_plugin_api_routes/,
      /no such call/,
    ],
    [
      'conflict markers',
      miniServer.replace('import json', '<<<<<<< HEAD\nimport json\n=======\n>>>>>>> x'),
      'model-library',
      /web_server/,
      /conflict markers, line 2/,
    ],
    ['no UTF-8', `${miniServer}# \uFFFF`, 'model-library', /web_server/, /no UTF-8/],
  ];
  test.each(cases)(
    '%s: refused by both carriers, says what it looked for and what it found',
    async (what, text, patch, lookedFor, found) => {
      const here = await scene(text);
      if (what === 'no UTF-8') await writeFile(server(here), Buffer.from('caf\xe9 = 1\n', 'latin1'));
      const before = await snapshot(here.folder);
      for (const carrier of ['overlay', 'source'] as const) {
        const run = await session(here);
        const { plan } = await planNow(run, options({ patches: [patch], carrier }));
        expect(plan.document.refusals).toHaveLength(1);
        const [refusal] = plan.document.refusals;
        expect(refusal?.lookedFor).toMatch(lookedFor);
        expect(refusal?.found).toMatch(found);
        await expect(change(run, agree({ patches: [patch], carrier }))).rejects.toMatchObject({
          kind: 'refused',
          details: { finding: what === 'conflict markers' ? 'CONFLICT_MARKERS' : 'STRUCTURE_UNKNOWN' },
        });
      }
      expect(await snapshot(here.folder)).toEqual(before);
    },
  );
});

describe('our own edits, changed', () => {
  test('by hand: told, and neither written over nor taken out without --replace', async () => {
    for (const [from, to] of [
      ['"::1")  #', '"::1", "0.0.0.0")  #'],
      ['_hermes_compat_model_library.install(app)', '_hermes_compat_model_library.install(app, 1)'],
    ] as const) {
      const here = await scene(miniServer);
      await change(await session(here), agree({ carrier: 'source' }));
      const edited = (await readFile(server(here), 'utf8')).replace(from, to);
      await writeFile(server(here), edited);
      const patch = from.startsWith('"') ? 'embedded-chat' : 'model-library';
      expect((await look(here)).status.patches.find(({ id }) => id === patch)).toMatchObject({
        state: 'modified',
      });
      for (const action of ['apply', 'revert'] as const)
        await expect(
          change(await session(here), agree({ do: action, patches: [patch] })),
        ).rejects.toMatchObject({
          details: { finding: 'PATCH_MODIFIED' },
        });
      expect(await readFile(server(here), 'utf8')).toBe(edited);
      await change(await session(here), agree({ do: 'revert', replace: true }));
      expect(await readFile(server(here), 'utf8')).toBe(miniServer);
    }
  });

  test('a file of the overlay: told, and written anew with --replace', async () => {
    const here = await scene(miniServer);
    await change(await session(here), agree());
    const file = join(here.home.path, 'plugins/hermes-compat/dashboard/api.py');
    await writeFile(file, '# mine\n');
    expect(await look(here)).toMatchObject({ chat: 'modified/unknown', library: 'modified/unknown' });
    await expect(change(await session(here), agree())).rejects.toMatchObject({
      details: { finding: 'PATCH_MODIFIED' },
    });
    await change(await session(here), agree({ replace: true }));
    expect(await look(here)).toMatchObject({ chat: 'applied/yes', library: 'applied/yes' });
  });

  test.each(['overlay', 'source'] as const)(
    'an older revision is told, renewed in place, and reverted to the byte (%s)',
    async (carrier) => {
      const here = await scene(miniServer);
      const before = await snapshot(here.folder);
      await change(await session(here), agree({ carrier }));
      const newer = await session(here);
      for (const patch of newer.catalogue.patches) {
        patch.revision = 2;
        patch.moduleText += '# revision 2\n';
        patch.includeText = patch.includeText.replace(
          '# To take it out',
          '# Second revision. To take it out',
        );
        if (patch.source.kind === 'assignment') patch.source.append = ' or host == "127.0.0.1"';
      }
      const status = await statusOf(await readWorld(newer.host, here, newer.catalogue), newer.catalogue);
      expect(status.patches.map(({ state }) => state)).toEqual(['applied-older', 'applied-older']);
      await change(newer, agree());
      const now = await statusOf(await readWorld(newer.host, here, newer.catalogue), newer.catalogue);
      expect(
        now.patches.map(({ state, revision, carrier: by }) => `${state} ${revision ?? ''} ${by ?? ''}`),
      ).toEqual([`applied 2 ${carrier}`, `applied 2 ${carrier}`]);
      // The first revision does not touch what is newer than itself, and can still take it out.
      const older = await change(await session(here), agree());
      expect(older.changed).toBe(false);
      await change(await session(here), agree({ do: 'revert' }));
      expect(await snapshot(here.folder, ['desktop-compat'])).toEqual(before);
    },
  );
});
