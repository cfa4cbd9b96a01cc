import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { Duplex } from 'node:stream';
import { withoutHermes } from './config.ts';
import { sshError } from './failures.ts';
import type { HopSettings } from './settings.ts';

/** @throws CompatError SSH_UNREACHABLE */
export function tcpSocket(
  { hostName, port, family }: HopSettings,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Duplex> {
  const where = `${hostName}:${port}`;
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostName, port, family });
    const fail = (why: string, cause?: unknown): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(
        sshError('SSH_UNREACHABLE', `${where} cannot be reached: ${why}`, { host: where, why }, { cause }),
      );
    };
    const timer = setTimeout(() => fail(`no answer within ${timeoutMs / 1000} s`), timeoutMs);
    signal?.addEventListener('abort', () => fail('interrupted', signal.reason), { once: true });
    socket.once('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message, error));
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.setNoDelay(true);
      resolve(socket);
    });
  });
}

/** A ProxyCommand as a byte stream. Run by `sh`, as OpenSSH does, and only when that was allowed. */
export function commandSocket(command: string, env: Record<string, string | undefined>): Duplex {
  const child = spawn('/bin/sh', ['-c', `exec ${command}`], {
    env: withoutHermes(env),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const stream = Duplex.from({ readable: child.stdout, writable: child.stdin });
  child.once('error', (error) => stream.destroy(error));
  stream.once('close', () => child.kill());
  return stream;
}
