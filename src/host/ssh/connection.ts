import type { Duplex } from 'node:stream';
import type { Algorithms, Client, ConnectConfig } from 'ssh2';
import { CompatError } from '../../errors.ts';
import { authentication } from './auth.ts';
import { stepClock } from './clock.ts';
import { sshError } from './failures.ts';
import { hostKeyCheck } from './host-key.ts';
import type { HopSettings } from './settings.ts';
import type { Questions } from './types.ts';

type Ssh2 = typeof import('ssh2');

export interface HopOptions {
  acceptNewHostKey: boolean;
  questions: Questions;
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

/** How often the server is asked whether it is still there, and how many silences end the connection. */
const keepaliveMs = 10_000;
const keepaliveMisses = 3;

/**
 * One authenticated connection over the byte stream that is opened for it. Nothing of the user is sent before the host key has been verified.
 *
 * @throws CompatError with a code of the SSH section of CODES.md
 */
export async function connectHop(
  ssh2: Ssh2,
  settings: HopSettings,
  openSocket: () => Promise<Duplex>,
  options: HopOptions,
): Promise<Client> {
  const name = `${settings.user}@${settings.hostName}:${settings.port}`;
  const client = new ssh2.Client();
  const hostKey = await hostKeyCheck(settings, options.acceptNewHostKey);
  let refusal: unknown = null;
  let finish: (error: unknown) => void = () => {};
  const clock = stepClock(settings.connectTimeoutMs ?? options.timeoutMs, () => finish(lateError(name)));
  try {
    const auth = await authentication(ssh2, settings, options.questions, (wait) => clock.pauseFor(wait));
    // Last, so that a server which hangs up at once is heard.
    const socket = await openSocket();
    clock.step();
    const config: ConnectConfig = {
      sock: socket,
      username: settings.user,
      readyTimeout: 0,
      keepaliveInterval: keepaliveMs,
      keepaliveCountMax: keepaliveMisses,
      ...(hostKey.prefer === null
        ? {}
        : { algorithms: { serverHostKey: hostKey.prefer as NonNullable<Algorithms['serverHostKey']> } }),
      hostVerifier: (key: Buffer, give: (valid: boolean) => void) => {
        clock.step();
        hostKey.verify(key).then(
          () => give(true),
          (error: unknown) => {
            refusal = error;
            give(false);
          },
        );
      },
      authHandler: (offered, partial, next) => {
        clock.step();
        auth.handler(offered, partial, next);
      },
      debug: (line) => {
        const [, methods] = /Received USERAUTH_FAILURE \((.*)\)/.exec(line) ?? [];
        if (methods !== undefined) auth.serverOffers(methods.split(','));
      },
    };
    await new Promise<void>((resolve, reject) => {
      finish = (error) => {
        socket.destroy();
        reject(error);
      };
      client.once('ready', resolve);
      // Stays for the life of the client: an error event that nobody hears ends the process.
      client.on('error', (error) =>
        finish(refusal ?? connectError(name, error, (cause) => auth.failure(cause))),
      );
      client.once('close', () => finish(refusal ?? closedError(name)));
      options.signal?.addEventListener('abort', () => finish(interrupted(name)), { once: true });
      if (options.signal?.aborted === true) return finish(interrupted(name));
      client.connect(config);
    });
    return client;
  } finally {
    clock.stop();
  }
}

const interrupted = (name: string): CompatError => new CompatError('interrupted', `${name}: interrupted`);

const lateError = (name: string): CompatError =>
  sshError('SSH_UNREACHABLE', `${name} does not answer as an SSH server`, { host: name, why: 'silent' });

const closedError = (name: string): CompatError =>
  sshError('SSH_UNREACHABLE', `${name} closed the connection before the login was done`, {
    host: name,
    why: 'closed',
  });

/** ssh2 tells causes apart by `level`, some only by their text. */
function connectError(
  name: string,
  error: Error & { level?: string; code?: unknown },
  authFailure: (cause: unknown) => CompatError,
): CompatError {
  const { level, message } = error;
  if (level === 'client-authentication' || level === 'agent' || /authentication failures/i.test(message))
    return authFailure(error);
  if (/no matching/i.test(message)) {
    return sshError(
      'SSH_KEX_MISMATCH',
      `${name}: ${message}. The system's ssh may know more algorithms: --ssh-command.`,
      { host: name, why: message },
      { cause: error },
    );
  }
  const why =
    level === 'protocol' && /before handshake/.test(message) ? 'not an SSH server, or full' : message;
  return sshError('SSH_UNREACHABLE', `${name} cannot be used: ${why}`, { host: name, why }, { cause: error });
}
