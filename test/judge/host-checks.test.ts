import { describe, expect, test } from 'vitest';
import type { EngineProcess, Home, HostFacts, Install } from '../../src/engine/schema.ts';
import { readClients } from '../../src/judge/client.ts';
import type { Judgement } from '../../src/judge/judge.ts';
import { judge } from '../../src/judge/judge.ts';
import type { Facts } from '../../src/probe/schema.ts';
import {
  empty,
  engineProcess,
  error,
  healthy,
  home,
  host,
  html,
  http,
  install,
  json,
  open,
  page,
  release,
  remote,
  text,
  withHttp,
  withWs,
} from './facts.ts';

/** Findings about install, process, home, page and what updates leave behind. None of them changes the verdict for `minimal`. */

const clients = await readClients();
const judged = (facts: Facts, client = 'minimal'): Judgement => judge(facts, { client, clients });
const found = (facts: Facts, client = 'minimal'): string[] =>
  judged(facts, client).findings.map((each) => `${each.code} ${each.severity} ${each.confidence}`);

const withInstall = (more: Partial<Install>, facts = healthy()): Facts => ({
  ...facts,
  installs: facts.installs.map((each) => ({ ...each, ...more })),
});
const withProcess = (more: Partial<EngineProcess>, facts = healthy()): Facts => ({
  ...facts,
  processes: facts.processes.map((each) => ({ ...each, ...more })),
});
const withHome = (more: Partial<Home>, facts = healthy()): Facts => ({
  ...facts,
  host: host({ home: home(more) }),
});
const withHost = (more: Partial<HostFacts>): Facts => ({ ...healthy(), host: host(more) });
const residue = (more: Partial<NonNullable<Install['residue']>>): Partial<Install> => ({
  residue: {
    conflictMarkers: [],
    staleBytecode: [],
    backups: [],
    mixedVersions: [],
    parked: [],
    webBuildStale: null,
    ...more,
  },
});
const git = (more: Partial<NonNullable<Install['git']>> = {}): Install['git'] => ({
  head: 'a'.repeat(40),
  branch: 'main',
  dirty: [],
  stashes: [],
  ...more,
});
const commands = (facts: Facts, id: string): string[] =>
  (judged(facts).remedies.find((each) => each.id === id)?.commands ?? []).map((argv) => argv.join(' '));

/** Where advice of facts of this moment keeps what it takes away. */
const moment = healthy().takenAt.replace(/^(\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+)\.(\d+)Z$/, '$1$2$3-$4$5$6-$7');
const kept = `/home/ann/.hermes/desktop-compat/set-aside/${moment}`;

test('a healthy dashboard has no findings', () => {
  expect(found(healthy())).toEqual([]);
});

describe('install and process', () => {
  test('the command on PATH is another install', () => {
    const facts = withInstall({ onPath: false });
    const two = {
      ...facts,
      installs: [...facts.installs, install({ id: '/opt/x', root: '/opt/x', version: '0.18.2' })],
    };
    expect(found(two)).toEqual(['MULTI_INSTALL warn certain']);
    expect(judged(two).verdict).toBe('compatible');
  });
  test('wheel files that were edited', () => {
    expect(found(withInstall({ state: 'edited', editedFiles: ['hermes_cli/web_server.py'] }))).toEqual([
      'INSTALL_EDITED warn certain',
    ]);
  });
  test('edits in a checkout: those for clients apart from a person’s own, the engine’s leftovers aside', () => {
    const facts = withInstall({
      method: 'git',
      state: 'edited',
      modelLibrary: 'present',
      editedFiles: ['hermes_cli/web_server.py', 'cli.py'],
      git: git({
        dirty: ['hermes_cli/web_server.py', 'cli.py', 'notes.txt', '.bytecode-fingerprint', 'venv/'],
      }),
    });
    expect(found(facts)).toEqual([
      'PATCH_BY_OTHER info certain',
      'INSTALL_EDITED warn certain',
      'FOREIGN_EDITS warn certain',
    ]);
    expect(commands(facts, 'set-aside')).toEqual([
      `mkdir -p ${kept}/set-aside`,
      `mv -n -- /home/ann/venv/cli.py /home/ann/venv/notes.txt ${kept}/set-aside`,
      'git --no-pager -C /home/ann/venv reset -q HEAD -- cli.py',
      `git --no-pager -C /home/ann/venv --work-tree=${kept}/set-aside diff --binary --output=${kept}/set-aside.diff HEAD -- cli.py`,
      'git --no-pager -C /home/ann/venv checkout-index -q -u -- cli.py',
    ]);
  });
  test('a package that is broken on disk and did not start is one finding, with the way out', () => {
    const facts = {
      ...withInstall({ missingModules: ['hermes_cli.dashboard_auth'] }),
      service: null,
      hostError: {
        finding: 'ENGINE_BROKEN_PACKAGE',
        text: 'ModuleNotFoundError: hermes_cli.dashboard_auth',
        args: {},
        commands: [],
      },
    };
    const { findings } = judged(facts);
    expect(findings.map(({ code }) => code)).toEqual(['ENGINE_BROKEN_PACKAGE']);
    expect(findings[0]).toMatchObject({ check: 'engine-package', fix: ['update-0.16.0'] });
    expect(findings[0]?.evidence.at(-1)).toContain('ModuleNotFoundError');
    const elsewhere = { ...facts, installs: facts.installs.map((each) => ({ ...each, missingModules: [] })) };
    expect(judged(elsewhere).findings.map(({ check }) => check)).toEqual(['reach']);
  });
  test('a second dashboard of the same home', () => {
    const facts = {
      ...healthy(),
      processes: [
        engineProcess(),
        engineProcess({ pid: 99, port: 9120 }),
        engineProcess({ pid: 98, port: 9121, hermesHome: '/other' }),
      ],
    };
    expect(found(facts)).toEqual(['ORPHAN_BACKEND warn certain']);
    expect(judged(facts).findings[0]?.args['pid']).toBe(99);
  });
  test('another home than the one that was asked for', () => {
    const facts = { ...withHome({ path: '/srv/other', root: '/srv/other', from: 'flag' }) };
    expect(found(facts)).toContain('PROFILE_HOME_MISMATCH warn certain');
    const profile = { ...healthy(), asked: { ...healthy().asked, profile: 'coder' } };
    expect(found(profile)).toEqual(['PROFILE_HOME_MISMATCH warn certain']);
  });
  test.each([
    [{ kind: 'systemd', name: 'hermes.service' }, 'systemctl --user restart hermes.service'],
    [{ kind: 'systemd', name: 'hermes.service', manager: 'system' }, 'systemctl restart hermes.service'],
    [{ kind: 'systemd', name: 'hermes.service', manager: 'user' }, 'systemctl --user restart hermes.service'],
    [{ kind: 'launchd', name: 'ai.hermes', manager: 'user' }, 'launchctl kickstart -k gui/1000/ai.hermes'],
    [{ kind: 'launchd', name: 'ai.hermes', manager: 'system' }, 'launchctl kickstart -k system/ai.hermes'],
    [{ kind: 'container', name: 'abc' }, 'docker restart abc'],
    [{ kind: 'launch', name: null }, 'hermes-compat stop --home /home/ann/.hermes --port 9119'],
    [{ kind: 'manual', name: null }, 'kill 4711'],
    [{ kind: 'ssh', name: null }, 'kill 4711'],
  ] as const)('code newer than the process, owned by %j', (owner, first) => {
    const facts = withProcess({ owner, newerFiles: ['/home/ann/venv/x/web_server.py'] });
    expect(found(facts)).toEqual(['RESTART_REQUIRED warn certain']);
    expect(commands(facts, 'restart-dashboard')[0]).toBe(first);
  });
  test('a gateway beside the dashboard', () => {
    const facts = release(
      {
        ...healthy(),
        processes: [engineProcess(), engineProcess({ pid: 5, command: 'gateway', port: null })],
      },
      '0.22.2',
    );
    expect(found(facts)).toEqual(['CANONICAL_GATEWAY_PRESENT info certain']);
  });
  test('chat open to the network on 0.14', () => {
    const facts = release(withProcess({ bind: '0.0.0.0' }), '0.14.0');
    expect(found(facts)).toEqual(['CHAT_OPEN_TO_NETWORK warn certain']);
    expect(found(remote(release(healthy(), '0.14.0')))).toEqual(['CHAT_OPEN_TO_NETWORK warn likely']);
    expect(found(release(healthy(), '0.14.0'))).toEqual([]);
    expect(found(withProcess({ bind: '0.0.0.0' }))).toEqual([]);
  });
});

describe('tokens and cookies', () => {
  test('two places, two tokens', () => {
    const facts = withProcess(
      { env: { tui: null, webDist: null, sessionToken: 'aaaaaaaa', readable: true } },
      withHome({
        envFile: { exists: true, readable: true, tui: null, webDist: null, sessionToken: 'bbbbbbbb' },
      }),
    );
    expect(found(facts)).toEqual(['TOKEN_DRIFT warn certain']);
    expect(found(release(facts, '0.15.0'))).toEqual([]);
  });
  const cookie = {
    name: 'hermes_session_at',
    secure: false,
    httpOnly: true,
    sameSite: 'lax',
    path: '/',
    domain: null,
  };
  const login = (more: Partial<typeof cookie> & { domain?: string | null }, url: string): Facts =>
    withHttp(
      remote(healthy(), url),
      http('login', 200, json(['ok', 'next']), { headers: { setCookies: [{ ...cookie, ...more }] } }),
    );
  test.each([
    ['fits', {}, 'http://box.example', []],
    ['Secure over http', { secure: true }, 'http://box.example', ['COOKIE_NOT_STORED error certain']],
    ['Secure over http on loopback', { secure: true }, 'http://127.0.0.1:9119', []],
    ['Secure over https', { secure: true, name: '__Host-hermes_session_at' }, 'https://box.example', []],
    [
      '__Host- with a Path',
      { secure: true, name: '__Host-hermes_session_at', path: '/hermes' },
      'https://box.example/hermes',
      ['COOKIE_NOT_STORED error certain'],
    ],
    [
      '__Secure- without Secure',
      { name: '__Secure-hermes_session_at' },
      'http://box.example',
      ['COOKIE_NOT_STORED error certain'],
    ],
    ['a Path elsewhere', { path: '/hermes' }, 'https://box.example', ['COOKIE_NOT_STORED error certain']],
    ['a Path that covers', { path: '/hermes' }, 'https://box.example/hermes', []],
    [
      'a foreign Domain',
      { domain: 'other.example' },
      'https://box.example',
      ['COOKIE_NOT_STORED error certain'],
    ],
    ['a parent Domain', { domain: '.example' }, 'https://box.example', []],
  ] as const)('%s', (_name, more, url, expected) => {
    const facts = login(more as Partial<typeof cookie>, url);
    expect(found(facts).filter((each) => each.startsWith('COOKIE'))).toEqual(expected);
    expect(judged(facts).verdict).toBe(expected.length === 0 ? 'compatible' : 'unknown');
  });
});

describe('the page', () => {
  test('no web build, headless', () => {
    expect(
      found(
        withHttp(
          healthy(),
          http('page', 404, json(['error'], { detail: '{"error":"Frontend not built. Run: …"}' })),
        ),
      ),
    ).toEqual(['WEB_BUILD_MISSING info certain']);
    expect(
      found(
        withHttp(
          healthy(),
          http('page', 404, json(['error'], { detail: '{"error":"Headless backend (hermes serve): …"}' })),
        ),
      ),
    ).toEqual(['HEADLESS info certain']);
  });
  test('a script that is HTML, or missing', () => {
    expect(found(withHttp(healthy(), http('asset', 200, html('x'))))).toEqual([
      'WEB_ASSETS_BROKEN warn certain',
    ]);
    expect(found(withHttp(healthy(), http('asset', 404, text('x'))))).toEqual([
      'WEB_ASSETS_BROKEN warn certain',
    ]);
    expect(
      found(withHttp(healthy(), http('asset', 200, { ...text('x'), contentType: 'text/javascript' }))),
    ).toEqual([]);
  });
  test('a prefix that the page does not know', () => {
    const facts = remote(healthy(), 'https://box.example/hermes');
    expect(found(facts)).toEqual(['BASE_PATH_MISMATCH warn certain']);
    expect(judged(facts).remedies.map((each) => each.id)).toEqual([
      // The answers keep the engine's own Server, as only HAProxy leaves it.
      'haproxy-prefix-header',
      'nginx-prefix-header',
      'caddy-prefix-header',
    ]);
    expect(found(withHttp(facts, http('page', 200, page(true, { basePath: '/hermes' }))))).toEqual([]);
  });
  test('a web build older than the server', () => {
    expect(found(withInstall(residue({ webBuildStale: true })))).toEqual(['WEB_BUILD_STALE warn certain']);
  });
});

describe('patches and leftovers', () => {
  test('only the default was flipped', () => {
    expect(found(withInstall({ chatDefaultOnly: true }))).toEqual(['PATCH_INEFFECTIVE warn certain']);
  });
  const overlay = { present: true, carries: ['model-library'], revision: 1 };
  test('an overlay that is not loaded: not enabled, or not restarted', () => {
    const facts = withHome({ overlay });
    expect(found(facts)).toEqual(['OVERLAY_NOT_LOADED warn certain']);
    const enabled = withHome({
      overlay,
      config: { ...home().config, exists: true, pluginsEnabled: ['hermes-compat'] },
    });
    expect(found(enabled)).toEqual(['OVERLAY_NOT_LOADED warn likely']);
    expect(
      judged(enabled, 'hermes-one').findings.find((each) => each.code === 'MODEL_LIBRARY_MISSING')?.fix,
    ).toEqual(['restart-dashboard']);
    expect(found(release(facts, '0.17.0'))).toEqual(['OVERLAY_NOT_LOADED warn likely']);
  });
  test('an overlay that is younger than the dashboard: a restart is what is missing', () => {
    const config = { ...home().config, exists: true, pluginsEnabled: ['hermes-compat'] };
    const later = (ms: number) =>
      found(
        withHome({ config, overlay: { ...overlay, changedMs: Date.parse('2026-11-30T10:00:00.000Z') + ms } }),
      );
    expect(later(60_000)).toEqual(['RESTART_REQUIRED warn certain']);
    expect(later(-60_000)).toEqual(['OVERLAY_NOT_LOADED warn likely']);
  });
  test('an overlay that works', () => {
    const facts = withHttp(withHome({ overlay }), http('model-library', 200, json(['models'], { count: 0 })));
    expect(found(facts, 'hermes-one')).toEqual([]);
    expect(judged(facts, 'hermes-one').verdict).toBe('compatible');
  });
  const marker = (
    text: string,
    path = '/home/ann/.hermes/desktop-compat/hermes-compat.json',
  ): Home['markers'][number] => ({ path, ours: true, state: 'ok', text });
  const entry = { patch: 'model-library', carrier: 'overlay', home: '/home/ann/.hermes', install: null };
  test('recorded and gone', () => {
    const facts = withHome({ markers: [marker(JSON.stringify({ entries: [entry] }))] });
    expect(found(facts)).toEqual(['PATCH_LOST warn certain']);
    const elsewhere = withHome({
      markers: [marker(JSON.stringify({ entries: [{ ...entry, home: '/other' }] }))],
    });
    expect(found(elsewhere)).toEqual([]);
    const source = { ...entry, carrier: 'source', install: '/home/ann/venv' };
    expect(
      found(
        withInstall(
          { modelLibrary: 'absent' },
          withHome({ markers: [marker(JSON.stringify({ entries: [source] }))] }),
        ),
      ),
    ).toEqual(['PATCH_LOST warn certain']);
  });
  test('an edit of ours by source is no edit by others; what else was edited is', () => {
    const root = '/home/ann/venv';
    const edits = {
      modelLibrary: 'present',
      state: 'edited',
      editedFiles: ['hermes_cli/web_server.py', 'hermes_cli/hermes_compat_model_library.py'],
    } as const;
    const files = edits.editedFiles.map((file) => ({ path: `${root}/${file}` }));
    const source = { ...entry, carrier: 'source', install: root, files };
    const recorded = withHome({ markers: [marker(JSON.stringify({ entries: [source] }))] });
    expect(found(withInstall({ ...edits, editedFiles: [...edits.editedFiles] }, recorded))).toEqual([]);
    const more = { ...edits, editedFiles: [...edits.editedFiles, 'cli.py'] };
    const told = judged(withInstall(more, recorded)).findings;
    expect(told.map(({ code, args }) => [code, args['files']])).toEqual([['INSTALL_EDITED', ['cli.py']]]);
    const another = { ...source, install: '/opt/other' };
    const elsewhere = withHome({ markers: [marker(JSON.stringify({ entries: [another] }))] });
    expect(found(withInstall({ ...edits, editedFiles: [...edits.editedFiles] }, elsewhere))).toContain(
      'INSTALL_EDITED warn certain',
    );
  });
  test.each([
    'null',
    '[]',
    '{"entries":"x"}',
    '{"entries":[null,1,{"patch":1}]}',
    '{"__proto__":{"entries":[]}}',
    'not json',
  ])('a marker of another form is no claim: %s', (text) => {
    expect(found(withHome({ markers: [marker(text)] }))).toEqual([]);
  });
  test('a marker that cannot be read, and one that lies', () => {
    expect(found(withHome({ markers: [{ ...marker('{'), state: 'corrupt' }] }))).toEqual([
      'MARKER_CORRUPT warn certain',
    ]);
    const one = marker(
      '{"version":"2026","compatible":true}',
      '/home/ann/.hermes/desktop-compat/dashboard-embedded-chat.json',
    );
    const off = release(
      withHttp(withHome({ markers: [{ ...one, ours: false }] }), http('page', 200, page(false))),
      '0.14.0',
    );
    expect(found(off)).toContain('MARKER_MISMATCH warn certain');
    expect(found(withHome({ markers: [{ ...one, ours: false }] }))).toEqual([]);
  });
  test('the overlay turns on what is always on', () => {
    expect(found(withHome({ overlay: { present: true, carries: ['embedded-chat'], revision: 1 } }))).toEqual([
      'PATCH_NOT_NEEDED info certain',
    ]);
  });
  test('journal, locks and updates', () => {
    const lock = { path: '/x', kind: 'ours' as const, pid: 7, alive: true, ageMs: 1000 };
    expect(found(withHome({ journalUnfinished: true }))).toEqual(['JOURNAL_UNFINISHED error certain']);
    expect(found(withHome({ locks: [lock] }))).toEqual(['LOCK_HELD error certain']);
    expect(commands(withHome({ locks: [{ ...lock, alive: false }] }), 'unlock')).toEqual([
      'hermes-compat patch unlock',
    ]);
    const update = { ...lock, kind: 'engine-update' as const };
    expect(found(withHome({ locks: [update] }))).toEqual(['UPDATE_IN_PROGRESS error certain']);
    expect(found(withHome({ locks: [{ ...update, alive: false }] }))).toEqual([
      'UPDATE_INTERRUPTED error certain',
    ]);
    expect(found(withHome({ locks: [{ ...update, alive: null }] }))).toEqual([
      'UPDATE_IN_PROGRESS error likely',
    ]);
    expect(found(withHome({ locks: [{ ...update, alive: null, ageMs: 3_600_000 }] }))).toEqual([
      'UPDATE_INTERRUPTED error likely',
    ]);
    expect(
      found(withInstall(residue({ mixedVersions: ['__init__.py: 0.16.0', 'pyproject.toml: 0.19.0'] }))),
    ).toEqual(['UPDATE_INTERRUPTED error likely']);
    expect(judged(withHome({ locks: [lock] })).verdict).toBe('compatible');
    const ours = { step: 'taken-out', at: null, prepared: false, pid: null, alive: null, held: false };
    expect(found(withHome({ update: null }))).toEqual([]);
    expect(found(withHome({ update: ours }))).toEqual(['UPDATE_INTERRUPTED error certain']);
    expect(commands(withHome({ update: ours }), 'finish-update')).toEqual([
      'hermes-compat update local:/home/ann/venv --home /home/ann/.hermes',
    ]);
    expect(commands(withHome({ update: { ...ours, prepared: true } }), 'finish-prepared')).toEqual([
      'hermes-compat post-update local:/home/ann/venv --home /home/ann/.hermes',
    ]);
    expect(found(withHome({ update: { ...ours, held: true, alive: true, pid: 7 } }))).toEqual([
      'UPDATE_IN_PROGRESS error certain',
    ]);
    expect(found(withHome({ update: { ...ours, held: true } }))).toEqual(['UPDATE_IN_PROGRESS error likely']);
  });
  test('conflict markers, stale bytecode, backups', () => {
    const facts = withInstall({
      git: git(),
      ...residue({
        conflictMarkers: ['hermes_cli/web_server.py'],
        staleBytecode: ['hermes_cli/__pycache__/web_server.cpython-311.pyc'],
        backups: ['hermes_cli/web_server.py.orig'],
      }),
    });
    expect(found(facts)).toEqual([
      'CONFLICT_MARKERS warn certain',
      'STALE_BYTECODE warn certain',
      'BACKUP_LEFTOVER warn certain',
    ]);
    expect(commands(facts, 'check-out').at(-1)).toBe(
      'git --no-pager -C /home/ann/venv checkout-index -q -u -- hermes_cli/web_server.py',
    );
    expect(commands(facts, 'move-backups')).toEqual([
      `mkdir -p ${kept}/move-backups/hermes_cli`,
      `mv -n -- /home/ann/venv/hermes_cli/web_server.py.orig ${kept}/move-backups/hermes_cli`,
    ]);
    expect(commands(facts, 'remove-bytecode')).toEqual([
      'rm -- /home/ann/venv/hermes_cli/__pycache__/web_server.cpython-311.pyc',
    ]);
  });
  test('files that git has not merged, whatever they hold: one finding, no edit of somebody', () => {
    const facts = withInstall({
      method: 'git',
      state: 'edited',
      editedFiles: ['cli.py', 'hermes_cli/config.py', 'uv.lock'],
      git: git({
        dirty: ['cli.py', 'hermes_cli/config.py', 'uv.lock'],
        added: ['uv.lock'],
        removed: ['gone.py'],
        unmerged: ['gone.py', 'hermes_cli/config.py', 'uv.lock'],
      }),
      ...residue({ conflictMarkers: ['hermes_cli/config.py'] }),
    });
    expect(found(facts)).toEqual(['FOREIGN_EDITS warn certain', 'CONFLICT_MARKERS warn certain']);
    const [foreign, conflict] = judged(facts).findings;
    expect(foreign?.args['files']).toEqual(['cli.py']);
    expect(conflict?.args).toMatchObject({
      files: ['gone.py', 'hermes_cli/config.py', 'uv.lock'],
      marked: 1,
    });
    expect(conflict?.evidence).toEqual([
      '/home/ann/venv/hermes_cli/config.py has merge conflict markers',
      '/home/ann/venv/gone.py is not merged, as git says',
      '/home/ann/venv/uv.lock is not merged, as git says',
    ]);
    expect(commands(facts, 'check-out')).toEqual([
      `mkdir -p ${kept}/check-out/hermes_cli ${kept}/check-out`,
      `mv -n -- /home/ann/venv/hermes_cli/config.py ${kept}/check-out/hermes_cli`,
      `mv -n -- /home/ann/venv/uv.lock ${kept}/check-out`,
      'git --no-pager -C /home/ann/venv reset -q HEAD -- gone.py hermes_cli/config.py uv.lock',
      `git --no-pager -C /home/ann/venv --work-tree=${kept}/check-out diff --binary --output=${kept}/check-out.diff HEAD -- gone.py hermes_cli/config.py`,
      'git --no-pager -C /home/ann/venv checkout-index -q -u -- gone.py hermes_cli/config.py',
    ]);
  });
  test('stashes: parked edits for clients apart from the rest, dropped from the last', () => {
    const parked = 'stash@{1}: On main: hermes-update-autostash-20260901-101112';
    const facts = withInstall({
      git: git({
        stashes: [
          'On main: hermes-update-autostash-a',
          'On main: hermes-update-autostash-b',
          'WIP on main: mine',
          'On main: hermes-update-autostash-c',
        ],
      }),
      ...residue({ parked: [parked] }),
    });
    expect(found(facts)).toEqual(['PATCH_PARKED_IN_STASH warn certain', 'STASH_LEFTOVER warn certain']);
    const left = judged(facts).findings.find((each) => each.code === 'STASH_LEFTOVER');
    expect(left?.args['count']).toBe(2);
    const dropped = (each: Facts): (string | undefined)[][] =>
      (judged(each).remedies.find(({ id }) => id === 'save-and-drop-stash')?.commands ?? [])
        .filter(([program]) => program === 'sh')
        .map((argv) => argv.slice(-2));
    const ref = 'refs/hermes-compat/set-aside';
    // Facts of before the commits were noted: kept under the time and the number, where nothing is kept yet.
    expect(dropped(facts)).toEqual([3, 1, 0].map((n) => [`stash@{${n}}`, `${ref}/${moment}-${n}`]));
    expect(commands(facts, 'save-and-drop-stash')[0]).toBe(
      `git --no-pager -C /home/ann/venv update-ref ${ref}/${moment}-3 stash@{3} `,
    );
    const stashCommits = ['a', 'b', 'c', 'd'].map((digit) => digit.repeat(40));
    const now = {
      ...facts,
      installs: facts.installs.map((each) => ({ ...each, git: { ...git(), ...each.git, stashCommits } })),
    } as Facts;
    expect(dropped(now)).toEqual([
      ['stash@{3}', `${ref}/dddddddddddd`],
      ['stash@{1}', `${ref}/bbbbbbbbbbbb`],
      ['stash@{0}', `${ref}/aaaaaaaaaaaa`],
    ]);
    expect(commands(now, 'save-and-drop-stash')[0]).toBe(
      `git --no-pager -C /home/ann/venv update-ref ${ref}/dddddddddddd ${'d'.repeat(40)}`,
    );
  });
  test('what `patch status` said', () => {
    const facts = {
      ...healthy(),
      patchFindings: [
        { code: 'PATCH_MODIFIED', severity: 'warn' as const, text: 'changed', path: '/x' },
        { code: 'NO_SUCH', severity: 'warn' as const, text: 'x', path: null },
      ],
    };
    expect(found(facts)).toEqual(['PATCH_MODIFIED warn certain']);
  });
  test('a home that cannot take the overlay', () => {
    const facts = withHome({ writable: false });
    expect(found(facts)).toEqual([]);
    expect(found(facts, 'hermes-one')).toEqual([
      'MODEL_LIBRARY_MISSING error certain',
      'NOT_WRITABLE error certain',
    ]);
    expect(judged(facts, 'hermes-one').verdict).toBe('needs-remedy');
  });
});

describe('the host', () => {
  test('noise is told and is no error', () => {
    expect(
      found(
        withHost({
          notes: [
            { code: 'STDOUT_NOISE', text: 'Welcome!' },
            { code: 'too-many-installs', text: 'only 24' },
          ],
        }),
      ),
    ).toEqual(['STDOUT_NOISE info certain']);
  });
  test('a home of another account', () => {
    const facts = withHome({ readable: false });
    expect(found(facts)).toEqual(['HOME_UNREADABLE warn certain']);
    expect(judged(facts).verdict).toBe('compatible');
    const stopped = { ...facts, service: null, status: null, http: [], ws: [], processes: [] };
    expect(found(stopped)).toContain('HOME_UNREADABLE error certain');
    expect(judged(stopped).verdict).toBe('unknown');
  });
  test('a host that cannot be looked at', () => {
    const facts = (finding: string): Facts => ({
      ...withWs({
        ...healthy(),
        host: null,
        installs: [],
        processes: [],
        service: null,
        status: null,
        http: [],
      }),
      target: { kind: 'ssh', name: 'ssh://box', url: null },
      hostError: {
        finding,
        text: 'the host key is not known',
        args: { host: 'box', fingerprint: 'SHA256:x' },
        commands: [['hermes-compat', 'doctor', 'ssh://box', '--accept-new-host-key']],
      },
    });
    expect(found(facts('SSH_HOSTKEY_UNKNOWN'))).toEqual(['SSH_HOSTKEY_UNKNOWN error certain']);
    expect([
      judged(facts('SSH_HOSTKEY_UNKNOWN')).verdict,
      judged(facts('SSH_HOSTKEY_UNKNOWN')).exitCode,
    ]).toEqual(['unknown', 3]);
    expect(found(facts('SSH_OF_A_NEWER_VERSION'))).toEqual(['SSH_UNREACHABLE error certain']);
  });
});

describe('an idle WebSocket', () => {
  test('cut, and held', () => {
    const held = (closedAfterMs: number | null): Facts =>
      withWs(
        remote(healthy()),
        open('main', {
          held: { seconds: 65, closedAfterMs },
          close: closedAfterMs === null ? null : { code: 1006, reason: '', afterMs: closedAfterMs },
        }),
      );
    expect(found(held(60_090))).toEqual(['WS_IDLE_CUT error certain']);
    expect(judged(held(60_090)).findings[0]?.args['seconds']).toBe(60.1);
    expect(found(held(null))).toEqual([]);
  });
});

describe('odd values', () => {
  test.each(['garbage', '', '999999999999.x', '0.19.0; rm -rf', '__proto__'])(
    'version %j is unknown, and structure decides',
    (version) => {
      const facts = { ...healthy(), status: { ...(healthy().status ?? ({} as never)), version } };
      expect(judged(facts).verdict).toBe('compatible');
      expect(found(facts)).toEqual(['RESPONSE_INVALID warn certain']);
    },
  );
  test('a checkout without tags says "unknown": its files tell the version, and without them it is told', () => {
    const facts = { ...healthy(), status: { ...(healthy().status ?? ({} as never)), version: 'unknown' } };
    expect(found(facts)).toEqual([]);
    expect(judged(facts).engine.version).toBe('0.19.0');
    expect(found(remote(facts))).toContain('RESPONSE_INVALID warn certain');
  });
  test('fields of a wrong type are told', () => {
    const facts = {
      ...healthy(),
      status: { ...(healthy().status ?? ({} as never)), version: null, wrongTypes: ['version'] },
    };
    expect(found(facts)).toEqual(['RESPONSE_INVALID error certain']);
    expect(judged(facts).engine.version).toBe('0.19.0');
    expect(judged(facts).verdict).toBe('unknown');
  });
  test('another field of a wrong type is only a warning', () => {
    const facts = {
      ...healthy(),
      status: { ...(healthy().status ?? ({} as never)), wrongTypes: ['can_update_hermes'] },
    };
    expect(found(facts)).toEqual(['RESPONSE_INVALID warn certain']);
    expect(judged(facts).verdict).toBe('compatible');
  });
  test.each(['"5"', 'null', 'true', '7.5', '1e309', '-1'])('contract %s is unknown', (raw) => {
    const facts = {
      ...healthy(),
      contract: {
        value: null,
        from: 'rpc' as const,
        state: 'unknown' as const,
        raw,
        why: 'not a whole number from 0 on',
      },
    };
    expect(found(facts, 'hermes-desktop')).toEqual(['CONTRACT_UNKNOWN info certain']);
    expect(judged(facts, 'hermes-desktop').engine.contract).toEqual({
      value: null,
      from: null,
      state: 'unknown',
    });
    expect(judged(facts, 'hermes-desktop').verdict).toBe('compatible');
  });
  test('a session that names no contract is not an old one', () => {
    const facts = {
      ...healthy(),
      contract: {
        value: null,
        from: null,
        state: 'unknown' as const,
        raw: null,
        why: 'the new session says none',
      },
    };
    expect(found(facts, 'hermes-desktop')).toEqual(['CONTRACT_UNKNOWN info certain']);
  });
  test('nobody asked: disk, then release data', () => {
    const facts = {
      ...healthy(),
      contract: {
        value: null,
        from: null,
        state: 'unknown' as const,
        raw: null,
        why: 'no session was to be made for it',
      },
    };
    expect(judged(facts).engine.contract).toEqual({ value: 4, from: 'source', state: 'known' });
    expect(judged(remote(facts)).engine.contract).toEqual({ value: 4, from: 'version', state: 'known' });
    expect(found(remote(facts), 'hermes-desktop')).toEqual(['CONTRACT_TOO_OLD warn likely']);
  });
  test('above what the client knows', () => {
    const facts = {
      ...healthy(),
      contract: { value: 9, from: 'rpc' as const, state: 'known' as const, raw: '9', why: null },
    };
    expect(found(facts, 'hermes-desktop')).toEqual(['CONTRACT_TOO_NEW warn certain']);
    expect(judged(facts, 'hermes-desktop').verdict).toBe('compatible');
  });
  test('a client that requires its contract', () => {
    const strict = clients.map((each) =>
      each.name === 'hermes-desktop' ? { ...each, contract: { wanted: 8, known: 8, required: true } } : each,
    );
    const report = judge(healthy(), { client: 'hermes-desktop', clients: strict });
    expect([report.verdict, report.findings.map((each) => `${each.code} ${each.severity}`)]).toEqual([
      'incompatible',
      ['CONTRACT_TOO_OLD error'],
    ]);
  });
});

describe('--only and --skip', () => {
  test('what was left out is not known, and said', () => {
    const report = judge(healthy(), { client: 'minimal', clients, skip: ['rpc'] });
    expect([report.verdict, report.exitCode]).toEqual(['unknown', 3]);
    expect(report.findings.map((each) => each.code)).toEqual(['CAPABILITY_UNKNOWN']);
    expect(report.checks.find((each) => each.id === 'rpc')).toMatchObject({
      status: 'skip',
      reason: 'left out',
    });
  });
  test('leaving out what the client does not need changes nothing', () => {
    expect(
      judge(healthy(), { client: 'minimal', clients, skip: ['model-library', 'contract'] }).verdict,
    ).toBe('compatible');
  });
  test('only', () => {
    const report = judge(healthy(), { client: 'minimal', clients, only: ['reach'] });
    expect(report.verdict).toBe('unknown');
    expect(report.checks.filter((each) => each.status === 'pass').map((each) => each.id)).toEqual(['reach']);
  });
  test('a client that does not exist', () => {
    expect(() => judge(healthy(), { client: 'nobody', clients })).toThrow(/nobody/);
  });
});

test('5xx on a read is neither there nor missing', () => {
  const facts = withHttp(
    healthy(),
    http('sessions', 500, error('boom')),
    http('session-messages', 500, empty),
  );
  expect(found(facts, 'hermes-desktop').filter((each) => each.includes('error'))).toEqual([
    'CAPABILITY_UNKNOWN error certain',
    'CAPABILITY_UNKNOWN error certain',
  ]);
  expect(judged(facts, 'hermes-desktop').verdict).toBe('unknown');
});

describe('an engine that mounts plugins in a way that is not known', () => {
  const facts = withHttp(
    withInstall({ pluginMount: 'unknown', modelLibrary: 'absent' }),
    http('model-library', 404, error('x')),
  );
  const report = judge(facts, { client: 'hermes-one', clients });

  test('is told, and no patch is offered that would be refused', () => {
    expect(report.findings.map(({ code, severity, fix }) => [code, severity, fix])).toEqual([
      ['MODEL_LIBRARY_MISSING', 'error', []],
      ['STRUCTURE_UNKNOWN', 'warn', []],
    ]);
    expect(report.remedies).toEqual([]);
    expect(report.verdict).toBe('needs-remedy');
  });

  test('is nothing to a client that needs no library', () => {
    expect(judge(facts, { client: 'minimal', clients }).findings).toEqual([]);
  });

  test('where the patches themselves were asked, it is said once', () => {
    const text = 'looked for it; found no such call';
    const asked = { code: 'STRUCTURE_UNKNOWN', severity: 'error' as const, text, path: null };
    const both = judge({ ...facts, patchFindings: [asked] }, { client: 'hermes-one', clients });
    expect(both.findings.filter(({ code }) => code === 'STRUCTURE_UNKNOWN')).toHaveLength(1);
    expect(both.remedies).toEqual([]);
  });
});
