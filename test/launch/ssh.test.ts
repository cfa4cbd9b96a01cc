import { execFileSync } from 'node:child_process';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { openSshHost } from '../../src/host/ssh/open.ts';
import type { Host } from '../../src/host/types.ts';
import { tryGateway } from '../../src/launch/gateway.ts';
import { launch } from '../../src/launch/launch.ts';
import { readRecords } from '../../src/launch/record.ts';
import { stopLaunch } from '../../src/launch/stop.ts';
import { requireEngines } from '../support/engines.ts';
import { canRunSshd, type Rig, sshRig } from '../support/sshd.ts';
import { alive, homeAt, installOf, never, options, scratchHome, traces } from './support.ts';

const ready = canRunSshd && (await requireEngines('0.15.2', '0.16.0'));

// The engines lie in a cache that only this account reads, so it logs in as itself, with a key of this rig.
describe.skipIf(!ready)('launch over ssh', { timeout: 180_000 }, () => {
  let rig: Rig;
  let host: Host;
  let home: string;

  beforeAll(async () => {
    home = await scratchHome();
    rig = await sshRig();
    const keys = join(rig.dir, 'root_keys');
    await writeFile(keys, await rig.publicKey());
    const server = await rig.sshd(['PermitRootLogin yes', 'StrictModes no', `AuthorizedKeysFile ${keys}`]);
    host = await openSshHost(rig.options(server, { name: 'root', home: '/root', uid: 0 }));
  });
  afterAll(async () => {
    for (const record of await readRecords(host, home)) await stopLaunch(host, home, record);
    await host?.close();
    await rig?.end();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  });

  const request = async (version: string) => ({
    host,
    install: await installOf(version),
    home: homeAt(home),
    options: options(),
    token: null,
  });

  test('started there, answered through the tunnel, ended by its record', async () => {
    const result = await launch(await request('0.16.0'), never);
    if (result.outcome === 'failed') throw new Error(JSON.stringify(result.failure));
    const { record } = result;
    const token = (await readFile(record.tokenFile as string, 'utf8')).trim();
    expect((await stat(record.tokenFile as string)).mode & 0o777).toBe(0o600);
    const at = { connectTo: '127.0.0.1', port: record.port };
    expect(await tryGateway(host, at, token, AbortSignal.timeout(20_000))).toEqual({ state: 'open' });
    expect(execFileSync('ps', ['-eo', 'args']).toString()).not.toContain(token);
    expect(await stopLaunch(host, home, record)).toBe('stopped');
    expect(alive(record.pid)).toBe(false);
    expect(await traces(home)).toEqual([]);
  });

  test('why it cannot start is told the same way', async () => {
    expect(await launch(await request('0.15.2'), never)).toMatchObject({
      outcome: 'failed',
      failure: { code: 'ENGINE_BROKEN_PACKAGE', args: { module: 'hermes_cli.dashboard_auth' } },
    });
    expect(await traces(home)).toEqual([]);
  });

  test('interrupted in the middle: nothing runs there and nothing is left', async () => {
    const controller = new AbortController();
    const running = launch(await request('0.16.0'), controller.signal);
    await expect.poll(() => readRecords(host, home), { timeout: 20_000 }).toHaveLength(1);
    const [record] = await readRecords(host, home);
    controller.abort();
    await expect(running).rejects.toMatchObject({ kind: 'interrupted' });
    expect(alive(record?.pid ?? 0)).toBe(false);
    expect(await traces(home)).toEqual([]);
  });
});
