import { connect } from 'node:net';

/** True when a loopback port refuses at once. Anything else (open, silent, another host) is left to the probe. */
export function isPortClosed(url: string): Promise<boolean> {
  const { hostname, port, protocol } = new URL(url);
  if (hostname !== '127.0.0.1' && hostname !== 'localhost' && hostname !== '[::1]')
    return Promise.resolve(false);
  return new Promise((resolve) => {
    const socket = connect({
      host: hostname.replaceAll(/[[\]]/g, ''),
      port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
    });
    const answer = (closed: boolean): void => {
      socket.destroy();
      resolve(closed);
    };
    socket.setTimeout(200, () => answer(false));
    socket.once('connect', () => answer(false));
    socket.once('error', (error: NodeJS.ErrnoException) =>
      answer(error.code === 'ECONNREFUSED' || hasOnlyRefusals(error)),
    );
  });
}

/** `localhost` has two addresses: both refused. */
const hasOnlyRefusals = (error: unknown): boolean =>
  error instanceof AggregateError &&
  error.errors.every((each) => (each as NodeJS.ErrnoException).code === 'ECONNREFUSED');
