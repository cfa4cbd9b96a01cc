import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { CompatError } from '../../src/errors.ts';
import { change, planNow } from '../../src/patch/change.ts';
import { purge } from '../../src/patch/purge.ts';
import { statusOf } from '../../src/patch/status.ts';
import { readWorld } from '../../src/patch/world.ts';
import { miniServer } from '../support/mini-engine.ts';
import { agree, miniScene, options, session, snapshot, type TestScene } from '../support/patch-scene.ts';

/** An engine of today: it loads only plugins that are listed, knows isolation, and reads plugins of the root home. */
const newServer = miniServer
  .replace(
    'def _mount_plugin_api_routes():\n    pass',
    'def _mount_plugin_api_routes():\n    enabled_set = set()\n    for plugin in []:\n        if plugin not in enabled_set:\n            continue',
  )
  .replace('    embedded_chat: bool = False,\n', '    initial_profile: str = "",\n')
  .replace(
    '\n    global _DASHBOARD_EMBEDDED_CHAT_ENABLED\n    _DASHBOARD_EMBEDDED_CHAT_ENABLED = embedded_chat\n',
    '',
  )
  .replace('_DASHBOARD_EMBEDDED_CHAT_ENABLED = False', '_DASHBOARD_EMBEDDED_CHAT_ENABLED = True');

const scenes: TestScene[] = [];
async function scene(server = newServer): Promise<TestScene> {
  const made = await miniScene(server);
  made.install.interpreter = { path: '/bin/true', version: null };
  scenes.push(made);
  return made;
}
afterEach(async () => {
  for (const each of scenes.splice(0)) await each.remove();
});

const config = (of: TestScene, text: string): Promise<void> =>
  writeFile(join(of.home.path, 'config.yaml'), text);
const file = async (of: TestScene, path: string, text = ''): Promise<void> => {
  await mkdir(join(of.folder, path, '..'), { recursive: true });
  await writeFile(join(of.folder, path), text);
};

interface Case {
  what: string;
  spoil(of: TestScene): unknown;
  carrier: 'overlay' | 'source';
  code: string;
  says: RegExp;
  /** Words of the way out. */
  instead: RegExp | null;
  server?: string;
}

const cases: Case[] = [
  {
    what: 'a layer of a container image',
    spoil: (of) => (of.install.method = 'docker'),
    carrier: 'source',
    code: 'SEALED_INSTALL',
    says: /lost with the container/,
    instead: /overlay/,
  },
  {
    what: 'the Nix store',
    spoil: (of) => (of.install.method = 'nix'),
    carrier: 'source',
    code: 'SEALED_INSTALL',
    says: /Nix/,
    instead: /overlay/,
  },
  {
    what: 'a sealed bundle',
    spoil: (of) => (of.install.notWritable = 'sealed'),
    carrier: 'source',
    code: 'SEALED_INSTALL',
    says: /sealed/,
    instead: /overlay/,
  },
  {
    what: 'a managed install',
    spoil: (of) => (of.install.notWritable = 'managed'),
    carrier: 'source',
    code: 'SEALED_INSTALL',
    says: /managed/,
    instead: /overlay/,
  },
  {
    what: 'a package that cannot start',
    spoil: (of) => (of.install.missingModules = ['hermes_cli.dashboard_auth']),
    carrier: 'overlay',
    code: 'ENGINE_BROKEN_PACKAGE',
    says: /lacks hermes_cli\.dashboard_auth/,
    instead: /0\.16/,
  },
  {
    what: 'a managed configuration',
    spoil: (of) => (of.home.managed = true),
    carrier: 'overlay',
    code: 'OVERLAY_NOT_LOADED',
    says: /managed by another program, and this engine loads only plugins that are listed/,
    instead: /plugins\.enabled/,
  },
  {
    what: 'plugins that the engine would enable by itself',
    spoil: (of) => file(of, 'home/plugins/mine/plugin.yaml', 'name: mine\n'),
    carrier: 'overlay',
    code: 'OVERLAY_NOT_LOADED',
    says: /keep the engine from enabling mine by itself/,
    instead: /together with those/,
  },
  {
    what: 'a list that is no list',
    spoil: (of) => config(of, 'plugins:\n  enabled: mine\n'),
    carrier: 'overlay',
    code: 'OVERLAY_NOT_LOADED',
    says: /not a list/,
    instead: /yourself/,
  },
  {
    what: 'our name among the disabled',
    spoil: (of) => config(of, 'plugins:\n  enabled: []\n  disabled: [hermes-compat]\n'),
    carrier: 'overlay',
    code: 'OVERLAY_NOT_LOADED',
    says: /somebody turned it off/,
    instead: /take it from that list/,
  },
  {
    what: 'plugins that run outside the dashboard',
    spoil: async (of) => {
      await file(of, 'site-packages/hermes_cli/plugin_isolation.py', 'ISOLATION_HOST = "host"\n');
      await config(of, 'plugins: {enabled: [], isolation: host}\n');
    },
    carrier: 'overlay',
    code: 'OVERLAY_NOT_LOADED',
    says: /isolation is "host"/,
    instead: /--carrier source/,
  },
  {
    what: 'another plugin of our name',
    spoil: (of) =>
      file(of, 'home/plugins/hermes-compat/dashboard/manifest.json', '{"name": "hermes-compat"}'),
    carrier: 'overlay',
    code: 'FOREIGN_EDITS',
    says: /not one of ours/,
    instead: /move that folder away/,
  },
  {
    what: 'an update that runs',
    spoil: (of) =>
      file(of, 'home/.hermes-update-in-progress', `${process.pid}\n${Date.now() / 1000}\nct:1.0\n`),
    carrier: 'overlay',
    code: 'UPDATE_IN_PROGRESS',
    says: new RegExp(`pid ${process.pid}`),
    instead: /when it is done/,
  },
  {
    what: 'an update that was just claimed',
    spoil: (of) => file(of, 'home/.hermes-update-in-progress', ''),
    carrier: 'source',
    code: 'UPDATE_IN_PROGRESS',
    says: /not written yet/,
    instead: /when it is done/,
  },
  {
    what: 'an update that was cut',
    spoil: (of) => file(of, 'home/.hermes-update-in-progress', '999999999\n1790000000\nct:1.0\n'),
    carrier: 'source',
    code: 'UPDATE_INTERRUPTED',
    says: /999999999, which is gone/,
    instead: /overlay/,
  },
  {
    what: 'an old claim of an update whose pid another process has',
    spoil: (of) => file(of, 'home/.hermes-update-in-progress', `${process.pid}\n1790000000\n`),
    carrier: 'source',
    code: 'UPDATE_INTERRUPTED',
    says: /cut/,
    instead: /overlay/,
  },
];

describe('refused, with reason and way out, and nothing written', () => {
  test.each(cases)('$what', async ({ spoil, carrier, code, says, instead, server }) => {
    const here = await scene(server);
    await spoil(here);
    const before = await snapshot(here.folder);
    const { plan } = await planNow(await session(here), options({ carrier, patches: ['model-library'] }));
    expect(plan.document.refusals).toHaveLength(1);
    const [refusal] = plan.document.refusals;
    expect(refusal).toMatchObject({ patch: 'model-library', carrier, code });
    expect(refusal?.reason).toMatch(says);
    if (instead !== null) expect(refusal?.alternative).toMatch(instead);
    const failed = (await change(await session(here), agree({ carrier, patches: ['model-library'] })).catch(
      (error: CompatError) => error,
    )) as CompatError;
    expect(failed).toMatchObject({ kind: 'refused', details: { finding: code } });
    expect(await snapshot(here.folder)).toEqual(before);
  });

  test('no install', async () => {
    const here = await scene();
    const alone = { ...here, install: null };
    await expect(change(await session(alone), agree())).rejects.toMatchObject({
      details: { finding: 'INSTALL_NOT_FOUND' },
    });
  });

  test('nobody agrees: the plan was shown, nothing is written', async () => {
    const here = await scene();
    const before = await snapshot(here.folder);
    let shown = 0;
    const consent = async (): Promise<boolean> => {
      shown++;
      return false;
    };
    await expect(
      change(await session(here), { options: options(), saved: null, consent }),
    ).rejects.toMatchObject({ kind: 'refused' });
    expect(shown).toBe(1);
    expect(await snapshot(here.folder)).toEqual(before);
  });
});

describe('the list of plugins', () => {
  const written = async (of: TestScene): Promise<string | null> =>
    readFile(join(of.home.path, 'config.yaml'), 'utf8').catch(() => null);

  test('an engine that loads every plugin gets the overlay without the list, where the list may not be made', async () => {
    const here = await scene(miniServer);
    await file(here, 'home/plugins/mine/plugin.yaml', 'name: mine\n');
    const { plan } = await change(await session(here), agree());
    expect(await written(here)).toBeNull();
    expect(plan.document.notes).toContainEqual({
      patch: 'model-library',
      text: expect.stringMatching(/left as it is .*this engine does not need it, newer ones do/),
    });
  });

  test('a list that exists is extended, other plugins or not', async () => {
    const here = await scene();
    await file(here, 'home/plugins/mine/plugin.yaml', 'name: mine\n');
    await config(here, 'plugins:\n  enabled: [mine]\n');
    await change(await session(here), agree({ patches: ['model-library'] }));
    expect(await written(here)).toBe('plugins:\n  enabled: [mine, hermes-compat]\n');
  });

  test('a configuration that the engine has migrated needs no care for other plugins', async () => {
    const here = await scene();
    await file(here, 'home/plugins/mine/plugin.yaml', 'name: mine\n');
    await config(here, '_config_version: 23\n');
    await change(await session(here), agree({ patches: ['model-library'] }));
    expect(await written(here)).toContain('    - hermes-compat\n');
  });

  test('our name that stood there before us stays when we go', async () => {
    const here = await scene();
    const text = 'plugins:\n  enabled: [hermes-compat]\n';
    await config(here, text);
    await change(await session(here), agree({ patches: ['model-library'] }));
    await change(await session(here), agree({ do: 'revert' }));
    expect(await written(here)).toBe(text);
  });

  test('a configuration that we made goes when only our lines are in it, and stays with those of others', async () => {
    for (const more of ['', 'model: x\n']) {
      const here = await scene();
      await change(await session(here), agree({ patches: ['model-library'] }));
      await config(here, `${(await written(here)) ?? ''}${more}`);
      await change(await session(here), agree({ do: 'revert' }));
      expect(await written(here)).toBe(more === '' ? null : more);
    }
  });
});

test('the overlay lies where the engine reads plugins: in the home of a profile up to 0.16, in the root home later', async () => {
  for (const [server, wanted] of [
    [miniServer, 'home/profiles/coder'],
    [newServer, 'home'],
  ] as const) {
    const here = await scene(server);
    const profile = join(here.home.path, 'profiles/coder');
    await mkdir(profile, { recursive: true });
    here.home.path = profile;
    await change(await session(here), agree({ patches: ['model-library'] }));
    const files = Object.keys(await snapshot(here.folder));
    expect(files).toContain(`${wanted}/plugins/hermes-compat/dashboard/manifest.json`);
    expect(files).toContain(`${wanted}/config.yaml`);
    expect(files).toContain('home/desktop-compat/hermes-compat.json');
  }
});

describe('markers', () => {
  const shared = (of: TestScene): string => join(of.home.path, 'desktop-compat/dashboard-embedded-chat.json');

  test('the one of Hermes One is never written over; ours in its fields goes with the last patch', async () => {
    const theirs =
      '{"version": "2026-09-07.dashboard-chat-model-library.v3", "target": "ssh", "compatible": true, "applied": true, "path": "/x"}';
    const beside = await scene();
    await file(beside, 'home/desktop-compat/dashboard-embedded-chat.json', theirs);
    await change(await session(beside), agree({ patches: ['model-library'] }));
    expect(await readFile(shared(beside), 'utf8')).toBe(theirs);
    const alone = await scene();
    await change(await session(alone), agree({ patches: ['model-library'] }));
    expect(JSON.parse(await readFile(shared(alone), 'utf8'))).toEqual({
      version: expect.stringMatching(/^hermes-compat \d/),
      target: 'local',
      compatible: true,
      applied: true,
      path: join(alone.install.packageDir, 'web_server.py'),
      checkedAt: expect.stringMatching(/^\d{4}-/),
    });
    await change(await session(alone), agree({ do: 'revert' }));
    expect(Object.keys(await snapshot(alone.home.path))).not.toContain(
      'desktop-compat/dashboard-embedded-chat.json',
    );
  });
});

describe('markers and bytes', () => {
  const findings = async (of: TestScene) => {
    const run = await session(of);
    const status = await statusOf(await readWorld(run.host, of, run.catalogue), run.catalogue);
    return status.findings
      .filter(({ code }) => /^MARKER|^PATCH_LOST/.test(code))
      .map(({ code, text }) => `${code} ${text}`);
  };
  const marker = 'home/desktop-compat/hermes-compat.json';
  const theirs = 'home/desktop-compat/dashboard-embedded-chat.json';

  test('whole and true: nothing to say', async () => {
    const here = await scene(miniServer);
    await change(await session(here), agree());
    expect(await findings(here)).toEqual([]);
  });

  test.each(['', '{', '[]', '{"kind": "marker"}', '\u0000\u0001'])(
    'ours that cannot be read (%j)',
    async (text) => {
      const here = await scene(miniServer);
      await change(await session(here), agree());
      await file(here, marker, text);
      expect(await findings(here)).toEqual([
        expect.stringMatching(/^MARKER_CORRUPT our marker cannot be read/),
      ]);
      // It is only a claim: what is there can still be taken out.
      await change(await session(here), agree({ do: 'revert' }));
      expect(
        Object.keys(await snapshot(here.home.path)).filter((path) => path.startsWith('plugins/')),
      ).toEqual([]);
    },
  );

  test('ours that claims what is gone', async () => {
    const here = await scene(miniServer);
    await change(await session(here), agree({ carrier: 'source' }));
    await writeFile(join(here.install.packageDir, 'web_server.py'), miniServer);
    expect(await findings(here)).toEqual([
      expect.stringMatching(/^PATCH_LOST embedded-chat was applied on .* \(source\) and is gone: now absent/),
      expect.stringMatching(/^PATCH_LOST model-library was applied/),
    ]);
  });

  test('ours that claims another revision', async () => {
    const here = await scene(miniServer);
    await change(await session(here), agree());
    const path = join(here.folder, marker);
    await writeFile(path, (await readFile(path, 'utf8')).replace('"revision": 1', '"revision": 7'));
    expect(await findings(here)).toEqual([
      'MARKER_MISMATCH the marker says revision 7 of embedded-chat; there is 1',
    ]);
  });

  test.each([
    [
      'local, v3',
      {
        version: '2026-09-07.dashboard-chat-model-library.v3',
        target: 'local',
        compatible: true,
        applied: false,
        path: '/x/web_server.py',
        checkedAt: '2026-09-08T00:00:00.000Z',
      },
    ],
    [
      'ssh, which has no date',
      {
        version: '2026-09-07.dashboard-chat-model-library.v3',
        target: 'ssh',
        compatible: true,
        applied: true,
        path: '/x',
      },
    ],
    [
      'v2',
      {
        version: '2026-06-11.dashboard-chat-model-library.v2',
        target: 'local',
        compatible: true,
        applied: true,
      },
    ],
  ])('that of Hermes One (%s) calls compatible what is not', async (_what, data) => {
    const here = await scene(miniServer);
    await file(here, theirs, JSON.stringify(data));
    expect(await findings(here)).toEqual([
      expect.stringMatching(/^MARKER_MISMATCH Hermes One's marker .* its chat is still off/),
    ]);
    await change(await session(here), agree());
    expect(await findings(here)).toEqual([]);
  });

  test('that of Hermes One, incompatible or unreadable', async () => {
    const here = await scene(miniServer);
    await file(
      here,
      theirs,
      JSON.stringify({ version: 'x.v3', target: 'local', compatible: false, applied: false }),
    );
    expect(await findings(here)).toEqual([]);
    await file(here, theirs, '{"version": ');
    expect(await findings(here)).toEqual([expect.stringMatching(/^MARKER_CORRUPT the marker of Hermes One/)]);
  });
});

describe('purge', () => {
  test('records of an install that still has our edit stay; of one that is gone they do not', async () => {
    const here = await scene(miniServer);
    const there = await scene(miniServer);
    there.home = here.home;
    await change(await session(there), agree({ carrier: 'source' }));
    await change(await session(here), agree());
    await change(await session(here), agree({ do: 'revert' }));
    await expect(purge(await session(here))).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining(there.install.root),
    });
    await there.remove();
    expect(await purge(await session(here))).toContain(
      join(here.home.root, 'desktop-compat/hermes-compat.json'),
    );
    expect(Object.keys(await snapshot(here.home.path))).toEqual([]);
  });
});
