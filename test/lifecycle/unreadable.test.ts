import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FileError, type Host } from '../../src/host/types.ts';
import { runHook } from '../../src/lifecycle/hook-run.ts';
import { readHooks } from '../../src/lifecycle/hooks/records.ts';
import { addHistory, readHistory } from '../../src/patch/history.ts';
import { hookRunOf } from '../support/lifecycle.ts';
import { testHost } from '../support/patch-scene.ts';

// What may not be read is not told as if nothing were there.

let root: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-unreadable-')));
  await mkdir(join(root, 'desktop-compat/hooks'), { recursive: true });
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** As for an account that may not enter the folder. */
const shut = (): Host => ({
  ...testHost(),
  readFile: async (path) => {
    throw new FileError('permission', path, `EACCES: permission denied, open '${path}'`);
  },
});

const readers: [string, (host: Host) => Promise<unknown>, unknown][] = [
  ['hook run', async (host) => (await runHook(hookRunOf(root, { host }))).outcome, 'nothing-recorded'],
  ['the hooks', (host) => readHooks(host, root), []],
  ['the history', (host) => readHistory(host, root), []],
];

test.each(readers)('%s', async (_what, read, empty) => {
  await expect(read(shut())).rejects.toMatchObject({
    kind: 'unchecked',
    message: expect.stringMatching(/cannot be read: EACCES/),
    details: { finding: 'HOME_UNREADABLE' },
  });
  expect(await read(testHost())).toEqual(empty);
  await rm(join(root, 'desktop-compat'), { recursive: true });
  expect(await read(testHost())).toEqual(empty);
});

test.each(['{"entries": [', '{"entries": 1}', 'null'])('hook run with the marker %s', async (text) => {
  await writeFile(join(root, 'desktop-compat/hermes-compat.json'), text);
  await expect(runHook(hookRunOf(root))).rejects.toMatchObject({
    kind: 'unchecked',
    details: { finding: 'MARKER_CORRUPT' },
  });
});

test('a history that cannot be read stops no change', async () => {
  const entry = { at: '2026-11-30T12:00:00.000Z', action: 'apply', carrier: 'overlay', patches: [] } as never;
  await addHistory(shut(), root, 'x', entry);
  expect(await testHost().stat(join(root, 'desktop-compat/history.json'))).not.toBeNull();
});
