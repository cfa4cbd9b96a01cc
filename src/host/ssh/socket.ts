import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { Duplex } from 'node:stream';
import type { CompatError } from '../../errors.ts';
import { withoutHermes } from './config.ts';
import { interrupted, sshError } from './failures.ts';
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
    const fail = (error: CompatError): void => {
      settled();
      socket.destroy();
      reject(error);
    };
    const late = (): void => fail(unreachable(where, `no answer within ${timeoutMs / 1000} s`));
    const abort = (): void => fail(interrupted(where));
    const timer = setTimeout(late, timeoutMs);
    const settled = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    };
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted === true) return abort();
    socket.once('error', (error: NodeJS.ErrnoException) =>
      fail(unreachable(where, error.code ?? error.message, error)),
    );
    socket.once('connect', () => {
      settled();
      socket.setNoDelay(true);
      resolve(socket);
    });
  });
}

const unreachable = (where: string, why: string, cause?: unknown): CompatError =>
  sshError('SSH_UNREACHABLE', `${where} cannot be reached: ${why}`, { host: where, error: why }, { cause });

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
