import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe } from 'vitest';

import { shellHost } from '../../src/host/ssh/host.ts';
import { openShells } from '../../src/host/ssh/shells.ts';
import type { SshNote, Transport } from '../../src/host/ssh/types.ts';
import { bsdTools, withoutProc } from '../support/bsd-tools.ts';
import { hostContract, type Subject } from './contract.ts';
import { isFull } from '../support/full.ts';

/** What `/bin/sh` is elsewhere: bash on Red Hat, Arch and macOS, BusyBox on Alpine. Debian's dash is what the sshd tests meet. */
const shells: [string, string[], boolean][] = [
  ['bash', ['/bin/bash', '--posix', '-s'], true],
  ['BusyBox', ['/bin/busybox', 'sh', '-s'], isFull],
  ['mksh', ['/usr/bin/mksh', '-s'], isFull],
  ['zsh as sh', ['/usr/bin/zsh', '--emulate', 'sh', '-s'], isFull],
];

/** The remote protocol over a child of ours: everything of it but SSH. */
function childTransport([command = '', ...args]: string[], env: Record<string, string>): Transport {
  return {
    name: command,
    open: async (_command, input) => {
      const child = spawn(command, args, { env, stdio: 'pipe' });
      child.stdin.on('error', () => {});
      child.stdin.write(input);
      const end = (): void => void child.kill('SIGKILL');
      return {
        stdin: child.stdin,
        stdout: child.stdout,
        stderr: child.stderr,
        ended: new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal }))),
        close: end,
        kill: end,
      };
    },
    connect: (host, port) =>
      new Promise((resolve, reject) => {
        const socket = connect({ host, port });
        socket.once('connect', () => resolve(socket));
        socket.once('error', reject);
      }),
    reverse: async () => ({ port: 0, close: async () => {} }),
    files: async () => null,
    close: async () => {},
  };
}

/** A host behind that transport; it ends with its folder. */
const subject = async (transport: ReturnType<typeof childTransport>, dir: string): Promise<Subject> => {
  const notes: SshNote[] = [];
  const shells = await openShells(transport, { become: null, timeoutMs: 8000 }, notes);
  const host = shellHost(transport, shells, notes);
  const end = async (): Promise<void> => {
    await host.close();
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  };
  return { host, dir, end };
};

const over = (argv: string[], applets: boolean) => async (): Promise<Subject> => {
  const dir = await mkdtemp(join(tmpdir(), 'hc-shell-'));
  const bin = join(dir, 'bin');
  // BusyBox brings its own tools: they come first, as they are alone on the systems that have them.
  if (applets) {
    const names = [
      'stat',
      'readlink',
      'mv',
      'head',
      'base64',
      'mkdir',
      'rm',
      'rmdir',
      'chmod',
      'awk',
      'ls',
      'sync',
      'cat',
      'sed',
      'env',
      'id',
    ];
    await mkdir(bin);
    for (const name of names) await symlink('/bin/busybox', join(bin, name));
  }
  const env = { PATH: `${applets ? `${bin}:` : ''}/usr/local/bin:/usr/bin:/bin`, HOME: dir };
  const transport = childTransport(argv, env);
  return subject(transport, dir);
};

/** A Mac as far as scripts see it: its tools, no /proc, and bash as /bin/sh. */
const mac = async (): Promise<Subject> => {
  const dir = await mkdtemp(join(tmpdir(), 'hc-mac-'));
  const bin = await bsdTools(dir);
  const transport = childTransport([...withoutProc(dir), '/bin/bash', '--posix', '-s'], {
    PATH: bin,
    HOME: dir,
  });
  return { ...(await subject(transport, dir)), os: 'darwin' };
};

describe('the remote protocol', () => {
  describe.runIf(process.getuid?.() === 0 && existsSync('/usr/bin/unshare'))('behind', () =>
    hostContract('the tools of a Mac', mac),
  );
  for (const [name, argv, now] of shells)
    describe.runIf(now && existsSync(argv[0] as string))('behind', () =>
      hostContract(name, over(argv, name === 'BusyBox')),
    );
});
