import type { Duplex } from 'node:stream';
import type { Client, ClientChannel, SFTPWrapper } from 'ssh2';
import { byteStream } from './byte-stream.ts';
import { forwardError, openError } from './channel-errors.ts';
import { channelPipe } from './channel-pipe.ts';
import { execWithInput } from './early-input.ts';
import { cutError } from './failures.ts';
import type { FileMethods } from './file-methods.ts';
import type { ReverseTunnel } from '../types.ts';
import type { HopSettings } from './settings.ts';
import type { Pipe } from './types.ts';

/** One authenticated connection of ssh2, with calls that always come back. */
export interface Link {
  readonly name: string;
  open(command: string, input: string): Promise<Pipe>;
  forward(host: string, port: number, signal?: AbortSignal): Promise<Duplex>;
  reverse(port: number): Promise<ReverseTunnel>;
  files(): Promise<FileMethods | null>;
  /** About; 0 before anything was measured. */
  roundTripMs(): number;
  end(): void;
  destroy(): void;
}

/** An account whose login hangs hangs here too. */
const mostSftpMs = 3000;

export function linkOf(client: Client, hop: HopSettings, timeoutMs: number): Link {
  const name = `${hop.user}@${hop.hostName}:${hop.port}`;
  const line = watch(client, name);
  const exec = execWithInput(client);
  let roundTripMs = 0;
  return {
    name,
    open: async (command, input) => {
      const started = performance.now();
      const pipe = await raced<Pipe>(line, timeoutMs, (give) =>
        exec(command, input, (error, channel) =>
          give(error, error === undefined ? channelPipe(channel, line.gone) : undefined),
        ),
      ).catch((error: unknown) => {
        throw openError(name, error);
      });
      // Opening and asking: two round trips.
      roundTripMs = (performance.now() - started) / 2;
      return pipe;
    },
    forward: async (host, port, signal) => {
      signal?.throwIfAborted();
      const channel = await raced<ClientChannel>(line, timeoutMs, (give) =>
        client.forwardOut('127.0.0.1', 0, host, port, give),
      ).catch((error: unknown) => {
        throw forwardError(name, host, port, error);
      });
      channel.stderr.resume();
      return byteStream(channel, channel, line, () => channel.close());
    },
    reverse: async (port) => {
      const { reverseTunnel } = await import('./reverse-tunnel.ts');
      return reverseTunnel(client, name, port, timeoutMs);
    },
    files: async () => {
      const limitMs = Math.min(timeoutMs, mostSftpMs);
      const sftp = await raced<SFTPWrapper>(line, limitMs, (give) => client.sftp(give)).catch(() => null);
      if (sftp === null) return null;
      const { sftpFiles } = await import('./sftp-files.ts');
      return sftpFiles(sftp, name, line.gone, timeoutMs);
    },
    roundTripMs: () => roundTripMs,
    end: () => client.end(),
    destroy: () => client.destroy(),
  };
}

interface Line {
  gone: Promise<void>;
  /** Known at once, before what waits for `gone` runs. */
  isGone(): boolean;
  cut(): Error;
}

function watch(client: Client, name: string): Line {
  let cause: unknown;
  let isGone = false;
  client.on('error', (error) => (cause = error));
  const gone = new Promise<void>((resolve) =>
    client.once('close', () => {
      isGone = true;
      resolve();
    }),
  );
  return { gone, isGone: () => isGone, cut: () => cutError(name, cause) };
}

/** ssh2 may never call back: when the line is cut, or when the server says nothing. What comes too late is closed. */
function raced<T extends { close(): void } | { end(): void }>(
  line: Line,
  limitMs: number,
  start: (give: (error: Error | undefined, value: T | undefined) => void) => unknown,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let settled = false;
    const settle = (act: () => void): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      act();
    };
    const timer = setTimeout(() => settle(() => reject(line.cut())), limitMs);
    void line.gone.then(() => settle(() => reject(line.cut())));
    try {
      start((error, value) => {
        if (settled) release(value);
        // After its end ssh2 calls back with an error like that of a server that refuses.
        settle(() => {
          if (value !== undefined) resolve(value);
          else reject(line.isGone() || error === undefined ? line.cut() : error);
        });
      });
    } catch {
      settle(() => reject(line.cut()));
    }
  });
}

const release = (late: { close(): void } | { end(): void } | undefined): void => {
  if (late === undefined) return;
  if ('close' in late) late.close();
  else late.end();
};
