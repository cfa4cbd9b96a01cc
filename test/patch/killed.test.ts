import { spawn } from 'node:child_process';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { change, recoverFirst } from '../../src/patch/change.ts';
import { faultHost } from '../support/fault-host.mjs';
import {
  agree,
  miniScene,
  options,
  session,
  snapshot,
  testHost,
  type TestScene,
} from '../support/patch-scene.ts';
import { gateShare, isFull } from '../support/full.ts';

/**
 * A change is ended by SIGKILL before each single thing that it does to the disk, and in the middle of each file that it
 * writes. The places are counted by running the same change once: no step can be forgotten here. The gate takes every third.
 */
const both = ['embedded-chat', 'model-library'];
const sets = [both, ...(isFull ? both.map((id) => [id]) : [])];
const cases = sets
  .flatMap((patches) =>
    (['overlay', 'source'] as const).flatMap((carrier) =>
      (['apply', 'revert'] as const).map((action) => ({ patches, carrier, action })),
    ),
  )
  .map((each, index) => ({ ...each, index }));

describe.each(cases)('$action of $patches by $carrier', ({ patches, carrier, action, index }) => {
  test('is whole after every possible end', { timeout: 600_000 }, async () => {
    const scene = await miniScene();
    // What compiles the new bytes is another test's business; here it only costs time.
    scene.install.interpreter = { path: '/bin/true', version: null };
    try {
      await writeFile(join(scene.home.path, 'config.yaml'), 'model: x # mine\n', { mode: 0o600 });
      if (action === 'revert') await change(await session(scene), agree({ patches, carrier }));
      const wanted = options({ do: action, patches, carrier: action === 'apply' ? carrier : null });
      const { old, now, steps } = await dryRun(scene, wanted);
      expect(steps.length).toBeGreaterThan(20);
      const places = steps.flatMap((method, at) => [
        { at, half: false },
        ...(method === 'createFile' ? [{ at, half: true }] : []),
      ]);
      await inPairs(gateShare(places, 3, index), (place, lane) =>
        killedAt(scene, lane, wanted, place, { old, now }),
      );
    } finally {
      await rm(scene.folder, { recursive: true, force: true, maxRetries: 5 });
      for (const name of ['whole', 'lane-0', 'lane-1'])
        await rm(`${scene.folder}-${name}`, { recursive: true, force: true });
    }
  });
});

interface Bytes {
  old: Record<string, string>;
  now: Record<string, string>;
}

/** The change on a copy, to its end: how many steps it has, and how the tree looks before and after. */
async function dryRun(
  scene: TestScene,
  wanted: ReturnType<typeof options>,
): Promise<Bytes & { steps: string[] }> {
  const copy = await copyOf(scene, 'whole');
  const steps: string[] = [];
  const host = faultHost(testHost(), ({ method }: { method: string }) => void steps.push(method));
  const old = await engineFiles(copy);
  await change(await session(copy, { host }), { options: wanted, saved: null, consent: async () => true });
  const now = await engineFiles(copy);
  expect(now).not.toEqual(old);
  return { old, now, steps };
}

async function killedAt(
  scene: TestScene,
  lane: number,
  wanted: ReturnType<typeof options>,
  place: { at: number; half: boolean },
  { old, now }: Bytes,
): Promise<void> {
  const copy = await copyOf(scene, `lane-${lane}`);
  const { signal } = await runKilled(copy, wanted, place);
  const where = `killed at ${JSON.stringify(place)}`;
  expect(signal, where).toBe('SIGKILL');
  // At once: each file has its old or its new bytes, and the one that makes the engine use the rest decides.
  const left = await engineFiles(copy, true);
  for (const [path, bytes] of Object.entries(left))
    expect([old[path], now[path]], `${where}: ${path}`).toContain(bytes);
  const recovering = await session(copy);
  await recoverFirst(recovering);
  const recovered = await engineFiles(copy);
  expect([old, now], where).toContainEqual(recovered);
  const traces = Object.keys(await snapshot(copy.folder)).filter((path) =>
    /journal|lock|\.hermes-compat-|\.new$/.test(path),
  );
  expect(traces, where).toEqual([]);
  await change(recovering, { options: wanted, saved: null, consent: async () => true });
  expect(await engineFiles(copy), where).toEqual(now);
}

/** Everything but our own records. What a cut run staged beside the files is left out on wish. */
async function engineFiles(scene: TestScene, withoutStaged = false): Promise<Record<string, string>> {
  const all = await snapshot(scene.folder, ['desktop-compat']);
  const staged = /\/\.hermes-compat-/;
  return Object.fromEntries(
    Object.entries(all).filter(
      ([path, what]) => !(withoutStaged && (staged.test(path) || what.startsWith('dir'))),
    ),
  );
}

async function copyOf(scene: TestScene, name: string): Promise<TestScene> {
  const folder = `${scene.folder}-${name}`;
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  await mkdir(folder);
  await cp(scene.folder, folder, { recursive: true });
  // Records name the place where they were made.
  const moved = JSON.parse(JSON.stringify(scene).replaceAll(scene.folder, folder)) as TestScene;
  const marker = join(folder, 'home/desktop-compat/hermes-compat.json');
  const text = await readFile(marker, 'utf8').catch(() => null);
  if (text !== null) await writeFile(marker, text.replaceAll(scene.folder, folder));
  return { ...moved, folder, remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }) };
}

const child = fileURLToPath(new URL('../support/change-child.mjs', import.meta.url));

function runKilled(
  scene: TestScene,
  wanted: object,
  place: { at: number; half: boolean },
): Promise<{ signal: string | null }> {
  const { target, home, install } = scene;
  const argument = JSON.stringify({ scene: { target, home, install }, options: wanted, ...place });
  return new Promise((resolve, reject) => {
    const run = spawn(process.execPath, [child, argument], { stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    run.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    run.once('error', reject);
    run.once('close', (code, signal) =>
      signal === null ? reject(new Error(`exit ${code}: ${errors}`)) : resolve({ signal }),
    );
  });
}

async function inPairs<T>(
  items: readonly T[],
  work: (item: T, lane: number) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const lanes = [0, 1].map(async (lane) => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item, lane);
  });
  const ended = await Promise.allSettled(lanes);
  const failed = ended.find((each) => each.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
