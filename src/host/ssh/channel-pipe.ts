import type { ClientChannel } from 'ssh2';
import type { Pipe, PipeEnd } from './types.ts';

/** A channel of ssh2 as a Pipe. Call it as soon as there is a channel: one that ends at once has its end in the same packet. */
export function channelPipe(channel: ClientChannel, gone: Promise<void>): Pipe {
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
