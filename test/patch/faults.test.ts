import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import type { CompatError } from '../../src/errors.ts';
import { FileError, type FileErrorCode } from '../../src/host/types.ts';
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

const run = promisify(execFile);
const scenes: TestScene[] = [];
const mounts: string[] = [];
async function scene(): Promise<TestScene> {
  const made = await miniScene();
  scenes.push(made);
  return made;
}
afterEach(async () => {
  for (const mount of mounts.splice(0)) await run('umount', [mount]);
  for (const each of scenes.splice(0)) await each.remove();
});

/** What is ours alone; a claim stays behind where the disk refuses to remove it, and the next run takes it away. */
const records = ['desktop-compat', '.hermes-compat-lock'];
const codes: FileErrorCode[] = ['no-space', 'permission', 'read-only', 'other'];
const isRoot = process.getuid?.() === 0;
const cases = (['apply', 'revert'] as const).flatMap((action) =>
  (['overlay', 'source'] as const).map((carrier) => ({ action, carrier })),
);

describe.each(cases)('$action by $carrier', ({ action, carrier }) => {
  /** The disk refuses one thing; before the change is whole everything is as it was, afterwards the next run records it. */
  test.each(isFull ? codes.map((code) => [code]) : [codes])(
    '%s at every step',
    { timeout: 600_000 },
    async (...kinds: FileErrorCode[]) => {
      const here = await scene();
      here.install.interpreter = { path: '/bin/true', version: null };
      if (action === 'revert') await change(await session(here), agree({ carrier }));
      const wanted = options({ do: action, carrier: action === 'apply' ? carrier : null });
      const old = await snapshot(here.folder, records);
      const steps: string[] = [];
      const counting = faultHost(testHost(), ({ method }) => void steps.push(method));
      await change(await session(here, { host: counting }), {
        options: wanted,
        saved: null,
        consent: async () => true,
      });
      const now = await snapshot(here.folder, records);
      const back = options({
        do: action === 'apply' ? 'revert' : 'apply',
        carrier: action === 'apply' ? null : carrier,
      });
      const seen = new Set<string>();
      for (const at of gateShare(
        [...steps.keys()],
        2,
        cases.findIndex((each) => each.action === action),
      )) {
        await change(await session(here), { options: back, saved: null, consent: async () => true });
        const code = kinds[at % kinds.length] as FileErrorCode;
        const host = faultHost(testHost(), ({ number, args }) => {
          if (number === at) throw new FileError(code, String(args[0]), `${code} at step ${at}`);
        });
        const failed = await change(await session(here, { host }), {
          options: wanted,
          saved: null,
          consent: async () => true,
        }).then(
          () => null,
          (error: CompatError | FileError) => error,
        );
        const after = await snapshot(here.folder, records);
        const where = `step ${at} (${steps[at] ?? ''}): ${failed?.message ?? 'no error'}`;
        if (failed === null) expect(after, where).toEqual(now);
        else if ('kind' in failed && failed.kind === 'half-done') {
          await recoverFirst(await session(here));
          expect(await snapshot(here.folder, records), where).toEqual(now);
        } else expect(after, where).toEqual(old);
        seen.add(failed === null ? 'fine' : 'kind' in failed ? failed.kind : failed.name);
        await recoverFirst(await session(here));
        const traces = Object.keys(await snapshot(here.folder)).filter((path) =>
          /journal|lock|\.hermes-compat-/.test(path),
        );
        expect(traces, where).toEqual([]);
      }
      expect([...seen]).toContain('rolled-back');
    },
  );
});

test('a rename that fails, and then the way back too: exit 6 names the journal, the next run ends it', async () => {
  const here = await scene();
  const before = await snapshot(here.folder);
  let renames = 0;
  const host = faultHost(testHost(), ({ method, args }) => {
    if (method === 'rename' && String(args[1]).endsWith('web_server.py')) renames++;
    if (renames > 0 && method !== 'mkdir')
      throw new FileError('other', String(args[0]), 'input/output error');
  });
  await expect(change(await session(here, { host }), agree({ carrier: 'source' }))).rejects.toMatchObject({
    kind: 'half-done',
    details: { finding: 'JOURNAL_UNFINISHED', journal: join(here.home.root, 'desktop-compat/journal') },
  });
  const recovered = await recoverFirst(await session(here));
  expect(recovered?.outcome).toBe('rolled-back');
  expect(await snapshot(here.folder, records)).toEqual(before);
});

test('a file that somebody changed after a cut is left alone and named; the journal stays', async () => {
  const here = await scene();
  const server = join(here.install.packageDir, 'web_server.py');
  const old = await readFile(server, 'utf8');
  let dead = false;
  const host = faultHost(testHost(), ({ method, args }) => {
    dead ||= method === 'rename' && String(args[1]) === server;
    if (dead) throw new FileError('cut', String(args[0]), 'the connection was cut');
  });
  const cut = change(await session(here, { host }), agree({ carrier: 'source' }));
  await expect(cut).rejects.toMatchObject({ kind: 'half-done' });
  await writeFile(server, `${old}# somebody\n`);
  await expect(recoverFirst(await session(here))).rejects.toMatchObject({
    kind: 'half-done',
    message: expect.stringContaining(`${server} was changed by another program since`),
  });
  expect(await readFile(server, 'utf8')).toBe(`${old}# somebody\n`);
  await writeFile(server, old);
  expect((await recoverFirst(await session(here)))?.outcome).toBe('rolled-back');
});

test('bytes that do not compile never reach the disk', async () => {
  const here = await scene();
  const before = await snapshot(here.folder);
  const broken = await session(here);
  for (const patch of broken.catalogue.patches) patch.includeText = patch.includeText.replace('try:', 'try');
  await expect(change(broken, agree({ carrier: 'source' }))).rejects.toMatchObject({
    kind: 'rolled-back',
    message: expect.stringMatching(/web_server\.py would not work/),
  });
  expect(await snapshot(here.folder)).toEqual(before);
});

test('a file that did not compile before is refused, and named', async () => {
  const here = await scene();
  const server = join(here.install.packageDir, 'web_server.py');
  await writeFile(server, `${await readFile(server, 'utf8')}\ndef broken(:\n`);
  await expect(change(await session(here), agree({ carrier: 'source' }))).rejects.toMatchObject({
    kind: 'refused',
    details: { finding: 'ENGINE_BROKEN_PACKAGE' },
  });
});

test('a check that fails takes everything back', async () => {
  const here = await scene();
  const before = await snapshot(here.folder);
  for (const carrier of ['overlay', 'source'] as const) {
    const failing = await session(here, {
      verify: async () => ({
        ok: false,
        steps: [{ step: 'GET /api/ws', ok: false, saw: 'HTTP/1.1 403' }],
        log: 'boom',
      }),
    });
    await expect(change(failing, agree({ carrier }))).rejects.toMatchObject({
      kind: 'rolled-back',
      message: expect.stringMatching(/GET \/api\/ws: HTTP\/1\.1 403.*boom.*everything is as it was/),
    });
    expect(await snapshot(here.folder)).toEqual(before);
  }
});

test('an interrupt before the end takes everything back', async () => {
  const here = await scene();
  const before = await snapshot(here.folder);
  const controller = new AbortController();
  const run = await session(here, {
    signal: controller.signal,
    verify: async () => {
      controller.abort();
      return { ok: true, steps: [], log: '' };
    },
  });
  await expect(change(run, agree())).rejects.toMatchObject({ kind: 'interrupted' });
  expect(await snapshot(here.folder)).toEqual(before);
});

describe.runIf(isRoot)('a real disk', () => {
  const mount = async (at: string, ...args: string[]): Promise<void> => {
    await run('mount', [...args, at]);
    mounts.push(at);
  };

  test.each(['overlay', 'source'] as const)('full: %s leaves all as it was', async (carrier) => {
    const here = await scene();
    const small = carrier === 'overlay' ? here.home.path : join(here.folder, 'site-packages');
    const server = await readFile(join(here.install.packageDir, 'web_server.py'));
    await mount(small, '-t', 'tmpfs', '-o', 'size=64k,mode=0700', 'tmpfs');
    if (carrier === 'source') {
      await mkdir(here.install.packageDir);
      await writeFile(join(here.install.packageDir, 'web_server.py'), server);
    }
    const filler = join(small, 'filler');
    // The less is free, the earlier it fails; each amount is tried until it fits.
    for (let free = 0; ; free += 4096) {
      const before = await snapshot(here.folder, ['filler', 'desktop-compat']);
      await rm(filler, { force: true });
      const { stdout } = await run('df', ['--output=avail', '-B1', small]);
      const available = Number(stdout.split('\n')[1]);
      await writeFile(filler, Buffer.alloc(Math.max(0, available - free)));
      const error = await change(await session(here), agree({ carrier })).then(
        () => null,
        (failure: CompatError) => failure,
      );
      if (error === null) break;
      expect(error.message).toMatch(/space/i);
      await rm(filler, { force: true });
      if (error.kind === 'half-done') await recoverFirst(await session(here));
      else expect(await snapshot(here.folder, ['filler', 'desktop-compat'])).toEqual(before);
      expect(free).toBeLessThan(64 * 1024);
    }
  });

  test('read-only: refused before anything is tried, with the alternative', async () => {
    const here = await scene();
    await mount(join(here.folder, 'site-packages'), '--bind', join(here.folder, 'site-packages'));
    await run('mount', ['-o', 'remount,ro,bind', join(here.folder, 'site-packages')]);
    await expect(change(await session(here), agree({ carrier: 'source' }))).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringMatching(/read-only file system[\s\S]*overlay/),
      details: { finding: 'READ_ONLY_FS' },
    });
    expect((await change(await session(here), agree())).changed).toBe(true);
  });

  test('of another user: refused, with the owner', async () => {
    const here = await scene();
    await run('chown', ['-R', '12345', join(here.folder, 'site-packages')]);
    await expect(change(await session(here), agree({ carrier: 'source' }))).rejects.toMatchObject({
      details: { finding: 'NOT_OWNER' },
      message: expect.stringContaining('12345'),
    });
  });
});

describe.runIf(!isRoot)('without the right to write', () => {
  test('refused before anything is tried', async () => {
    const here = await scene();
    await chmod(here.install.packageDir, 0o555);
    await expect(change(await session(here), agree({ carrier: 'source' }))).rejects.toMatchObject({
      details: { finding: 'NOT_WRITABLE' },
    });
    await chmod(here.install.packageDir, 0o755);
  });
});

describe('planted', () => {
  test('a link where our records belong: refused, nothing is written through it', async () => {
    for (const place of [
      'desktop-compat',
      'desktop-compat/journal',
      'desktop-compat/lock',
      'desktop-compat/backups',
    ]) {
      const here = await scene();
      const elsewhere = join(here.folder, 'elsewhere');
      await mkdir(elsewhere);
      await mkdir(join(here.home.path, 'desktop-compat'), { recursive: true });
      if (place === 'desktop-compat') await rm(join(here.home.path, place), { recursive: true });
      await symlink(elsewhere, join(here.home.path, place));
      const before = await snapshot(here.folder);
      // Without an original there is no backup to keep, so the source carrier is the one that meets them all.
      await expect(change(await session(here), agree({ carrier: 'source' })), place).rejects.toMatchObject({
        details: { finding: expect.stringMatching(/NOT_OWNER|JOURNAL_UNFINISHED/) },
      });
      expect(Object.keys(await snapshot(elsewhere)), place).toEqual([]);
      if (place !== 'desktop-compat/backups') expect(await snapshot(here.folder), place).toEqual(before);
    }
  });

  test.runIf(isRoot)('a records folder of another user, or open to all: refused', async () => {
    for (const spoil of [
      (path: string) => run('chown', ['12345', path]),
      (path: string) => chmod(path, 0o777),
    ]) {
      const here = await scene();
      const folder = join(here.home.path, 'desktop-compat');
      await mkdir(folder);
      await spoil(folder);
      await expect(change(await session(here), agree())).rejects.toMatchObject({
        details: { finding: 'NOT_OWNER' },
      });
      expect((await stat(join(here.home.path, 'desktop-compat'))).isDirectory()).toBe(true);
      expect(Object.keys(await snapshot(folder))).toEqual([]);
    }
  });

  test('a tree file that is a link out of the install: refused', async () => {
    const here = await scene();
    const server = join(here.install.packageDir, 'web_server.py');
    const away = join(here.folder, 'away.py');
    await writeFile(away, await readFile(server));
    await rm(server);
    await symlink(away, server);
    await expect(change(await session(here), agree({ carrier: 'source' }))).rejects.toMatchObject({
      details: { finding: 'SEALED_INSTALL' },
      message: expect.stringContaining('outside the install'),
    });
  });
});
