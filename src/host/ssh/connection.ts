import type { Duplex } from 'node:stream';
import type { Algorithms, Client, ConnectConfig } from 'ssh2';
import type { CompatError } from '../../errors.ts';
import { type Authentication, authentication } from './auth.ts';
import { type Clock, stepClock } from './clock.ts';
import { interrupted, sshError } from './failures.ts';
import { type HostKeyCheck, hostKeyCheck } from './host-key.ts';
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
 * One authenticated connection over the byte stream that is opened for it. Nothing of the user is sent before the host key
 * has been verified.
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
  const hostKey = await hostKeyCheck(settings, options.acceptNewHostKey);
  let late: () => void = () => {};
  const clock = stepClock(settings.connectTimeoutMs ?? options.timeoutMs, () => late());
  try {
    const auth = await authentication(ssh2, settings, options.questions, (wait) => clock.pauseFor(wait));
    // Last, so that a server which hangs up at once is heard.
    const socket = await openSocket();
    clock.step();
    const attempt = { name, settings, socket, hostKey, auth, clock, signal: options.signal };
    return await login(new ssh2.Client(), attempt, (act) => (late = act));
  } finally {
    clock.stop();
  }
}

interface Attempt {
  name: string;
  settings: HopSettings;
  socket: Duplex;
  hostKey: HostKeyCheck;
  auth: Authentication;
  clock: Clock;
  signal: AbortSignal | undefined;
}

function login(client: Client, attempt: Attempt, onLate: (act: () => void) => void): Promise<Client> {
  const { name, socket, auth, signal } = attempt;
  let refusal: unknown = null;
  return new Promise((resolve, reject) => {
    const finish = (error: unknown): void => {
      signal?.removeEventListener('abort', abort);
      socket.destroy();
      reject(error);
    };
    const abort = (): void => finish(interrupted(name));
    onLate(() => finish(lateError(name)));
    client.once('ready', () => {
      // From here on an interruption is for the user of the connection: a change may have to be taken back over it.
      signal?.removeEventListener('abort', abort);
      resolve(client);
    });
    // Stays for the life of the client: an error event that nobody hears ends the process.
    client.on('error', (error) =>
      finish(refusal ?? connectError(name, error, (cause) => auth.failure(cause))),
    );
    client.once('close', () => finish(refusal ?? closedError(name)));
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted === true) return abort();
    client.connect(configOf(attempt, (error) => (refusal = error)));
  });
}

function configOf(
  { settings, socket, hostKey, auth, clock }: Attempt,
  refuse: (error: unknown) => void,
): ConnectConfig {
  const serverHostKey = hostKey.prefer as Algorithms['serverHostKey'] | null;
  return {
    sock: socket,
    username: settings.user,
    readyTimeout: 0,
    keepaliveInterval: keepaliveMs,
    keepaliveCountMax: keepaliveMisses,
    ...(serverHostKey ? { algorithms: { serverHostKey } } : {}),
    hostVerifier: (key: Buffer, give: (valid: boolean) => void) => {
      clock.step();
      hostKey.verify(key).then(
        () => give(true),
        (error: unknown) => {
          refuse(error);
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
}

const lateError = (name: string): CompatError =>
  sshError('SSH_UNREACHABLE', `${name} does not answer as an SSH server`, { host: name, error: 'silent' });

const closedError = (name: string): CompatError =>
  sshError('SSH_UNREACHABLE', `${name} closed the connection before the login was done`, {
    host: name,
    error: 'closed',
  });

/** ssh2 tells causes apart by `level`, some only by their text. */
function connectError(
  name: string,
  error: Error & { level?: string; code?: unknown },
  authFailure: (cause: unknown) => unknown,
): unknown {
  const { level, message } = error;
  if (level === 'client-authentication' || level === 'agent' || /authentication failures/i.test(message))
    return authFailure(error);
  if (/no matching/i.test(message)) {
    return sshError(
      'SSH_KEX_MISMATCH',
      `${name}: ${message}. The system's ssh may know more algorithms: --ssh-command.`,
      { host: name, error: message },
      { cause: error },
    );
  }
  const why =
    level === 'protocol' && /before handshake/.test(message) ? 'not an SSH server, or full' : message;
  return sshError(
    'SSH_UNREACHABLE',
    `${name} cannot be used: ${why}`,
    { host: name, error: why },
    { cause: error },
  );
}
