import type { Duplex } from 'node:stream';
import { byteStream } from './byte-stream.ts';
import type { Client, ClientChannel, SFTPWrapper } from 'ssh2';
import { commandSocket, tcpSocket } from './socket.ts';
import { connectHop, type HopOptions } from './connection.ts';
import type { FileMethods } from './file-methods.ts';
import { execWithInput } from './early-input.ts';
import { cutError, netError, sshError } from './failures.ts';
import { withSpares } from './spare-tunnels.ts';
import type { HopSettings, Route } from './settings.ts';
import type { LocalSide, Pipe, PipeEnd, Transport } from './types.ts';

/** Below this a round trip is not worth a spare tunnel. */
const slowMs = 20;

/** An account whose login hangs hangs here too. */
const mostSftpMs = 3000;

/**
 * A connection by ssh2, through every hop of the route.
 *
 * @throws CompatError with a code of the SSH section of CODES.md
 */
export async function libraryTransport(
  route: Route,
  local: LocalSide,
  options: HopOptions,
): Promise<Transport> {
  const ssh2 = (await import('ssh2')).default;
  const links: Link[] = [];
  try {
    for (const hop of route.hops) {
      const before = links.at(-1);
      const socket = (): Promise<Duplex> => nextSocket(before, hop, local, options);
      links.push(link(await connectHop(ssh2, hop, socket, options), hop, options.timeoutMs));
    }
  } catch (error) {
    for (const { client } of links.toReversed()) client.destroy();
    throw error;
  }
  const last = links.at(-1) as Link;
  return {
    name: last.name,
    open: (command, input) => last.open(command, input),
    connect: withSpares(
      (host, port, signal) => last.forward(host, port, signal),
      () => last.roundTripMs() > slowMs,
    ),
    files: () => last.files(),
    close: async () => {
      for (const { client } of links.toReversed()) client.end();
      // What was written is on its way; the answer to a farewell is not worth a round trip.
      await new Promise((resolve) => setImmediate(resolve));
      for (const { client } of links) client.destroy();
    },
  };
}

const nextSocket = async (
  before: Link | undefined,
  hop: HopSettings,
  local: LocalSide,
  { timeoutMs, signal }: HopOptions,
): Promise<Duplex> => {
  if (before === undefined) {
    if (hop.proxyCommand !== null) return commandSocket(hop.proxyCommand, local.env);
    return tcpSocket(hop, hop.connectTimeoutMs ?? timeoutMs, signal);
  }
  return before.forward(hop.hostName, hop.port, signal).catch((error: unknown) => {
    throw beyondError(before.name, hop, error);
  });
};

/** What a jump host cannot reach is unreachable like anything else. */
function beyondError(jump: string, { hostName, port }: HopSettings, error: unknown): unknown {
  const code = (error as { code?: unknown }).code;
  if (typeof code !== 'string') return error;
  const where = `${hostName}:${port}`;
  return sshError(
    'SSH_UNREACHABLE',
    `${where} cannot be reached from ${jump}: ${code}`,
    { host: where, why: code },
    { cause: error },
  );
}

interface Link {
  client: Client;
  name: string;
  gone: Promise<void>;
  open(command: string, input: string): Promise<Pipe>;
  /** At least; 0 before anything was measured. */
  roundTripMs(): number;
  files(): Promise<FileMethods | null>;
  forward(host: string, port: number, signal?: AbortSignal): Promise<Duplex>;
}

function link(client: Client, hop: HopSettings, timeoutMs: number): Link {
  const name = `${hop.user}@${hop.hostName}:${hop.port}`;
  let cause: unknown;
  client.on('error', (error) => (cause = error));
  const exec = execWithInput(client);
  let roundTripMs = 0;
  let closed = false;
  const gone = new Promise<void>((resolve) =>
    client.once('close', () => {
      closed = true;
      resolve();
    }),
  );
  /** ssh2 may never call back: when the link is cut, or when the server says nothing. */
  const raced = <T>(
    start: (give: (error: Error | undefined, value: T) => void) => unknown,
    late: (value: T) => void,
    limitMs = timeoutMs,
  ) =>
    new Promise<T>((resolve, reject) => {
      let settled = false;
      const settle = (act: () => void): void => {
        if (settled) return;
        settled = true;
        clearTimeout(timer);
        act();
      };
      const timer = setTimeout(() => settle(() => reject(cutError(name))), limitMs);
      void gone.then(() => settle(() => reject(cutError(name, cause))));
      try {
        start((error, value) => {
          if (settled && error === undefined) late(value);
          // After its end ssh2 calls back with an error like that of a server that refuses.
          settle(() =>
            error === undefined ? resolve(value) : reject(closed ? cutError(name, cause) : error),
          );
        });
      } catch (error) {
        settle(() => reject(cutError(name, error)));
      }
    });
  return {
    client,
    name,
    gone,
    open: async (command, input) => {
      const started = performance.now();
      const pipe = await raced<Pipe>(
        (give) =>
          exec(command, input, (error, channel) => {
            // A command that ends at once has its whole end behind this in the same packet: listen now.
            if (error === undefined) give(error, channelPipe(channel, gone));
            else give(error, undefined as never);
          }),
        (late) => late.close(),
      ).catch((error: unknown) => {
        throw openError(name, error);
      });
      // Opening and asking: two round trips.
      roundTripMs = (performance.now() - started) / 2;
      return pipe;
    },
    roundTripMs: () => roundTripMs,
    files: async () => {
      const sftp = await raced<SFTPWrapper>(
        (give) => client.sftp(give),
        (late) => late.end(),
        Math.min(timeoutMs, mostSftpMs),
      ).catch(() => null);
      if (sftp === null) return null;
      const { sftpFiles } = await import('./sftp-files.ts');
      return sftpFiles(sftp, name, gone, timeoutMs);
    },
    forward: async (host, port, signal) => {
      signal?.throwIfAborted();
      const channel = await raced<ClientChannel>(
        (give) => client.forwardOut('127.0.0.1', 0, host, port, give),
        (late) => late.close(),
      ).catch((error: unknown) => {
        throw forwardError(name, host, port, error);
      });
      channel.stderr.resume();
      return byteStream(channel, channel, { gone, isGone: () => closed }, () => channel.close());
    },
  };
}

function channelPipe(channel: ClientChannel, gone: Promise<void>): Pipe {
  let end: PipeEnd = { code: null, signal: null };
  channel.on('exit', (code: number | null, signal?: string) => {
    end = { code, signal: signal ?? null };
  });
  channel.on('error', () => {});
  channel.stderr.on('error', () => {});
  const closed = new Promise<void>((resolve) => channel.once('close', () => resolve()));
  return {
    stdin: channel,
    stdout: channel,
    stderr: channel.stderr,
    ended: Promise.race([closed, gone]).then(() => end),
    close: () => channel.close(),
    kill: () => channel.signal('KILL'),
  };
}

const reasonOf = (error: unknown): number | null => {
  const reason = (error as { reason?: unknown } | null)?.reason;
  return typeof reason === 'number' ? reason : null;
};

/** A server that refuses a further session is no cut link; MaxSessions of sshd does that. */
function openError(name: string, error: unknown): unknown {
  if (!(error instanceof Error) || error.name === 'CompatError') return error;
  return sshError(
    'SSH_SHELL_UNUSABLE',
    `${name} refuses to run a command: ${error.message}`,
    { host: name, said: error.message, sessions: 'refused' },
    { cause: error },
  );
}

/** Words of sshd for a port that its host cannot reach, as `node:net` codes. */
const netCodes: readonly [RegExp, string][] = [
  [/refused/i, 'ECONNREFUSED'],
  [/timed out/i, 'ETIMEDOUT'],
  [/not known|resolve|no address/i, 'ENOTFOUND'],
  [/no route/i, 'EHOSTUNREACH'],
  [/network is unreachable/i, 'ENETUNREACH'],
];

function forwardError(name: string, host: string, port: number, error: unknown): unknown {
  if (!(error instanceof Error) || error.name === 'CompatError') return error;
  // RFC 4254 §5.1: 1 is "administratively prohibited", 2 "connect failed".
  if (reasonOf(error) === 1) {
    return sshError(
      'SSH_FORWARD_FORBIDDEN',
      `${name} forbids tunnels to ${host}:${port}`,
      { host: name, port },
      { cause: error },
    );
  }
  const [, code = 'ECONNREFUSED'] = netCodes.find(([pattern]) => pattern.test(error.message)) ?? [];
  return netError(code, host, port, name, error);
}
