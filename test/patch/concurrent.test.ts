import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { treeLockFolder } from '../../src/engine/compat-places.ts';
import { change, recoverFirst } from '../../src/patch/change.ts';
import { statusOf } from '../../src/patch/status.ts';
import { readWorld } from '../../src/patch/world.ts';
import { faultHost } from '../support/fault-host.mjs';
import { miniServer } from '../support/mini-engine.ts';
import {
  agree,
  homeFacts,
  miniScene,
  options,
  session,
  snapshot,
  type TestScene,
} from '../support/patch-scene.ts';

const scenes: TestScene[] = [];
async function scene(): Promise<TestScene> {
  const made = await miniScene();
  made.install.interpreter = { path: '/bin/true', version: null };
  scenes.push(made);
  return made;
}
afterEach(async () => {
  for (const each of scenes.splice(0)) await each.remove();
});

const child = fileURLToPath(new URL('../support/change-child.mjs', import.meta.url));

interface Ended {
  changed?: boolean;
  kind?: string;
  finding?: string;
}

interface Child {
  ready: Promise<void>;
  ended: Promise<Ended | null>;
}

function start(of: TestScene, more: object): Child {
  const { target, home, install } = of;
  const argument = JSON.stringify({ scene: { target, home, install }, ...more });
  const run = spawn(process.execPath, [child, argument], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  let ready = (): void => {};
  const waiting = new Promise<void>((resolve) => (ready = resolve));
  run.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    if (text.includes('ready')) ready();
  });
  const ended = new Promise<Ended | null>((resolve, reject) => {
    run.once('error', reject);
    run.once('close', (_code, signal) => {
      const line = text.trim().split('\n').at(-1) ?? '';
      resolve(signal === null ? (JSON.parse(line) as Ended) : null);
    });
  });
  return { ready: waiting, ended };
}

/** The same install with another home. */
async function otherHome(of: TestScene): Promise<TestScene> {
  const path = join(of.folder, 'home2');
  await mkdir(path, { mode: 0o700 });
  return { ...of, home: homeFacts(path) };
}

async function race(runs: TestScene[], carrier: 'overlay' | 'source'): Promise<Ended[]> {
  const [first] = runs;
  const go = join(first?.folder ?? '', 'go');
  const children = runs.map((each) => start(each, { options: options({ carrier }), go, slow: 4 }));
  await Promise.all(children.map(({ ready }) => ready));
  await writeFile(go, '');
  const ended = await Promise.all(children.map((each) => each.ended));
  return ended.filter((each) => each !== null);
}

function expectOneWinner(ended: Ended[]): void {
  expect(ended.filter(({ changed }) => changed === true)).toHaveLength(1);
  expect(ended.filter(({ kind }) => kind === 'refused')).toHaveLength(ended.length - 1);
}

describe('at once', () => {
  test.each(['overlay', 'source'] as const)(
    'two applies by %s: one wins, one is refused, the tree is whole',
    { timeout: 120_000 },
    async (carrier) => {
      const here = await scene();
      const ended = await race([here, here], carrier);
      expectOneWinner(ended);
      expect(ended.find(({ kind }) => kind === 'refused')?.finding).toMatch(/LOCK_HELD|FOREIGN_EDITS/);
      await expectWhole(here, carrier);
    },
  );

  test(
    'two homes that share one install: one wins, one is refused, the tree is whole',
    { timeout: 120_000 },
    async () => {
      const here = await scene();
      const there = await otherHome(here);
      const ended = await race([here, there], 'source');
      expectOneWinner(ended);
      await expectWhole(here, 'source');
      expect(await readdir(here.install.packageDir)).not.toContain('.hermes-compat-lock');
    },
  );

  test('eight at once: one wins', { timeout: 240_000 }, async () => {
    const here = await scene();
    const ended = await race(
      Array.from({ length: 8 }, () => here),
      'source',
    );
    expectOneWinner(ended);
    await expectWhole(here, 'source');
  });
});

async function expectWhole(of: TestScene, carrier: 'overlay' | 'source'): Promise<void> {
  const run = await session(of);
  const status = await statusOf(await readWorld(run.host, of, run.catalogue), run.catalogue);
  expect(
    status.patches.map(({ state, carrier: by, effective }) => `${state} ${by ?? ''} ${effective}`),
  ).toEqual([`applied ${carrier} yes`, `applied ${carrier} yes`]);
  const server = await readFile(join(of.install.packageDir, 'web_server.py'), 'utf8');
  expect(server.split('>>> hermes-compat')).toHaveLength(carrier === 'source' ? 2 : 1);
}

test(
  'a change that another home left cut in a shared tree is ended by the next one, whoever it is',
  { timeout: 120_000 },
  async () => {
    const here = await scene();
    const there = await otherHome(here);
    const before = await snapshot(here.folder, ['desktop-compat', 'home2']);
    // Somewhere after the first rename in the tree.
    for (const at of [16, 18, 20, 22]) {
      await start(here, { options: options({ carrier: 'source' }), at }).ended;
      await recoverFirst(await session(there));
      expect(await snapshot(here.folder, ['desktop-compat', 'home2']), `killed at ${at}`).toEqual(before);
      await recoverFirst(await session(here));
      expect(await snapshot(here.folder, ['desktop-compat', 'home2'])).toEqual(before);
    }
  },
);

test('the folder of our records that another run removes while we enter is made again', async () => {
  const here = await scene();
  let left = 3;
  const run = await session(here);
  const host = faultHost(run.host, async ({ method, args }) => {
    if (method === 'mkdir' && String(args[0]).endsWith('/lock') && left-- > 0)
      await rmdir(join(here.home.root, 'desktop-compat'));
  });
  expect((await change({ ...run, host }, agree())).changed).toBe(true);
});

test('the claim of a machine that nobody can ask is not taken away', async () => {
  const here = await scene();
  const folder = treeLockFolder(here.install.packageDir);
  await mkdir(folder, { mode: 0o700 });
  await writeFile(join(folder, 'elsewhere~4711~abc-1~0123456789ab'), '');
  await expect(change(await session(here), agree({ carrier: 'source' }))).rejects.toMatchObject({
    kind: 'refused',
    details: { finding: 'LOCK_HELD', args: { hostname: 'elsewhere', pid: 4711, alive: null } },
    message: expect.stringContaining('from here nobody can tell'),
  });
  expect(await readFile(join(here.install.packageDir, 'web_server.py'), 'utf8')).toBe(miniServer);
});
