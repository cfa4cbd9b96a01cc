import { hostname } from 'node:os';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConfigExcerpt } from '../../src/engine/config-excerpt.ts';
import { dotenvValue } from '../../src/engine/dotenv.ts';
import { effectiveHome, rootOf } from '../../src/engine/resolve-home.ts';
import { type Box, makeBox, makeVenv } from './trees.ts';

let box: Box;
beforeEach(async () => {
  box = await makeBox();
});
afterEach(() => box.remove());

const fingerprint = (secret: string): string => createHash('sha256').update(secret).digest('hex').slice(0, 8);
const homeOf = async (...ask: Parameters<Box['locate']>) => (await box.locate(...ask)).host.home;

describe('which home', () => {
  it('the default, HERMES_HOME, --home, in this order of strength', async () => {
    expect(await homeOf()).toMatchObject({ path: join(box.home, '.hermes'), from: 'default', exists: false });
    const env = { HERMES_HOME: box.path('data') };
    expect(await homeOf({ env })).toMatchObject({ path: box.path('data'), from: 'environment' });
    expect(await homeOf({ env, home: box.path('named') })).toMatchObject({
      path: box.path('named'),
      from: 'flag',
    });
    expect(await homeOf({ env: { HERMES_HOME: '  ' } })).toMatchObject({ from: 'default' });
  });

  it('a named path that is a home', async () => {
    await box.write('data/config.yaml', '');
    const { host } = await box.locate({
      path: `${box.path('data')}//`,
      env: { HERMES_HOME: box.path('other') },
    });
    expect(host).toMatchObject({
      named: 'home',
      home: { path: box.path('data'), from: 'target', exists: true },
    });
  });

  it('links are followed, so that one home has one name', async () => {
    await mkdir(box.path('data'));
    await symlink(box.path('data'), join(box.home, '.hermes'));
    expect(await homeOf()).toMatchObject({
      path: box.path('data'),
      exists: true,
      writable: true,
      readable: true,
    });
  });

  const asked = {
    home: '/r',
    defaultHome: '/u/.hermes',
    from: 'environment',
    profile: null,
    sticky: null,
    serves: 'profile',
  } as const;
  it.each([
    ['nothing more', {}, '/r', null, 'environment'],
    ['an asked profile', { profile: 'coder' }, '/r/profiles/coder', 'coder', 'flag'],
    ['the profile default', { profile: 'default', home: '/r/profiles/x' }, '/r', null, 'flag'],
    ['a home of a profile', { home: '/r/profiles/x', sticky: 'coder' }, '/r/profiles/x', 'x', 'environment'],
    [
      'active_profile, even with HERMES_HOME at the root',
      { sticky: 'coder' },
      '/r/profiles/coder',
      'coder',
      'active-profile',
    ],
    ['active_profile default', { sticky: 'default' }, '/r', null, 'environment'],
    ['0.17: an asked profile', { profile: 'coder', serves: 'root' }, '/r', 'coder', 'flag'],
    ['0.17: active_profile', { sticky: 'coder', serves: 'root' }, '/r', 'coder', 'active-profile'],
    ['0.17: a home of a profile', { home: '/r/profiles/x', serves: 'root' }, '/r', 'x', 'environment'],
    [
      'another profile than the one of the home',
      { home: '/r/profiles/x', profile: 'y' },
      '/r/profiles/y',
      'y',
      'flag',
    ],
  ] as const)('%s', (_, change, path, profile, from) =>
    expect(effectiveHome({ ...asked, ...change })).toEqual({ path, root: '/r', profile, from }),
  );

  it('rootOf', () => {
    expect(rootOf('/u/.hermes/profiles/x', '/u/.hermes')).toBe('/u/.hermes');
    expect(rootOf('/u/.hermes/data', '/u/.hermes')).toBe('/u/.hermes');
    expect(rootOf('/opt/data/profiles/x', '/u/.hermes')).toBe('/opt/data');
    expect(rootOf('/opt/data', '/u/.hermes')).toBe('/opt/data');
  });

  it('active_profile is read from the root home and its facts are those of the profile', async () => {
    const venv = await makeVenv(box, 'venv', { generation: 'G0', version: '0.14.0' });
    await symlink(join(venv, 'bin/hermes'), join(box.bin, 'hermes'));
    await box.write(join(box.home, '.hermes/active_profile'), 'coder\r\n');
    await box.write(join(box.home, '.hermes/profiles/coder/.env'), 'HERMES_DASHBOARD_TUI=1\n');
    await box.write(join(box.home, '.hermes/.env'), 'HERMES_DASHBOARD_TUI=0\n');
    expect(await homeOf()).toMatchObject({ profile: 'coder', from: 'active-profile', envFile: { tui: '1' } });
  });

  it('a named profile alias stands for its profile', async () => {
    const venv = await makeVenv(box, 'venv', { generation: 'G0', version: '0.14.0' });
    const alias = await box.write('bin/coder', `#!/bin/sh\nexec ${venv}/bin/hermes -p coder "$@"\n`, 0o755);
    await box.write(join(box.home, '.hermes/profiles/coder/config.yaml'), '_config_version: 7\n');
    expect(await homeOf({ path: alias })).toMatchObject({
      path: join(box.home, '.hermes/profiles/coder'),
      profile: 'coder',
      config: { configVersion: 7 },
    });
  });
});

describe('.env', () => {
  it('keeps three keys, of the token a fingerprint, of the rest nothing', async () => {
    await box.write(
      join(box.home, '.hermes/.env'),
      [
        'OPENAI_API_KEY=sk-canary-1',
        '# HERMES_DASHBOARD_TUI=0',
        'export HERMES_DASHBOARD_TUI = "1"   # on',
        "HERMES_WEB_DIST='/srv/web dist'",
        'HERMES_DASHBOARD_SESSION_TOKEN=old-canary-2',
        'HERMES_DASHBOARD_SESSION_TOKEN="canary-3" # pinned',
        'OTHER_HERMES_DASHBOARD_SESSION_TOKEN=canary-4',
        '',
      ].join('\r\n'),
    );
    const found = await box.locate();
    expect(found.host.home?.envFile).toEqual({
      exists: true,
      readable: true,
      tui: '1',
      webDist: '/srv/web dist',
      sessionToken: fingerprint('canary-3'),
    });
    expect(JSON.stringify(found)).not.toMatch(/canary/);
  });

  it.each([
    ['plain', 'a-token', 'a-token'],
    ['with a comment', 'a-token # mine', 'a-token'],
    ['a hash inside', 'a#token', 'a#token'],
    ['single quotes', "'a # token'", 'a # token'],
    ['blanks around', '   a-token  \t', 'a-token'],
  ])('token %s', async (_, raw, token) => {
    await box.write(join(box.home, '.hermes/.env'), `HERMES_DASHBOARD_SESSION_TOKEN=${raw}\n`);
    expect((await homeOf())?.envFile.sessionToken).toBe(fingerprint(token));
    expect(dotenvValue(raw)).toBe(token);
  });

  it.each([
    ['escapes', '"a\\"b"', 'set'],
    ['empty', '', null],
    ['empty quotes', '""', null],
    ['only a comment', '# nothing', null],
  ])('token %s', async (_, raw, expected) => {
    await box.write(join(box.home, '.hermes/.env'), `HERMES_DASHBOARD_SESSION_TOKEN=${raw}\n`);
    expect((await homeOf())?.envFile.sessionToken).toBe(expected);
  });

  it('a pipe in its place does not stop us', async () => {
    await mkdir(join(box.home, '.hermes'));
    await promisify(execFile)('mkfifo', [
      join(box.home, '.hermes/.env'),
      join(box.home, '.hermes/config.yaml'),
    ]);
    expect(await homeOf({ timeoutMs: 5000 })).toMatchObject({
      envFile: { exists: true, readable: false },
      config: { exists: true, readable: false },
    });
  });

  it.each([
    ['"a\\nb\\"c"', 'a\nb"c'],
    ["'a\\'b'", "a'b"],
    ['1 # x', '1'],
    ['', ''],
    ['#x', ''],
  ])('dotenvValue %j', (raw, value) => expect(dotenvValue(raw)).toBe(value));
});

describe('config.yaml', () => {
  const config = async (text: string) => {
    await box.write(join(box.home, '.hermes/config.yaml'), text);
    const found = await box.locate();
    expect(JSON.stringify(found)).not.toMatch(/canary/);
    const { pluginsEnabled, pluginsIsolation, publicUrl, configVersion } = found.host.home?.config ?? {};
    return { pluginsEnabled, pluginsIsolation, publicUrl, configVersion };
  };
  const none = { pluginsEnabled: null, pluginsIsolation: null, publicUrl: false, configVersion: null };

  it('keeps four keys and nothing else', async () =>
    expect(
      await config(`# comment
_config_version: 21
model:
  api_key: canary-1
plugins:
  entries:
    x: {secret: canary-2}
  # ours
  enabled:
    - hermes-compat   # by us
    - "other plugin"
  isolation: host
dashboard:
  basic_auth:
    password: canary-3
  public_url: https://canary-4.example
providers: [canary-5]
`),
    ).toEqual({
      pluginsEnabled: ['hermes-compat', 'other plugin'],
      pluginsIsolation: 'host',
      publicUrl: true,
      configVersion: 21,
    }));

  it.each([
    ['an empty file', '', none],
    [
      'a flow list',
      'plugins:\n  enabled: [a, "b", \'c\'] # x\n',
      { ...none, pluginsEnabled: ['a', 'b', 'c'] },
    ],
    ['an empty flow list', 'plugins:\n  enabled: []\n', { ...none, pluginsEnabled: [] }],
    [
      'a list at the level of its key',
      'plugins:\n  enabled:\n  - a\n  - b\n  isolation: host\n',
      { ...none, pluginsEnabled: ['a', 'b'], pluginsIsolation: 'host' },
    ],
    ['a key without value', 'plugins:\n  enabled:\n', { ...none, pluginsEnabled: [] }],
    ['all in one line', 'plugins: {enabled: [a], secret: canary}\n', { ...none, pluginsEnabled: ['a'] }],
    [
      'CRLF and deep indentation',
      'plugins:\r\n      enabled:\r\n        - a\r\n',
      { ...none, pluginsEnabled: ['a'] },
    ],
    ['another form', 'plugins:\n  enabled: *anchor\n', none],
    ['the same words elsewhere', 'skills:\n  enabled:\n    - canary\n', none],
    ['a nested key of that name', 'plugins:\n  entries:\n    enabled:\n      - canary\n', none],
    ['an empty public_url', 'dashboard:\n  public_url: ""\n', none],
    ['public_url null', 'dashboard:\n  public_url: null # none\n', none],
    ['public_url in one line', 'dashboard: {public_url: "https://x"}\n', { ...none, publicUrl: true }],
    ['a version that is no number', '_config_version: "x"\n', none],
  ])('%s', async (_, text, expected) => expect(await config(text)).toEqual(expected));

  it('readConfigExcerpt ignores lines it does not know', () =>
    expect(readConfigExcerpt(['?', '  - a', 'enabled', ':'])).toEqual(none));
});

describe('plugins, markers, journal, locks', () => {
  it('the overlay and what it carries', async () => {
    const folder = join(box.home, '.hermes/plugins/hermes-compat/dashboard');
    await box.write(join(folder, 'api.py'), '');
    await box.write(
      join(folder, 'manifest.json'),
      JSON.stringify({
        name: 'hermes-compat',
        'hermes-compat': { revision: 3, patches: [{ id: 'model-library' }, { id: 7 }, null] },
      }),
    );
    await box.write(join(box.home, '.hermes/plugins/weather/plugin.yaml'), '');
    await box.write(join(box.home, '.hermes/plugins/notes.txt'), '');
    expect(await homeOf()).toMatchObject({
      overlay: { present: true, carries: ['model-library'], revision: 3 },
      otherPlugins: ['weather'],
    });
  });

  it.each(['', '{', '[]', '"x"'])('a manifest that is %j', async (text) => {
    await box.write(join(box.home, '.hermes/plugins/hermes-compat/dashboard/manifest.json'), text);
    expect((await homeOf())?.overlay).toMatchObject({ present: false, carries: [], revision: null });
  });

  it('markers of the root home, ours and of others, whole and broken', async () => {
    const folder = join(box.home, '.hermes/desktop-compat');
    await box.write(join(folder, 'hermes-compat.json'), '{"entries":[]}');
    await box.write(join(folder, 'dashboard-embedded-chat.json'), '{"version":"2026-09-07.v3"');
    await box.write(join(folder, 'journal/journal.json'), '{}');
    expect(await homeOf()).toMatchObject({
      markers: [
        { path: join(folder, 'hermes-compat.json'), state: 'ok', ours: true, text: '{"entries":[]}' },
        { path: join(folder, 'dashboard-embedded-chat.json'), state: 'corrupt', ours: false },
      ],
      journalUnfinished: true,
    });
    await box.write(join(folder, 'dashboard-embedded-chat.json'), '{"version":"hermes-compat 1"}');
    expect((await homeOf())?.markers[1]).toMatchObject({ state: 'ok', ours: true });
  });

  it('locks with their holder', async () => {
    const home = join(box.home, '.hermes');
    const node = hostname().replace(/[^A-Za-z0-9.-]/g, '_');
    const ours = join(home, 'desktop-compat/lock', `${node}~${process.pid}~~abc`);
    await box.write(ours, '');
    await box.write(join(home, '.hermes-update-in-progress'), '999999999\n1796055740\nct:1.000\n');
    const found = await homeOf();
    expect(found?.locks).toEqual([
      { path: ours, kind: 'ours', pid: process.pid, alive: true, ageMs: expect.any(Number) },
      {
        path: join(home, '.hermes-update-in-progress'),
        kind: 'engine-update',
        pid: 999_999_999,
        alive: false,
        ageMs: expect.any(Number),
      },
    ]);
    expect(found?.locks[0]?.ageMs).toBeLessThan(60_000);
  });

  it('a lock of another machine, and one whose pid was used again', async () => {
    const folder = join(box.home, '.hermes/desktop-compat/lock');
    const node = hostname().replace(/[^A-Za-z0-9.-]/g, '_');
    await box.write(join(folder, `a-elsewhere.example~${process.pid}~~abc`), '');
    await box.write(join(folder, `${node}~${process.pid}~0123abcd-1~abc`), '');
    const locks = (await homeOf())?.locks.toSorted((a, b) => a.path.localeCompare(b.path));
    expect(locks?.map(({ alive }) => alive)).toEqual(node < 'a-e' ? [false, null] : [null, false]);
  });

  it('an update of ours: cut, prepared, and held', async () => {
    const folder = join(box.home, '.hermes/desktop-compat/update');
    expect((await homeOf())?.update).toBeUndefined();
    const state = { stateVersion: 1, step: 'taken-out', at: '2026-11-30T12:00:00.000Z', prepared: false };
    const write = (more: object) =>
      box.write(join(folder, 'state.json'), `${JSON.stringify({ ...state, ...more }, null, 2)}\n`);
    await write({ edits: Array.from({ length: 500 }, () => ({ step: 'no', path: 'a/b' })) });
    const cut = { step: 'taken-out', at: state.at, prepared: false, pid: null, alive: null, held: false };
    expect((await homeOf())?.update).toEqual(cut);
    await write({ prepared: true });
    expect((await homeOf())?.update).toEqual({ ...cut, prepared: true });
    const node = hostname().replace(/[^A-Za-z0-9.-]/g, '_');
    await box.write(join(folder, 'lock', `${node}~999999999~~abc`), '');
    expect((await homeOf())?.update).toMatchObject({ held: false });
    await box.write(join(folder, 'lock', `${node}~${process.pid}~~abc`), '');
    expect((await homeOf())?.update).toMatchObject({ held: true, alive: true, pid: process.pid });
  });

  it('a home that a package manager owns', async () => {
    await box.write(join(box.home, '.hermes/.managed'), '');
    expect(await homeOf()).toMatchObject({ managed: true });
    expect(await homeOf({ home: box.path('x'), env: { HERMES_MANAGED: 'homebrew' } })).toMatchObject({
      managed: true,
    });
  });
});
