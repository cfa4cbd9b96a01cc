import { connect } from 'node:net';
import type { AcceptConnection, Client, ClientChannel, RejectConnection, TcpConnectionDetails } from 'ssh2';
import type { ReverseTunnel } from '../types.ts';
import { cutError, sshError } from './failures.ts';

const loopback = '127.0.0.1';

/** RFC 4254 §7: the server listens on a free loopback port, and each connection to it comes here as a channel. */
export async function reverseTunnel(
  client: Client,
  name: string,
  port: number,
  timeoutMs: number,
): Promise<ReverseTunnel> {
  const there = await askForPort(client, name, timeoutMs);
  const open = new Set<ClientChannel>();
  const onConnection = (
    { destPort }: TcpConnectionDetails,
    accept: AcceptConnection<ClientChannel>,
    reject: RejectConnection,
  ): void => {
    if (destPort !== there) return reject();
    const channel = accept();
    open.add(channel);
    join(channel, port, () => open.delete(channel));
  };
  client.on('tcp connection', onConnection);
  return {
    port: there,
    async close() {
      client.off('tcp connection', onConnection);
      for (const channel of open) channel.destroy();
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 1000);
        client.unforwardIn(loopback, there, () => {
          clearTimeout(timer);
          resolve();
        });
      });
    },
  };
}

function askForPort(client: Client, name: string, timeoutMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(cutError(name)), timeoutMs);
    client.forwardIn(loopback, 0, (error, port) => {
      clearTimeout(timer);
      if (error === undefined) resolve(port);
      else reject(reverseForbidden(name, error));
    });
  });
}

export const reverseForbidden = (name: string, cause: unknown): Error =>
  sshError(
    'SSH_FORWARD_FORBIDDEN',
    `${name} forbids reverse tunnels, so nothing there can reach this machine`,
    { host: name },
    { cause },
  );

/** Both directions; an end or an error of one side ends the other. */
function join(channel: ClientChannel, port: number, onEnd: () => void): void {
  const socket = connect(port, loopback);
  const end = (): void => {
    socket.destroy();
    channel.destroy();
    onEnd();
  };
  for (const side of [socket, channel]) {
    side.on('error', end);
    side.on('close', end);
  }
  channel.pipe(socket);
  socket.pipe(channel);
}
