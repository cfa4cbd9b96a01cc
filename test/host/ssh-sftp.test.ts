import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { openSshHost } from '../../src/host/ssh/open.ts';
import type { SshHost } from '../../src/host/ssh/types.ts';
import { FileError } from '../../src/host/types.ts';
import { type Account, canRunSshd, finding, type Rig, sshRig } from '../support/sshd.ts';

const code = (action: Promise<unknown>): Promise<string> =>
  action.then(
    () => 'nothing thrown',
    (error: unknown) => (error instanceof FileError ? error.code : String(error)),
  );

describe.runIf(canRunSshd)('an account for SFTP only', () => {
  let rig: Rig;
  let account: Account;
  let host: SshHost;

  beforeAll(async () => {
    rig = await sshRig();
    account = await rig.account('sftp', { shell: '/usr/sbin/nologin' });
    const server = await rig.sshd(['ForceCommand internal-sftp']);
    host = await openSshHost(rig.options(server, account));
  });
  afterAll(async () => {
    await host?.close();
    await rig?.end();
  });

  it('says what cannot be done, and does the rest', async () => {
    expect(host.notes).toMatchObject(
      [{ code: 'SSH_SHELL_UNUSABLE', args: { line: /sftp connections only/ } }].map((note) => ({
        ...note,
        args: { line: expect.stringMatching(note.args.line) },
      })),
    );
    for (const action of [host.run(['true']), host.script('true'), host.identity()])
      await expect(action).rejects.toMatchObject({ details: { finding: 'SSH_SHELL_UNUSABLE' } });
    const echo = createServer((socket) => socket.pipe(socket));
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
    const stream = await host.connect('127.0.0.1', (echo.address() as { port: number }).port);
    stream.end('x');
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString()).toBe('x');
    echo.close();
  });

  it('reads and writes files byte for byte, and replaces them in one step', async () => {
    const { home } = account;
    const bytes = Buffer.from(Array.from({ length: 1_500_001 }, (_, i) => (i * 31 + (i >> 8)) & 0xff));
    for (const [name, content] of [
      ['large', bytes],
      ['empty', Buffer.alloc(0)],
    ] as const) {
      await host.createFile(`${home}/${name}`, content, 0o640);
      expect((await host.readFile(`${home}/${name}`)).equals(content)).toBe(true);
      expect(readFileSync(`${home}/${name}`).equals(content)).toBe(true);
      expect(await host.stat(`${home}/${name}`)).toMatchObject({
        kind: 'file',
        size: content.length,
        mode: 0o640,
        uid: account.uid,
      });
    }
    expect(await code(host.createFile(`${home}/large`, Buffer.from('x'), 0o600))).toBe('exists');
    await host.rename(`${home}/empty`, `${home}/large`);
    expect(statSync(`${home}/large`).size).toBe(0);
    expect(await host.stat(`${home}/empty`)).toBeNull();
    expect(await code(host.rename(`${home}/none`, `${home}/large`))).toBe('not-found');
    await host.removeFile(`${home}/large`);
    await host.removeFile(`${home}/large`);
  });

  it('tells what is there', async () => {
    const { home } = account;
    mkdirSync(`${home}/d`);
    writeFileSync(`${home}/d/f`, 'text', { mode: 0o751 });
    symlinkSync('f', `${home}/d/link`);
    symlinkSync('nowhere', `${home}/d/dangling`);
    expect((await host.readdir(`${home}/d`)).toSorted()).toEqual(['dangling', 'f', 'link']);
    expect((await host.stat(`${home}/d/link`))?.kind).toBe('symlink');
    expect((await host.stat(`${home}/d/link`, true))?.kind).toBe('file');
    expect(await host.stat(`${home}/d/dangling`, true)).toBeNull();
    expect(await host.realpath(`${home}/d/../d/link`)).toBe(`${home}/d/f`);
    expect(await host.readlink(`${home}/d/dangling`)).toBe('nowhere');
    expect(await code(host.readFile(`${home}/d`))).toBe('is-a-directory');
    expect(await code(host.readFile(`${home}/none`))).toBe('not-found');
    expect(await code(host.readFile(`${home}/d/f`, 3))).toBe('too-large');
    expect(await code(host.createFile('/etc/hc-not-ours', Buffer.from('x'), 0o600))).toBe('permission');
    await host.mkdir(`${home}/new`, 0o750);
    expect((await host.stat(`${home}/new`))?.mode).toBe(0o750);
    expect(await code(host.mkdir(`${home}/new`, 0o750))).toBe('exists');
    await host.createFile(`${home}/new/to`, Buffer.from('x'), 0o600);
    expect(await code(host.copyOwnership(`${home}/d/f`, `${home}/new/to`))).toBe('permission');
    await host.removeFile(`${home}/new/to`);
    await host.removeDir(`${home}/new`);
    await host.removeDir(`${home}/new`);
  });

  it('neither commands nor SFTP: the shell is the finding', async () => {
    const bare = await rig.sshd(['ForceCommand echo no']);
    expect(await finding(openSshHost(rig.options(bare, account)))).toBe('SSH_SHELL_UNUSABLE');
  });
});

describe.runIf(canRunSshd)('a server without SFTP', () => {
  it('is like any other', async () => {
    const rig = await sshRig();
    const server = await rig.sshd(['Subsystem none /bin/false'], { sftp: false });
    const account = await rig.account('nosftp');
    const host = await openSshHost(rig.options(server, account));
    await host.createFile(`${account.home}/a`, Buffer.from('x'), 0o600);
    expect((await host.readFile(`${account.home}/a`)).toString()).toBe('x');
    await host.close();
    await rig.end();
  });
});
