import { access, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import {
  type Engine,
  engineDir,
  ladder,
  requireEngines,
  sitePackages,
  startEngine,
} from '../support/engines.ts';

const ready = await requireEngines(...ladder);

describe.skipIf(!ready)('the test rig', { timeout: 180_000 }, () => {
  test('starts an engine with its own home and token, and ends it without a trace', async () => {
    const engine = await startEngine({ version: '0.16.0' });
    const sessions = (token: string): Promise<number> =>
      fetch(`${engine.url}/api/sessions`, { headers: { 'X-Hermes-Session-Token': token } }).then(
        (a) => a.status,
      );
    const status = (await fetch(`${engine.url}/api/status`).then((a) => a.json())) as Record<string, unknown>;
    expect(status).toMatchObject({ version: '0.16.0', hermes_home: engine.home });
    expect(await sessions(engine.token as string)).toBe(200);
    expect(await sessions('wrong')).toBe(401);
    await engine.stop();
    expect(() => process.kill(engine.pid, 0)).toThrow('ESRCH');
    await expect(access(engine.home)).rejects.toThrow('ENOENT');
  });

  test('gives the page token of an engine that takes none', async () => {
    const home = await mkdtemp(join(tmpdir(), 'hermes-home-'));
    const engine = await startEngine({ version: '0.14.0', token: 'ignored-by-this-release', home });
    try {
      expect(engine.token).toMatch(/^[\w-]{20,}$/);
      expect(engine.token).not.toBe('ignored-by-this-release');
    } finally {
      await engine.stop();
    }
    await access(home);
    await rm(home, { recursive: true, maxRetries: 5 });
  });

  test('says what a dying engine printed', async () => {
    const start: Promise<Engine> = startEngine({ version: '0.15.2' });
    await expect(start).rejects.toThrow(/exit 1[^]*ModuleNotFoundError: .*dashboard_auth/);
  });

  test('0.22.2 has lazy annotations in every gateway module', async () => {
    const server = join(await sitePackages(engineDir('0.22.2.post1')), 'tui_gateway/server.py');
    expect(await readFile(server, 'utf8')).toMatch(/^from __future__ import annotations$/m);
  });
});
