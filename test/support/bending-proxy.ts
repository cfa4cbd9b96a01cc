import { connect, createServer, type Socket } from 'node:net';

/** What a proxy does to the head of each request: another head, or an answer of its own. */
export type Bend = (head: string) => string | { answer: string };

export interface BendingProxy {
  port: number;
  /** From now on new connections are refused. */
  stopListening(): void;
  close(): void;
}

/**
 * A proxy on `listen` in front of a port of `to` that bends the head of each connection's first request, as misconfigured
 * proxies do. `from` is the address that it connects from.
 */
export async function bendingProxy(
  port: number,
  bend: Bend,
  { listen = '127.0.0.1', from = '127.0.0.1', to = '127.0.0.1' } = {},
): Promise<BendingProxy> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    keep(client);
    let head = '';
    const onData = (chunk: Buffer): void => {
      head += chunk.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      client.off('data', onData);
      // One request a connection, so that every head is bent.
      const bent = bend(head);
      if (typeof bent !== 'string') return void client.end(bent.answer);
      const upstream = keep(connect({ port, host: to, localAddress: from }));
      upstream.write(oneRequest(bent), 'latin1');
      client.pipe(upstream).pipe(client);
    };
    client.on('data', onData);
  });
  await new Promise<void>((resolve) => server.listen(0, listen, resolve));
  return {
    port: (server.address() as { port: number }).port,
    stopListening: () => void server.close(),
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

const oneRequest = (head: string): string =>
  /^upgrade:/im.test(head) ? head : head.replace(/^connection:.*$/im, 'Connection: close');

/** An answer as a proxy writes it. */
export const htmlAnswer = (
  status: string,
  body = `<html><title>${status}</title></html>`,
): { answer: string } => ({
  answer: `HTTP/1.1 ${status}\r\nServer: nginx\r\nContent-Type: text/html\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
});

export const isUpgrade = (head: string): boolean => /^upgrade:/im.test(head);
