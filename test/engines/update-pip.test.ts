import { readFile, rename, writeFile } from 'node:fs/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { HookRunDocument } from '../../src/lifecycle/hook-schema.ts';
import type { UpdateDocument } from '../../src/lifecycle/update/schema.ts';
import type { Report } from '../../src/judge/schema.ts';
import { document } from '../support/cli.ts';
import { requireEngines } from '../support/engines.ts';
import { canPackage, type PackagedEngine, packagedEngine } from '../support/packaged-engine.ts';
import { canUpdate } from '../support/real-tree.ts';
import { isFull } from '../support/full.ts';

// Upgrades by pip and uv from the registry: every file of the package is replaced without a word.

const ready = isFull && canUpdate && canPackage && (await requireEngines('0.16.0', '0.19.0'));
const engines: PackagedEngine[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.remove();
});

async function applied(tool: 'pip' | 'uv', carrier: 'overlay' | 'source'): Promise<PackagedEngine> {
  const engine = await packagedEngine(tool, '0.16.0');
  engines.push(engine);
  const at = ['--target', `local:${engine.venv}`, '--home', engine.home];
  const result = await engine.compat('patch', 'apply', '--carrier', carrier, ...at, '--yes');
  expect(result, result.stderr).toMatchObject({ code: 0 });
  return engine;
}

const check = async (engine: PackagedEngine): Promise<Report & { kind: 'report' }> =>
  document(
    await engine.compat(
      'doctor',
      `local:${engine.venv}`,
      '--home',
      engine.home,
      '--start',
      '--yes',
      '--json',
    ),
  );

async function hookRun(engine: PackagedEngine): Promise<HookRunDocument> {
  const result = await engine.compat('hook', 'run', '--home', engine.home, '--json', '--strict');
  const said = document<HookRunDocument>(result);
  expect(said.kind, result.stdout + result.stderr).toBe('hook-run');
  return said;
}

const outcomes = ({ patches }: Pick<HookRunDocument, 'patches'>) =>
  Object.fromEntries(patches.map(({ patch, carrier, outcome }) => [`${patch} ${carrier}`, outcome]));

const tools = ['pip', 'uv'] as const;
const all = tools.flatMap((tool) => [[tool, 'overlay'] as const, [tool, 'source'] as const]);

describe.skipIf(!ready)('0.16.0 → 0.19.0', { timeout: 1_800_000 }, () => {
  test.each(all)('%s behind our back, %s', async (tool, carrier) => {
    const engine = await applied(tool, carrier);
    expect((await hookRun(engine)).outcome).toBe('checked');
    expect((await hookRun(engine)).outcome).toBe('unchanged');
    const upgraded = await engine.manager('install', '-U', 'hermes-agent==0.19.0');
    expect(upgraded.code, upgraded.stderr).toBe(0);
    const before = await check(engine);
    expect(before.engine.version).toBe('0.19.0');
    if (carrier === 'source') {
      expect(
        before.findings.map(({ code }) => code),
        JSON.stringify(before),
      ).toContain('PATCH_LOST');
      expect(before.verdict).toBe('needs-remedy');
    } else expect(before.verdict).toBe('compatible');
    const hook = await hookRun(engine);
    const outcome = carrier === 'source' ? 'reapplied' : 'kept';
    expect(outcomes(hook)).toEqual({ [`model-library ${carrier}`]: outcome });
    expect(hook.changed.some((each) => each.includes('RECORD'))).toBe(true);
    const after = await check(engine);
    expect(after.verdict, JSON.stringify(after.findings)).toBe('compatible');
    expect((await hookRun(engine)).outcome).toBe('unchanged');
  });

  test.each(all)('%s through update, %s', async (tool, carrier) => {
    const engine = await applied(tool, carrier);
    const at = [`local:${engine.venv}`, '--home', engine.home];
    const said = document<UpdateDocument>(await engine.compat('update', ...at, '--yes', '--json'));
    expect(said).toMatchObject({
      outcome: 'updated',
      exitCode: 0,
      verdict: 'compatible',
      before: { version: '0.16.0', head: null },
      after: { version: '0.19.0', generation: 'G1' },
    });
    const outcome = carrier === 'source' ? 'reapplied' : 'kept';
    expect(outcomes(said)).toEqual({ [`model-library ${carrier}`]: outcome });
  });

  test('an update of the engine that was cut is finished, our source edit is no edit of the user', async () => {
    const engine = await applied('uv', 'source');
    await writeFile(`${engine.home}/.hermes-update-in-progress`, '999999\n');
    const at = [`local:${engine.venv}`, '--home', engine.home];
    const said = document<UpdateDocument>(await engine.compat('update', ...at, '--yes', '--json'));
    expect(said, JSON.stringify(said)).toMatchObject({ outcome: 'updated', after: { version: '0.19.0' } });
    expect(outcomes(said)).toEqual({ 'model-library source': 'reapplied' });
  });

  test('an edit of the user that would be replaced stops it before anything is touched', async () => {
    const engine = await applied('uv', 'source');
    const mine = `${await readFile(engine.server, 'utf8')}\n# mine\n`;
    await writeFile(`${engine.server}.new`, mine);
    await rename(`${engine.server}.new`, engine.server);
    const at = [`local:${engine.venv}`, '--home', engine.home];
    const result = await engine.compat('update', ...at, '--yes', '--json');
    expect(result.code, result.stderr).toBe(4);
    expect(result.stdout).toContain('web_server.py');
    expect(await readFile(engine.server, 'utf8')).toBe(mine);
    expect((await check(engine)).engine.version).toBe('0.16.0');
  });
});
