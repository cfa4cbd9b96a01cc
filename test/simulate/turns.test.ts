import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';

import { type Provider, releases, startProvider, startSimulator } from '../../src/simulate/index.ts';
import { repairedEngine } from '../support/engine-copy.ts';
import { engineDir, fullLadder, requireEngines, sitePackages, startEngine } from '../support/engines.ts';
import { type Client, chat, closeClients, open, turnsOf } from './client.ts';
import { isFull } from '../support/full.ts';

/** The same prompts to a real engine with the scripted provider and to the stand-in: the same turns, event by event kind. */

/** 0.20.0.post2 ships no provider for logins. */
const hasGate = (version: string): boolean =>
  version !== '0.20.0.post2' && releases.some((each) => each.version === version && each.gate !== null);
/** Every rung, and each with its login where it has one. */
const cells = (isFull ? fullLadder : ['0.19.0']).flatMap((version) =>
  isFull && hasGate(version)
    ? [
        { version, gated: false },
        { version, gated: true },
      ]
    : [{ version, gated: false }],
);
const ready = await requireEngines(...new Set(cells.map(({ version }) => version)), '0.14.0', '0.16.0');
const login = { username: 'someone', password: 'CANARY-turns-password-0123' };
const token = 'CANARY-turns-0123456789';
const prompts = [
  'SCN:plain hello',
  'SCN:reason',
  'SCN:tool-say',
  'SCN:two-tools',
  'SCN:http code=401',
  'SCN:empty',
  'SCN:plain again',
];

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

interface Turns {
  version: string;
  gated: boolean;
}

/** A dashboard and a client of its gateway. */
interface Served {
  url: string;
  token: string | null;
  client: Client;
}

const realEngine = async ({ version, gated }: Turns, provider: Provider): Promise<Served> => {
  const engine = await startEngine({
    version,
    token: gated ? null : token,
    home: await homeFor(provider),
    env: {
      HERMES_DASHBOARD_TUI: '1',
      // Ships no page, and takes no token of ours.
      ...(version === '0.13.0' && { HERMES_WEB_DIST: await webDist() }),
      ...(gated && {
        HERMES_DASHBOARD_BASIC_AUTH_USERNAME: login.username,
        HERMES_DASHBOARD_BASIC_AUTH_PASSWORD: login.password,
      }),
    },
    ...(gated && { host: '127.0.0.2' }),
    ...(version === '0.15.2' && { venv: await repaired() }),
  });
  ends.push(engine.stop);
  const query = gated ? await ticketQuery(engine.url) : `token=${engine.token}`;
  return { url: engine.url, token: engine.token, client: await open(engine, query, 120_000) };
};

const standIn = async ({ version, gated }: Turns): Promise<Served> => {
  const simulator = await startSimulator({
    release: version,
    chat: true,
    ...(gated && { host: '127.0.0.2', gated: login }),
  });
  ends.push(simulator.close);
  const client = gated ? open(simulator, await ticketQuery(simulator.url)) : open(simulator);
  return { url: simulator.url, token: simulator.token, client: await client };
};

/** Logs in as a browser does, and takes a ticket. */
const ticketQuery = async (url: string): Promise<string> => {
  const answer = await fetch(`${url}/auth/password-login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ provider: 'basic', ...login }),
  });
  expect(answer.status).toBe(200);
  const cookie = answer.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .filter((pair) => !pair?.endsWith('='))
    .join('; ');
  const minted = await fetch(`${url}/api/auth/ws-ticket`, { method: 'POST', headers: { cookie } });
  const { ticket } = (await minted.json()) as { ticket: string };
  return `ticket=${encodeURIComponent(ticket)}`;
};

/** The published 0.15.2 cannot start. */
const repaired = async (): Promise<string> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hermes-repaired-')));
  ends.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  await repairedEngine(join(folder, 'venv'));
  return join(folder, 'venv');
};

const webDist = async (): Promise<string> => {
  return join(await sitePackages(engineDir('0.14.0')), 'hermes_cli', 'web_dist');
};

/** All prompts in one session, one after the other; the frames are complete when the next one can be sent. */
const converse = async ({
  url,
  token: secret,
  client,
}: Served): Promise<{ client: Client; rows: unknown }> => {
  const { id, stored } = await chat(client);
  for (const [at, text] of prompts.entries()) {
    await client.call('prompt.submit', { session_id: id, text });
    await client.event('message.complete', at + 1);
    await pause(300);
  }
  const rows = secret === null ? null : await storedRows(`${url}/api/sessions/${stored}/messages`, secret);
  return { client, rows };
};

interface StoredRow {
  role: string;
  content: string | null;
  tool_calls: unknown;
  display_kind?: string | null;
}

/** What is stored of it, without ids, times and the results of tools. */
const storedRows = async (url: string, secret: string): Promise<unknown> => {
  const answer = await fetch(url, {
    headers: { authorization: `Bearer ${secret}`, 'x-hermes-session-token': secret },
  });
  const { messages } = (await answer.json()) as { messages: StoredRow[] };
  return messages.map(({ role, content, tool_calls: calls, display_kind: kind }) => ({
    role,
    content: role === 'tool' ? '' : content?.trim(),
    calls: Array.isArray(calls) ? calls.length : 0,
    kind: kind ?? null,
  }));
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
  test.each(cells)('$version, gated: $gated', { timeout: 300_000 }, async (cell) => {
    const provider = await startProvider();
    ends.push(provider.close);
    const real = await converse(await realEngine(cell, provider));
    const simulated = await converse(await standIn(cell));
    expect(turnsOf(real.client)).toHaveLength(prompts.length);
    expect(shape(simulated.client)).toEqual(shape(real.client));
    expect(vocabulary(simulated.client)).toEqual(vocabulary(real.client));
    expect(simulated.rows).toEqual(real.rows);
    for (const prompt of ['SCN:plain hello', 'SCN:tool-say']) expect(provider.promptCount(prompt)).toBe(1);
    expect(provider.requests.some(({ purpose }) => purpose === 'title')).toBe(true);
  });
});
