import { connect, createServer, type Socket } from 'node:net';

/** A TCP proxy on loopback that is slow, or that fails when told to. */
export interface Proxy {
  port: number;
  /** Bytes that clients have sent. */
  sent(): number;
  /** From now on: after so many further bytes from the client, the connection ends in this way. */
  failAfter(bytes: number, how: 'close' | 'reset' | 'stall'): void;
  /** Failing is over for new connections. */
  heal(): void;
  close(): void;
}

/** @param delayMs each way */
export async function proxyTo(port: number, delayMs = 0): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let sent = 0;
  let limit = Infinity;
  let failure: 'close' | 'reset' | 'stall' = 'close';
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ port, host: '127.0.0.1', noDelay: true });
    let failed = false;
    const fail = (): void => {
      failed = true;
      if (failure === 'stall') return;
      for (const socket of [client, upstream]) {
        if (failure === 'reset') socket.resetAndDestroy();
        else socket.end();
      }
    };
    const forward = (from: Socket, to: Socket, count: boolean): void => {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        setTimeout(() => to.end(), delayMs);
      });
      from.on('data', (chunk: Buffer) => {
        if (failed) return;
        const passed = count ? chunk.subarray(0, Math.max(0, limit - sent)) : chunk;
        if (count) sent += passed.length;
        if (passed.length > 0) setTimeout(() => to.writable && to.write(passed), delayMs);
        if (count && passed.length < chunk.length) setTimeout(fail, delayMs + 5);
      });
    };
    forward(client, upstream, true);
    forward(upstream, client, false);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { port: number }).port,
    sent: () => sent,
    failAfter: (bytes, how) => {
      limit = sent + bytes;
      failure = how;
    },
    heal: () => (limit = Infinity),
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
