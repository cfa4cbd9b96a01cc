import { copyFile, mkdir, mkdtemp, readFile, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { verifyDashboard } from '../../src/patch/verify.ts';
import { installFacts, testHost } from '../support/patch-scene.ts';

const thief = fileURLToPath(new URL('../support/port-thief.py', import.meta.url));

test('a dashboard that took the port before ours is neither judged nor written to; ours gets another port', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hermes-verify-')));
  try {
    const bin = join(folder, 'bin');
    await mkdir(bin);
    const { stdout } = await testHost().run(['python3', '-c', 'import sys; print(sys.executable)']);
    await symlink(stdout.toString().trim(), join(bin, 'python'));
    await copyFile(thief, join(bin, 'hermes'));
    const install = installFacts(join(folder, 'hermes_cli'), join(bin, 'python'));
    const result = await verifyDashboard(testHost(), install, new Map(), ['model-library'], null);
    const asked = (await readFile(join(bin, 'asked'), 'utf8')).trim().split('\n');
    expect([...new Set(asked)].sort()).toEqual(['GET /', 'GET /api/status']);
    expect(result).toMatchObject({ ok: true });
    expect(result.steps.map(({ step }) => step)).toContain('DELETE of an unknown id');
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
});
