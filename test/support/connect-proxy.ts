import { connect, createServer, type Socket } from 'node:net';

/** A CONNECT proxy on loopback: it makes any name lead to ports of this machine, as a remote address would. */
export interface ConnectProxy {
  url: string;
  /** `host:port` of every tunnel that was asked for. */
  asked: string[];
  /** Bytes of every request head that came. */
  heads: string[];
  close: () => Promise<void>;
}

/** @param portFor the port on 127.0.0.1 behind `host:port`; null is refused with 502 */
export async function connectProxy(
  portFor: (authority: string) => number | null,
  refusal = 'HTTP/1.1 502 Bad Gateway\r\n\r\n',
): Promise<ConnectProxy> {
  const asked: string[] = [];
  const heads: string[] = [];
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    keep(client).once('data', (head: Buffer) => {
      heads.push(head.toString('latin1'));
      const authority = /^CONNECT (\S+) HTTP\/1\.1\r\n/.exec(head.toString('latin1'))?.[1] ?? '';
      asked.push(authority);
      const port = portFor(authority);
      if (port === null) return client.end(refusal);
      const upstream = keep(
        connect(port, '127.0.0.1', () => {
          client.write('HTTP/1.1 200 Connection established\r\n\r\n');
          client.pipe(upstream).pipe(client);
        }),
      );
      upstream.on('close', () => client.destroy());
      client.on('close', () => upstream.destroy());
      return undefined;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    asked,
    heads,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
