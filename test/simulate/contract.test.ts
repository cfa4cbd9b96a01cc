import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';

import type { ProbeInput } from '../../src/probe/types.ts';
import { startSimulator, type SimulatorOptions } from '../../src/simulate/index.ts';
import { login, look, needs, token } from '../probe/servers.ts';
import { repairedEngine } from '../support/engine-copy.ts';
import { type EngineOptions, requireEngines, startEngine } from '../support/engines.ts';
import { type Cell, cellsOfThisRun, comparable } from './cells.ts';

/** The stand-in is as good as its likeness: one probe, once on the real engine, once on the stand-in of the same release. */

const versions = new Set(cellsOfThisRun.map(({ version }) => version));
const ready = await requireEngines(...versions, '0.16.0');
const secret = 'CANARY-contract-0123456789';
const gatedHost = '127.0.0.2';

const engineOptions = ({ version, mode }: Cell): EngineOptions => ({
  version,
  token: mode === 'gated' ? null : secret,
  ...(mode === 'headless' && { mode: 'serve' }),
  ...(mode === 'chat' && { env: { HERMES_DASHBOARD_TUI: '1' } }),
  ...(mode === 'gated' && {
    host: gatedHost,
    env: { HERMES_DASHBOARD_BASIC_AUTH_USERNAME: 'someone', HERMES_DASHBOARD_BASIC_AUTH_PASSWORD: secret },
  }),
});

const simulatorOptions = ({ version, mode }: Cell): SimulatorOptions => ({
  release: version,
  token: secret,
  chat: mode === 'chat',
  headless: mode === 'headless',
  ...(mode === 'gated' && { host: gatedHost, gated: { username: 'someone', password: secret } }),
});

/** Up to 0.15 the token is only in the page; with one of our own the engine would be another. */
const probeOptions = ({ version, mode }: Cell): Partial<ProbeInput> => {
  const fromPage = mode === 'no-token' || Number(version.split('.')[1]) < 16;
  const credential =
    fromPage && mode !== 'wrong-token' ? null : token(mode === 'wrong-token' ? `${secret}-not` : secret);
  return {
    credential: mode === 'gated' ? login(secret) : credential,
    needs: { ...needs, sessionProbe: 'always', console: true },
    patience: 'cold',
    timeoutMs: 120_000,
  };
};

/** The published 0.15.2 cannot start. */
async function venvFor({ version }: Cell): Promise<{ venv?: string }> {
  if (version !== '0.15.2') return {};
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hermes-repaired-')));
  running.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  await repairedEngine(join(folder, 'venv'));
  return { venv: join(folder, 'venv') };
}

const running: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0).toReversed()) await stop();
});

describe.skipIf(!ready)('the same facts from the stand-in as from the engine', () => {
  test.each(cellsOfThisRun)('$version $mode', { timeout: 240_000 }, async (cell) => {
    const engine = await startEngine({ ...engineOptions(cell), ...(await venvFor(cell)) });
    running.push(engine.stop);
    const real = await look(engine.url, probeOptions(cell));
    const standIn = await startSimulator(simulatorOptions(cell));
    running.push(standIn.close);
    const simulated = await look(standIn.url, probeOptions(cell));
    expect(comparable(simulated.facts, standIn.port)).toEqual(comparable(real.facts, engine.port));
  });
});
