import type { Duplex } from 'node:stream';

type Connect = (host: string, port: number, signal?: AbortSignal) => Promise<Duplex>;

/** As many as a look at a dashboard opens at once after its first request. */
const spares = 6;

/** An end that came while nobody read shows when it is asked for: a dashboard that was restarted has left such tunnels. */
async function isOpen(stream: Duplex): Promise<boolean> {
  stream.read(0);
  await new Promise((resolve) => setImmediate(resolve));
  return !stream.destroyed && !stream.readableEnded;
}

/**
 * On a slow line, the first tunnel to a port brings spare ones: those who look at a dashboard need several right after the first
 * answer, and each would cost a round trip then.
 *
 * @param isSlow asked at each first tunnel
 */
export function withSpares(connect: Connect, isSlow: () => boolean): Connect {
  const waiting = new Map<string, Promise<Duplex | null>[]>();
  return async (host, port, signal) => {
    signal?.throwIfAborted();
    const key = `${host} ${port}`;
    const known = waiting.get(key);
    if (known === undefined) {
      const first = connect(host, port, signal);
      const count = isSlow() ? spares : 0;
      waiting.set(
        key,
        Array.from({ length: count }, () => connect(host, port).catch(() => null)),
      );
      return first;
    }
    for (let spare = known.shift(); spare !== undefined; spare = known.shift()) {
      const stream = await spare;
      if (stream !== null && (await isOpen(stream))) return stream;
      stream?.destroy();
    }
    return connect(host, port, signal);
  };
}
