import { mkdir, mkdtemp, readFile, realpath, rm, symlink, lstat, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { change } from '../../src/patch/change.ts';
import { copyEngine } from '../support/engine-copy.ts';
import { type Engine, engineDir, requireEngines, sitePackages, startEngine } from '../support/engines.ts';
import { libraryClient, type Row, upgradeStatus } from '../support/library-client.ts';
import { agree, homeFacts, installFacts, session } from '../support/patch-scene.ts';
import { isFull } from '../support/full.ts';

// The API of the model library as clients use it, on real engines, with each carrier.

const rungs: [string, 'overlay' | 'source'][] = [
  ['0.14.0', 'overlay'],
  ['0.19.0', 'source'],
  ...(isFull
    ? ([
        ['0.22.2.post1', 'overlay'],
        ['0.22.2.post1', 'source'],
      ] as [string, 'overlay' | 'source'][])
    : []),
];
const usable = await requireEngines(...new Set(rungs.map(([version]) => version)));

const configured =
  'model:\n  provider: Acme\n  default: acme/Large\n  base_url: https://API.acme.example:443/v1/\n  context_length: 4096\n';

describe.runIf(usable).each(rungs)('%s by %s', (version, carrier) => {
  let folder: string;
  let home: string;
  let engine: Engine;
  let library: ReturnType<typeof libraryClient>;
  const file = (): string => join(home, 'models.json');
  const stored = async (): Promise<unknown[]> => JSON.parse(await readFile(file(), 'utf8')) as unknown[];
  const rows = async (query = ''): Promise<Row[]> => (await library.list(query)).body.models;
  const put = (items: unknown): Promise<void> => writeFile(file(), JSON.stringify(items));

  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'hermes-library-')));
    home = join(folder, 'home');
    await mkdir(join(home, 'profiles/coder'), { recursive: true });
    await writeFile(join(home, 'config.yaml'), configured);
    await writeFile(join(home, 'profiles/coder/config.yaml'), 'model: {provider: other, default: small}\n');
    const venv = carrier === 'source' ? join(folder, 'venv') : engineDir(version);
    const site = carrier === 'source' ? await copyEngine(version, venv) : await sitePackages(venv);
    const scene = {
      target: { kind: 'local' as const, name: 'local', url: null },
      home: homeFacts(home),
      install: installFacts(join(site, 'hermes_cli'), join(venv, 'bin/python')),
    };
    await change(await session(scene), agree({ carrier }));
    engine = await startEngine({ version, venv, home });
    library = libraryClient(engine.url, engine.token);
  }, 180_000);

  afterAll(async () => {
    await engine?.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  /** The work grows with the square of the rows; a lost one shows at a quarter of them too. */
  const rowsEach = isFull ? 200 : 50;

  test('behind the engine’s own login', async () => {
    const stranger = libraryClient(engine.url, 'not-the-token');
    for (const answer of [
      await stranger.list(),
      await stranger.add({ provider: 'a', model: 'b' }),
      await stranger.change('x', {}),
      await stranger.remove('x'),
    ])
      expect(answer.status).toBe(401);
    expect(await upgradeStatus(engine.url, engine.token ?? '')).toBe(101);
  });

  test('the configured model comes first, and a saved double of it is not shown', async () => {
    await put([]);
    const active = {
      id: 'remote:active:Acme:acme/Large',
      name: 'Large',
      provider: 'Acme',
      model: 'acme/Large',
      baseUrl: 'https://API.acme.example:443/v1/',
      createdAt: 0,
      contextLength: 4096,
    };
    await library.add({ provider: 'acme', model: 'ACME/large', baseUrl: 'https://api.acme.example/v1' });
    await library.add({ provider: 'acme', model: 'acme/small' });
    const seen = await rows();
    expect(seen[0]).toEqual(active);
    expect(seen.map(({ model }) => model)).toEqual(['acme/Large', 'acme/small']);
  });

  test('a row: its fields, its id, its name', async () => {
    await put([]);
    const before = Date.now();
    const { status, body } = await library.add({
      provider: ' p ',
      model: ' org/team/m ',
      baseUrl: ' http://h/v1 ',
    });
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['id', 'name', 'provider', 'model', 'baseUrl', 'createdAt']);
    expect(body).toMatchObject({ name: 'm', provider: 'p', model: 'org/team/m', baseUrl: 'http://h/v1' });
    expect(body.id).toMatch(/^remote:library:[0-9a-f]{16}$/);
    expect(body.createdAt).toBeGreaterThanOrEqual(before - 1000);
    expect(
      await library.add({ provider: 'p', model: 'x', name: 'Mine', base_url: 'http://h' }),
    ).toMatchObject({ body: { name: 'Mine', baseUrl: 'http://h' } });
    expect(await stored()).toHaveLength(2);
  });

  test.each([
    {},
    { provider: 'p' },
    { model: 'm' },
    { provider: ' ', model: 'm' },
    { provider: null, model: 'm' },
    { provider: ['p'], model: 'm' },
  ])('without provider or model: 400 (%j)', async (body) => {
    expect(await library.add(body)).toMatchObject({
      status: 400,
      body: { detail: 'provider and model required' },
    });
  });

  test.each(['{"provider":', '[]', '7', ''])('a body that is no JSON object: 400 (%j)', async (body) => {
    expect((await library.call('POST', '/api/model/library', body)).status).toBe(400);
  });

  test('the same provider, model and URL again gives the row that is there', async () => {
    const same: [string, string, boolean][] = [
      ['https://host/v1', 'HTTPS://HOST:443/v1/', true],
      ['http://host:80/v1', 'http://host/v1', true],
      ['http://host:0/v1', 'http://host/v1', false],
      ['https://host:8443/v1', 'https://host/v1', false],
      ['https://host/a/../v1', 'https://host/v1', true],
      ['https://host/a/%2E%2e/v1', 'https://host/v1', true],
      ['https://host/./v1/%2e', 'https://host/v1', true],
      ['https://host/a//../v1', 'https://host/a/v1', true],
      ['https://host/a//v1', 'https://host/a/v1', false],
      ['https://host/%2fv1', 'https://host//v1', false],
      ['https://host/V1', 'https://host/v1', false],
      ['http://[::1]:80/x', 'http://[::1]/x', true],
      ['not a url/', 'not a url', true],
      ['', '', true],
    ];
    for (const [first, second, equal] of same) {
      await put([]);
      const one = (await library.add({ provider: 'P', model: 'M', baseUrl: first })).body;
      const two = (await library.add({ provider: 'p ', model: 'm', baseUrl: second })).body;
      expect(two.id === one.id, `${first} and ${second}`).toBe(equal);
    }
  });

  test('PATCH changes what it names; a row without provider or model is refused', async () => {
    await put([]);
    const { id } = (await library.add({ provider: 'p', model: 'm/one', name: 'N' })).body;
    expect(await library.change(id, { model: 'm/two', baseUrl: 'http://b' })).toMatchObject({
      status: 200,
      body: { ok: true, model: { id, name: 'N', provider: 'p', model: 'm/two', baseUrl: 'http://b' } },
    });
    expect(await library.change(id, { name: '' })).toMatchObject({ body: { model: { name: 'two' } } });
    for (const body of [{ provider: '' }, { model: ' ' }, { provider: null }])
      expect(await library.change(id, body)).toMatchObject({
        status: 400,
        body: { detail: 'provider and model required' },
      });
    expect(await rows()).toContainEqual(expect.objectContaining({ id, model: 'm/two' }));
  });

  test('ids hold colons and slashes; an unknown one is 404 in JSON', async () => {
    await put([{ provider: 'org', model: 'a/b/c' }]);
    const [, row] = await rows();
    expect(row?.id).toBe('remote:library:org:0:a/b/c');
    expect(await library.change(row?.id ?? '', { name: 'X' })).toMatchObject({ status: 200 });
    expect(await library.remove(row?.id ?? '')).toMatchObject({ status: 200, body: { ok: true } });
    for (const answer of [
      await library.remove(row?.id ?? ''),
      await library.change('remote:active:Acme:acme/Large', {}),
    ])
      expect(answer).toMatchObject({
        status: 404,
        body: { detail: 'model not found' },
        type: 'application/json',
      });
  });

  test('what the file holds beyond our fields survives; what is no model is not shown and not lost', async () => {
    const note = { note: 'not a model' };
    await put([
      { id: 'one', provider: 'p', model: 'm', tags: ['x'], base_url: 'http://old' },
      note,
      { provider: 'p', model: 'm', baseUrl: 'http://old/', extra: 1 },
      { provider: 'q', model: 'n', createdAt: 'yesterday' },
    ]);
    expect((await rows()).slice(1)).toEqual([
      { id: 'one', name: 'm', provider: 'p', model: 'm', baseUrl: 'http://old', createdAt: 0 },
      { id: 'remote:library:q:3:n', name: 'n', provider: 'q', model: 'n', baseUrl: '', createdAt: 0 },
    ]);
    await library.change('one', { name: 'New', baseUrl: 'http://new' });
    expect(await stored()).toEqual([
      { id: 'one', provider: 'p', model: 'm', tags: ['x'], name: 'New', baseUrl: 'http://new', extra: 1 },
      note,
      { provider: 'q', model: 'n', createdAt: 'yesterday', id: 'remote:library:q:3:n' },
    ]);
    await library.remove('one');
    expect((await rows()).map(({ id }) => id)).toEqual([
      'remote:active:Acme:acme/Large',
      'remote:library:q:3:n',
    ]);
    expect(await stored()).toContainEqual(note);
  });

  test('a damaged file is kept, and every call says so', async () => {
    for (const text of ['[{"provider": "p", "mod', '', '{"models": []}', '\u0000']) {
      await writeFile(file(), text);
      for (const answer of [
        await library.list(),
        await library.add({ provider: 'a', model: 'b' }),
        await library.change('x', { name: 'y' }),
        await library.remove('x'),
      ]) {
        expect(answer.status).toBe(500);
        expect(answer.body.detail).toContain(file());
        expect(answer.body.detail).toMatch(/left as it (is|was)/);
      }
      expect(await readFile(file(), 'utf8')).toBe(text);
    }
    await rm(file());
    expect((await library.add({ provider: 'a', model: 'b' })).status).toBe(200);
  });

  test('mode and link of the file are kept', async () => {
    const elsewhere = join(folder, 'elsewhere.json');
    await rm(file(), { force: true });
    await library.add({ provider: 'a', model: 'first' });
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    await rm(file());
    await writeFile(elsewhere, '[]', { mode: 0o644 });
    await symlink(elsewhere, file());
    await library.add({ provider: 'a', model: 'linked' });
    expect((await lstat(file())).isSymbolicLink()).toBe(true);
    expect((await stat(elsewhere)).mode & 0o777).toBe(0o644);
    expect(JSON.parse(await readFile(elsewhere, 'utf8'))).toMatchObject([{ model: 'linked' }]);
    await rm(file());
  });

  test('each profile has its own', async () => {
    await put([]);
    await library.add({ provider: 'p', model: 'for-coder' }, '?profile=coder');
    expect((await rows('?profile=coder')).map(({ id, model }) => `${id.split(':')[1]} ${model}`)).toEqual([
      'active small',
      'library for-coder',
    ]);
    expect((await rows('?profile=current')).map(({ model }) => model)).toEqual(['acme/Large']);
    expect((await rows('?profile=default')).map(({ model }) => model)).toEqual(['acme/Large']);
    expect(JSON.parse(await readFile(join(home, 'profiles/coder/models.json'), 'utf8'))).toHaveLength(1);
    expect(await library.list('?profile=nobody')).toMatchObject({
      status: 404,
      body: { detail: "Profile 'nobody' does not exist." },
    });
    for (const name of ['..', 'A%2Fb', '../x', '.hidden'])
      expect(await library.list(`?profile=${name}`), name).toMatchObject({ status: 400 });
  });

  test(
    'eight writers at once, and readers between them: no row is lost, none is seen half',
    { timeout: isFull ? 900_000 : 240_000 },
    async ({ signal }) => {
      await put([]);
      const finished = new AbortController();
      // A test that ends at its limit must not leave writers behind, that write into the next one.
      const done = AbortSignal.any([signal, finished.signal]);
      const reader = (async () => {
        for (; !done.aborted; await sleep(250)) {
          expect((await library.list()).status).toBe(200);
          expect(Array.isArray(await stored())).toBe(true);
        }
      })();
      const writers = Array.from({ length: 8 }, async (_, writer) => {
        for (let row = 0; row < rowsEach && !done.aborted; row++)
          expect((await library.add({ provider: `w${writer}`, model: `m${row}` })).status).toBe(200);
      });
      await Promise.all(writers).finally(() => finished.abort());
      await reader;
      const saved = (await stored()) as Row[];
      expect(saved).toHaveLength(8 * rowsEach);
      expect(new Set(saved.map(({ provider, model }) => `${provider}/${model}`)).size).toBe(8 * rowsEach);
      expect(new Set(saved.map(({ id }) => id)).size).toBe(8 * rowsEach);
    },
  );

  test('two dashboards on one home lose nothing either', { timeout: 300_000 }, async ({ signal }) => {
    await put([]);
    const venv = carrier === 'source' ? join(folder, 'venv') : engineDir(version);
    const second = await startEngine({ version, venv, home });
    try {
      const clients = [library, libraryClient(second.url, second.token)];
      await Promise.all(
        clients.map(async (client, index) => {
          for (let row = 0; row < 60 && !signal.aborted; row++)
            await client.add({ provider: `d${index}`, model: `m${row}` });
        }),
      );
      expect(await stored()).toHaveLength(120);
    } finally {
      await second.stop();
    }
  });
});

type Bind = [host: string, carrier: 'overlay' | 'source', allowNonLoopback: boolean, status: number];
const binds: Bind[] = [
  ['127.0.0.2', 'overlay', false, 403],
  ['127.0.0.2', 'source', false, 403],
  ['127.0.0.2', 'source', true, 101],
  // Loopback is also what the acceptance of the patches starts.
  ...(isFull
    ? ([
        ['127.0.0.1', 'overlay', false, 101],
        ['localhost', 'overlay', false, 101],
        ['127.0.0.1', 'source', false, 101],
        ['127.0.0.2', 'overlay', true, 101],
      ] satisfies Bind[])
    : []),
];

describe.runIf(usable)('embedded chat on 0.14.0', () => {
  test.each(binds)(
    'bound to %s, %s, allowed beyond loopback: %s → %i',
    { timeout: 120_000 },
    async (host, carrier, allowNonLoopback, status) => {
      const folder = await realpath(await mkdtemp(join(tmpdir(), 'hermes-chat-')));
      try {
        const home = join(folder, 'home');
        await mkdir(home);
        const venv = carrier === 'source' ? join(folder, 'venv') : engineDir('0.14.0');
        const site = carrier === 'source' ? await copyEngine('0.14.0', venv) : await sitePackages(venv);
        const install = installFacts(join(site, 'hermes_cli'), join(venv, 'bin/python'));
        const scene = {
          target: { kind: 'local' as const, name: 'local', url: null },
          home: homeFacts(home),
          install,
        };
        await change(await session(scene), agree({ carrier, allowNonLoopback, patches: ['embedded-chat'] }));
        // 127.0.0.2 is reached from this machine only, but is no loopback name to the engine: it wants --insecure.
        const args = host === '127.0.0.2' ? ['--insecure'] : [];
        const engine = await startEngine({ version: '0.14.0', venv, home, host, args });
        try {
          expect(await upgradeStatus(engine.url, engine.token ?? '')).toBe(status);
        } finally {
          await engine.stop();
        }
      } finally {
        await rm(folder, { recursive: true, force: true, maxRetries: 5 });
      }
    },
  );
});
