import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';

import { type Provider, startProvider, startSimulator } from '../../src/simulate/index.ts';
import { ladder, requireEngines, startEngine } from '../support/engines.ts';
import { type Client, chat, closeClients, open, turnsOf } from './client.ts';

/** The same prompts to a real engine with the scripted provider and to the stand-in: the same turns, event by event kind. */

const versions = (process.env['HERMES_COMPAT_TEST_FULL'] === '1' ? ladder : ['0.19.0']).filter(
  // Cannot be started from its package.
  (version) => version !== '0.15.2',
);
const ready = await requireEngines(...versions);
const token = 'CANARY-turns-0123456789';
const prompts = ['SCN:plain hello', 'SCN:reason', 'SCN:tool-say', 'SCN:two-tools', 'SCN:http code=401'];

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  closeClients();
  for (const end of ends.splice(0).toReversed()) await end();
});

/** A throw-away home whose model is the scripted one. */
const homeFor = async (provider: Provider): Promise<string> => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-turns-'));
  ends.push(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));
  const model = `{default: scripted-1, provider: custom, base_url: "${provider.url}", api_key: scripted, context_length: 64000}`;
  await writeFile(
    join(home, 'config.yaml'),
    `model: ${model}\nagent: {api_max_retries: 2, auto_recovery_cycles: 1}\napprovals: {mode: "off"}\n`,
  );
  return home;
};

const realEngine = async (version: string, provider: Provider): Promise<Client> => {
  const engine = await startEngine({
    version,
    token,
    home: await homeFor(provider),
    env: { HERMES_DASHBOARD_TUI: '1' },
    // Ships no page, and takes no token of ours.
    ...(version === '0.13.0' && { env: { HERMES_DASHBOARD_TUI: '1', HERMES_WEB_DIST: await webDist() } }),
  });
  ends.push(engine.stop);
  return open(engine, `token=${engine.token}`, 120_000);
};

const webDist = async (): Promise<string> => {
  const { engineDir, sitePackages } = await import('../support/engines.ts');
  return join(await sitePackages(engineDir('0.14.0')), 'hermes_cli', 'web_dist');
};

/** All prompts in one session, one after the other; the frames are complete when the next one can be sent. */
const converse = async (client: Client): Promise<Client> => {
  const { id } = await chat(client);
  for (const [at, text] of prompts.entries()) {
    await client.call('prompt.submit', { session_id: id, text });
    await client.event('message.complete', at + 1);
    await pause(300);
  }
  return client;
};

/** Ids and wordings of errors are the engine's own. */
const shape = (client: Client): unknown =>
  turnsOf(client).map(({ prompt, outcome, final, origin, degraded, parts }) => ({
    prompt,
    outcome,
    final,
    origin,
    degraded,
    parts: parts.map((part) =>
      part.type === 'tool'
        ? { type: part.type, name: part.name, status: part.status }
        : part.type === 'error'
          ? { type: part.type }
          : { type: part.type, text: part.text },
    ),
  }));

const told = /^(message|reasoning|tool)\./;
/** Payload keys by event type, of what a client builds a timeline from. */
const vocabulary = ({ frames }: Client): Record<string, string[]> => {
  const seen: Record<string, Set<string>> = {};
  for (const { params } of frames) {
    if (params === undefined || !told.test(params.type)) continue;
    const keys = (seen[params.type] ??= new Set());
    for (const key of Object.keys(params.payload ?? {})) keys.add(key);
  }
  return Object.fromEntries(
    Object.entries(seen)
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([type, keys]) => [type, [...keys].toSorted()]),
  );
};

describe.skipIf(!ready)('the same turns from the stand-in as from the engine', () => {
  test.each(versions)('%s', { timeout: 300_000 }, async (version) => {
    const provider = await startProvider();
    ends.push(provider.close);
    const real = await converse(await realEngine(version, provider));
    const standIn = await startSimulator({ release: version, chat: true });
    ends.push(standIn.close);
    const simulated = await converse(await open(standIn));
    expect(turnsOf(real)).toHaveLength(prompts.length);
    expect(shape(simulated)).toEqual(shape(real));
    expect(vocabulary(simulated)).toEqual(vocabulary(real));
    for (const prompt of ['SCN:plain hello', 'SCN:tool-say']) expect(provider.promptCount(prompt)).toBe(1);
    expect(provider.requests.some(({ purpose }) => purpose === 'title')).toBe(true);
  });
});
