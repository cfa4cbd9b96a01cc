import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface TicketProxy {
  port: number;
  /** Upgrades with a ticket that came. */
  upgrades(): number;
  close(): void;
}

/**
 * In front of a gated engine on `host`: what happens to the ticket of the first upgrade on its way. `used`: somebody else was
 * faster with it; `late`: it arrives after so many milliseconds.
 */
export async function ticketProxy(
  host: string,
  port: number,
  how: 'used' | { lateMs: number },
): Promise<TicketProxy> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  };
  const engine = (): Socket => keep(connect({ host, port, localAddress: '127.0.0.1' }));
  let upgrades = 0;
  const forward = async (client: Socket, head: Buffer): Promise<void> => {
    if (/^GET \S+[?&]ticket=/.test(head.toString('latin1'))) {
      upgrades += 1;
      if (upgrades === 1) await (how === 'used' ? useUp(engine(), head) : sleep(how.lateMs));
    }
    const upstream = engine();
    upstream.write(head);
    client.pipe(upstream).pipe(client);
  };
  const server = createServer((client) => {
    keep(client).once('data', (head: Buffer) => {
      client.pause();
      void forward(client, head);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return {
    port: (server.address() as { port: number }).port,
    upgrades: () => upgrades,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The same upgrade, a moment earlier. */
const useUp = (socket: Socket, head: Buffer): Promise<void> =>
  new Promise((resolve) => {
    socket.once('data', () => {
      socket.destroy();
      resolve();
    });
    socket.once('close', () => resolve());
    socket.write(head);
  });
