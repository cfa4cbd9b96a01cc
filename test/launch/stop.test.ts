import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import {
  ensureFolder,
  type LaunchRecord,
  newRecord,
  readRecords,
  writeRecord,
} from '../../src/launch/record.ts';
import { credentialOf, recordOf } from '../../src/launch/recorded.ts';
import { endProcess, stopLaunch } from '../../src/launch/stop.ts';
import { alive, host, scratchHome, traces } from './support.ts';

let home: string;
let child: ChildProcess;
beforeEach(async () => {
  home = await scratchHome();
});
afterEach(async () => {
  child?.kill('SIGKILL');
  await rm(home, { recursive: true, force: true, maxRetries: 5 });
});

/** A process of ours, and the record that `launch` would have of it. */
async function launched(script = 'setInterval(() => {}, 1000); console.log("up")'): Promise<LaunchRecord> {
  child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  const pid = child.pid as number;
  const folder = await ensureFolder(host, home);
  const id = '0123456789ab';
  const given = { id, host: '127.0.0.1', install: '/x', version: '0.19.0', home, log: `${folder}/${id}.log` };
  const record = {
    ...newRecord({ ...given, startedAt: '2026-11-30T10:00:00.000Z' }),
    pid,
    port: 9119,
    startTicks: readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19] ?? '',
    executable: await readlink(`/proc/${pid}/exe`),
    tokenFile: `${folder}/${id}.token`,
  };
  await writeRecord(host, home, record);
  await writeFile(record.tokenFile, 'secret\n', { mode: 0o600 });
  await writeFile(record.log, 'last words\n');
  return record;
}

test('ends the process of the record and removes record, token and log', async () => {
  const record = await launched();
  expect(await readRecords(host, home)).toEqual([record]);
  expect(await stopLaunch(host, home, record)).toBe('stopped');
  expect(alive(record.pid)).toBe(false);
  expect(await traces(home)).toEqual([]);
});

test('a pid that another process has by now is not signalled; the log of the one that died stays', async () => {
  const record = await launched();
  const stale = { ...record, startTicks: String(Number(record.startTicks) - 100) };
  expect(await stopLaunch(host, home, stale)).toBe('gone');
  expect(alive(record.pid)).toBe(true);
  expect(await traces(home)).toEqual(['0123456789ab.log']);
});

test('another executable is not signalled', async () => {
  const record = await launched();
  expect(await stopLaunch(host, home, { ...record, executable: '/usr/bin/python3.11' })).toBe('gone');
  expect(alive(record.pid)).toBe(true);
});

test('a record without start time proves nothing', async () => {
  const record = await launched();
  expect(await stopLaunch(host, home, { ...record, startTicks: null })).toBe('gone');
  expect(alive(record.pid)).toBe(true);
});

test('an executable that an update replaced is still the same process', async () => {
  const record = await launched();
  expect(await stopLaunch(host, home, { ...record, executable: `${record.executable} (deleted)` })).toBe(
    'stopped',
  );
});

test('a process that died is gone', async () => {
  const record = await launched();
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
  expect(await stopLaunch(host, home, record)).toBe('gone');
});

test('SIGKILL after the grace, when SIGTERM is ignored', async () => {
  const record = await launched(
    'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); console.log("up")',
  );
  expect(await endProcess(host, record, 1)).toBe('killed');
  expect(alive(record.pid)).toBe(false);
});

test('files that are no record of ours are left alone', async () => {
  const record = await launched();
  const folder = join(home, 'desktop-compat', 'launch');
  const bad = { ...record, id: 'fffffffffff0', pid: 1 };
  await writeFile(join(folder, 'fffffffffff0.json'), JSON.stringify(bad));
  await writeFile(join(folder, 'fffffffffff1.json'), '{"kind":"launch-record"');
  await writeFile(join(folder, 'fffffffffff2.json'), '[]');
  await writeFile(join(folder, 'fffffffffff3.json'), JSON.stringify(record));
  expect(await readRecords(host, home)).toEqual([record]);
});

test('the token of a process that launch started, by pid and start time', async () => {
  const record = await launched();
  const { pid, startTicks } = record;
  expect(await recordOf(host, home, { pid, startTicks })).toEqual(record);
  expect(await recordOf(host, home, { pid, startTicks: '1' })).toBeNull();
  expect(await recordOf(host, home, { pid: pid + 1, startTicks })).toBeNull();
  expect(await credentialOf(host, home, record)).toEqual({
    kind: 'token',
    source: 'launch-record',
    secret: 'secret',
    username: null,
    fingerprint: '2bb80d53',
  });
  // A record cannot make us read another file.
  expect(await credentialOf(host, home, { ...record, tokenFile: '/etc/hostname' })).toBeNull();
  await rm(record.tokenFile as string);
  expect(await credentialOf(host, home, record)).toBeNull();
});

test('a folder that another user could use is refused', async () => {
  await mkdir(join(home, 'elsewhere'));
  await symlink(join(home, 'elsewhere'), join(home, 'desktop-compat'));
  await expect(ensureFolder(host, home)).rejects.toMatchObject({ code: 'changed' });
  await rm(join(home, 'desktop-compat'));
  await mkdir(join(home, 'desktop-compat', 'launch'), { recursive: true, mode: 0o777 });
  await host.run(['chmod', '777', join(home, 'desktop-compat', 'launch')]);
  await expect(ensureFolder(host, home)).rejects.toMatchObject({ code: 'changed' });
});
