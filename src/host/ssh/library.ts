import type { Duplex } from 'node:stream';
import { connectHop, type HopOptions } from './connection.ts';
import { sshError } from './failures.ts';
import { type Link, linkOf } from './link.ts';
import type { HopSettings, Route } from './settings.ts';
import { commandSocket, tcpSocket } from './socket.ts';
import { withSpares } from './spare-tunnels.ts';
import type { LocalSide, Transport } from './types.ts';

/** Below this a round trip is not worth a spare tunnel. */
const slowMs = 20;

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
      links.push(linkOf(await connectHop(ssh2, hop, socket, options), hop, options.timeoutMs));
    }
  } catch (error) {
    for (const link of links.toReversed()) link.destroy();
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
    reverse: (port) => last.reverse(port),
    files: () => last.files(),
    close: async () => {
      for (const link of links.toReversed()) link.end();
      // What was written is on its way; the answer to a farewell is not worth a round trip.
      await new Promise((resolve) => setImmediate(resolve));
      for (const link of links) link.destroy();
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
    { host: where, error: code },
    { cause: error },
  );
}
