import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type CliResult, document, runCli } from '../support/cli.ts';
import { copyEngine } from '../support/engine-copy.ts';
import {
  type Engine,
  engineDir,
  freePort,
  fullLadder,
  requireEngines,
  sitePackages,
  startEngine,
} from '../support/engines.ts';
import { libraryClient, upgradeStatus } from '../support/library-client.ts';
import { snapshot, times } from '../support/patch-scene.ts';
import { gateShare, isFull } from '../support/full.ts';

// Acceptance of the patches on real engines, as a person runs them: from "does not work" over "--fix" to "given back".

const cells: [string, 'overlay' | 'source'][] = isFull
  ? fullLadder.flatMap((version) =>
      (['overlay', 'source'] as const).map((carrier) => [version, carrier] as [string, 'overlay' | 'source']),
    )
  : [
      ['0.14.0', 'source'],
      ['0.19.0', 'overlay'],
      ['0.22.2.post1', 'overlay'],
    ];

const usable = await requireEngines(
  ...new Set([...cells.map(([version]) => version), '0.14.0', '0.16.0', '0.19.0']),
);

interface Place {
  version: string;
  folder: string;
  venv: string;
  packageDir: string;
  home: string;
  env: Record<string, string>;
}

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const config =
  '# My configuration\nmodel:\n  provider: openrouter # the usual one\n  default: "acme/large"\n\nterminal: {backend: local}\n';

/** An editable copy of a release, and a home with things that nobody but the engine may touch. */
async function place(version: string): Promise<Place> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hermes-fix-')));
  ends.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const venv = join(folder, 'venv');
  const site = await copyEngine(version, venv);
  const packageDir = join(site, 'hermes_cli');
  if (version === '0.15.2') {
    // The package on the index lacks this folder, so that it cannot start at all.
    const other = join(await sitePackages(engineDir('0.16.0')), 'hermes_cli/dashboard_auth');
    await cp(other, join(packageDir, 'dashboard_auth'), { recursive: true });
  }
  const home = join(folder, 'home');
  for (const name of ['sessions', 'skills', 'memories']) {
    await mkdir(join(home, name), { recursive: true });
    await writeFile(join(home, name, 'mine.md'), `${name} of mine\n`);
  }
  await writeFile(join(home, '.env'), 'OPENROUTER_API_KEY=sk-not-a-real-key\n', { mode: 0o600 });
  await writeFile(join(home, 'auth.json'), '{"mine": true}\n', { mode: 0o600 });
  await writeFile(join(home, 'config.yaml'), config, { mode: 0o640 });
  await chmod(home, 0o700);
  // This release ships no web build; its page, and with it the token, comes from the next one.
  const web = join(await sitePackages(engineDir('0.14.0')), 'hermes_cli/web_dist');
  const env = { HERMES_HOME: home, ...(version === '0.13.0' ? { HERMES_WEB_DIST: web } : {}) };
  return { version, folder, venv, packageDir, home, env };
}

const bytecode = ['__pycache__'];

/** Everything that a command of ours may never touch. */
async function theirs({ home }: Place): Promise<Record<string, string>> {
  const all = await snapshot(home, ['desktop-compat', 'plugins', 'logs', 'cache', ...bytecode]);
  const kept = Object.entries(all).filter(([path]) =>
    /^(\.env|auth\.json|state\.db|sessions|skills|memories)/.test(path),
  );
  return Object.fromEntries(kept);
}

/** Runs a command of ours. While an engine serves this home it writes there itself, so that only the files of the user count. */
async function ours(at: Place, args: string[], served = false): Promise<CliResult> {
  const mine = async (): Promise<Record<string, string>> =>
    Object.fromEntries(
      Object.entries(await theirs(at)).filter(([path]) => !served || /mine\.md$|^\.env$/.test(path)),
    );
  const before = await mine();
  const result = await runCli([...args, '--home', at.home], {
    env: { ...at.env, HOME: at.folder },
    timeoutMs: 240_000,
  });
  expect(await mine()).toEqual(before);
  return result;
}

const fix = (at: Place, carrier: string, served: boolean, ...more: string[]): Promise<CliResult> =>
  ours(at, ['doctor', `local:${at.venv}`, '--fix', '--yes', '--carrier', carrier, '--json', ...more], served);

async function start(at: Place): Promise<Engine> {
  const engine = await startEngine({ version: at.version, venv: at.venv, home: at.home, env: at.env });
  ends.push(engine.stop);
  return engine;
}

interface Report {
  verdict: string;
  findings: { code: string; severity: string }[];
}

const failures = ({ findings }: Report): string[] =>
  findings.filter(({ severity }) => severity === 'error').map(({ code }) => code);

const tracked = async (at: Place) => ({
  ...(await times(join(at.home, 'plugins')).catch(() => ({}))),
  ...(await times(join(at.home, 'desktop-compat'))),
  ...Object.fromEntries(
    Object.entries(await times(at.packageDir)).filter(([path]) => !path.includes('__pycache__')),
  ),
  config: (await stat(join(at.home, 'config.yaml'))).mtimeMs,
});

describe.runIf(usable).each(cells)('%s by %s', (version, carrier) => {
  test(
    'fixed with nothing running, works when started the plain way, given back to the byte',
    { timeout: 600_000 },
    async () => {
      const at = await place(version);
      const tree = await snapshot(at.packageDir, bytecode);
      const fixed = await fix(at, carrier, false);
      const report = document<Report>(fixed);
      expect(failures(report), fixed.stderr).toEqual([]);
      expect(report.verdict).toBe('compatible');
      expect(fixed.code).toBe(0);

      const engine = await start(at);
      const token = engine.token ?? '';
      expect(await upgradeStatus(engine.url, token)).toBe(101);
      await expectCrud(engine.url, token);
      const checked = await runCli(['doctor', '--url', engine.url, '--client', 'hermes-one', '--json'], {
        env: { ...at.env, HOME: at.folder, HERMES_COMPAT_TOKEN: token },
        timeoutMs: 120_000,
      });
      expect(document<Report>(checked), checked.stderr).toMatchObject({ verdict: 'compatible' });
      expect(checked.code).toBe(0);

      const before = await tracked(at);
      const again = await fix(at, carrier, true, '--port', String(engine.port));
      expect(again.stderr).not.toContain('Applied');
      expect(await tracked(at)).toEqual(before);
      await engine.stop();

      const given = await ours(at, [
        'patch',
        'revert',
        '--yes',
        '--purge',
        '--target',
        `local:${at.venv}`,
        '--json',
      ]);
      expect(given.code, given.stderr).toBe(0);
      expect(await snapshot(at.packageDir, bytecode)).toEqual(tree);
      expect(await readFile(join(at.home, 'config.yaml'), 'utf8')).toBe(config);
      expect(((await stat(join(at.home, 'config.yaml'))).mode & 0o777).toString(8)).toBe('640');
      const left = (await readdir(at.home, { recursive: true })).filter((path) =>
        /hermes-compat|desktop-compat/.test(path),
      );
      expect(left).toEqual([]);
      // The user's rows are the user's.
      expect(JSON.parse(await readFile(join(at.home, 'models.json'), 'utf8'))).toMatchObject([
        { model: 'acme/kept' },
      ]);
    },
  );
});

async function expectCrud(url: string, token: string): Promise<void> {
  const library = libraryClient(url, token);
  expect((await libraryClient(url, null).list()).status).toBe(401);
  const active = {
    id: 'remote:active:openrouter:acme/large',
    name: 'large',
    provider: 'openrouter',
    model: 'acme/large',
    baseUrl: '',
    createdAt: 0,
  };
  expect((await library.list()).body.models).toEqual([active]);
  const kept = (await library.add({ provider: 'p', model: 'acme/kept' })).body;
  expect(kept).toMatchObject({ name: 'kept', provider: 'p', model: 'acme/kept', baseUrl: '' });
  const other = (await library.add({ provider: 'p', model: 'acme/gone', base_url: 'http://x:80/v1/' })).body;
  expect((await library.list()).body.models.map(({ id }) => id)).toEqual([active.id, kept.id, other.id]);
  expect(await library.change(other.id, { name: 'Renamed' })).toMatchObject({
    status: 200,
    body: { ok: true, model: { name: 'Renamed' } },
  });
  expect(await library.remove(other.id)).toMatchObject({ status: 200, body: { ok: true } });
  for (const answer of [await library.remove(other.id), await library.change(other.id, { name: 'x' })])
    expect(answer).toMatchObject({
      status: 404,
      type: expect.stringContaining('json'),
      body: { detail: 'model not found' },
    });
}

describe.runIf(usable)('around a running dashboard', () => {
  test('one that launch started: fixed, restarted and checked in one go', { timeout: 300_000 }, async () => {
    const at = await place('0.19.0');
    const port = await freePort();
    ends.push(async () => void (await ours(at, ['stop', `local:${at.venv}`, '--json'], true)));
    const launched = await ours(at, ['launch', `local:${at.venv}`, '--port', String(port), '--json'], true);
    expect(launched.code, launched.stderr).toBe(0);
    const missing = await ours(at, ['doctor', `local:${at.venv}`, '--port', String(port), '--json'], true);
    expect(missing.code).toBe(1);
    expect(failures(document<Report>(missing))).toEqual(['MODEL_LIBRARY_MISSING']);
    const fixed = await fix(at, 'overlay', true, '--port', String(port), '--restart');
    expect(document<Report>(fixed), fixed.stderr).toMatchObject({ verdict: 'compatible' });
    expect(fixed.code).toBe(0);
    const again = await fix(at, 'overlay', true, '--port', String(port), '--restart');
    expect(again.code).toBe(0);
  });

  test(
    'one that nobody may restart: the files are there, exit 1 says what is left to do',
    { timeout: 300_000 },
    async () => {
      const at = await place('0.19.0');
      const engine = await start(at);
      const fixed = await fix(at, 'overlay', true, '--port', String(engine.port));
      expect(fixed.code, fixed.stderr).toBe(1);
      expect(document<Report>(fixed).findings.map(({ code }) => code)).toContain('RESTART_REQUIRED');
      expect(await readdir(join(at.home, 'plugins/hermes-compat/dashboard'))).toContain('manifest.json');
    },
  );
});

const failing = (['0.14.0', '0.19.0'] as const).flatMap((version) =>
  (['overlay', 'source'] as const).map((carrier) => ({ version, carrier })),
);

describe.runIf(usable)('a check on the throw-away dashboard that fails', () => {
  test.each(gateShare(failing, 3))(
    'takes everything back: $version by $carrier',
    { timeout: 300_000 },
    async ({ version, carrier }) => {
      const at = await place(version);
      const server = join(at.packageDir, 'web_server.py');
      const text = await readFile(server, 'utf8');
      // The structure is as ever, but neither plugins nor included routes are ever reached.
      const deaf = text
        .replace(
          'def _mount_plugin_api_routes():\n',
          'def _mount_plugin_api_routes():\n    return\n\n\ndef _never():\n',
        )
        .replace(
          '\nmount_spa(app)\n',
          '\napp.router.routes[:] = [r for r in app.router.routes if "library" not in getattr(r, "path", "")]\nmount_spa(app)\n',
        );
      expect(deaf).not.toBe(text);
      await writeFile(server, deaf);
      const before = { ...(await snapshot(at.packageDir, bytecode)), ...(await snapshot(at.home, bytecode)) };
      const failed = await ours(at, [
        'patch',
        'apply',
        'model-library',
        '--carrier',
        carrier,
        '--yes',
        '--target',
        `local:${at.venv}`,
        '--json',
      ]);
      expect(failed.code).toBe(5);
      expect(document<{ error: { message: string } }>(failed).error.message).toMatch(
        /does not work \(GET: (404|200).*everything is as it was/s,
      );
      expect({
        ...(await snapshot(at.packageDir, bytecode)),
        ...(await snapshot(at.home, bytecode)),
      }).toEqual(before);
    },
  );
});
