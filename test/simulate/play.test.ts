import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { type Simulator, startSimulator } from '../../src/simulate/index.ts';

/** Recorded cases as a conformance server: a client that does what the recorded one did sees what the recorded one saw. */

interface Line {
  dir: 'in' | 'out' | 'note';
  conn?: string;
  frame?: Record<string, unknown>;
  note?: string;
}

const folder = join(import.meta.dirname, '../../cases/turns');
const releaseOf: Record<string, string> = {
  'v0.14.0': '0.14.0',
  'v0.16.0': '0.16.0',
  'v0.19.0': '0.19.0',
  'iot-0.22.2': '0.22.2.post1',
};

const files = Object.keys(releaseOf).flatMap((engine) =>
  readdirSync(join(folder, engine))
    .filter((name) => /\.jsonl(\.gz)?$/.test(name))
    .map((name) => join(engine, name)),
);

const textOf = (file: string): string => {
  const bytes = readFileSync(join(folder, file));
  return (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
};

/** A socket whose frames are taken one by one. */
class Tap {
  readonly socket: WebSocket;
  readonly #frames: unknown[] = [];
  #wake = (): void => {};

  constructor(url: string) {
    this.socket = new WebSocket(url);
    this.socket.on('message', (data: Buffer) => {
      this.#frames.push(JSON.parse(data.toString()));
      this.#wake();
    });
    this.socket.on('error', () => {});
    this.socket.on('close', () => this.#wake());
  }

  async next(): Promise<unknown> {
    while (this.#frames.length === 0) {
      if (this.socket.readyState === WebSocket.CLOSED) throw new Error('the socket is closed');
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#frames.shift();
  }

  async opened(): Promise<void> {
    if (this.socket.readyState === WebSocket.CONNECTING)
      await new Promise((resolve) => this.socket.once('open', resolve));
  }
}

let engine: Simulator | null = null;
afterEach(async () => {
  await engine?.close();
  engine = null;
});

const start = async (file: string): Promise<Simulator> => {
  const release = releaseOf[file.split('/')[0] ?? ''] ?? '';
  engine = await startSimulator({ release, chat: true, play: textOf(file) });
  return engine;
};

const socketUrl = ({ url, token }: Simulator): string => `${url.replace('http', 'ws')}/api/ws?token=${token}`;

/** Answers keep their place only within what the client waits for: an aside may overtake events. */
const sorted = (frames: unknown[]): string[] => frames.map((frame) => JSON.stringify(frame)).sort();

const isEvent = (frame: unknown): boolean => typeof frame === 'object' && frame !== null && 'method' in frame;

const mirror = async (
  simulator: Simulator,
  lines: Line[],
): Promise<{ got: unknown[]; expected: unknown[] }> => {
  const taps = new Map<string, Tap>();
  const got: unknown[] = [];
  const expected: unknown[] = [];
  for (const { dir, conn = '', frame, note } of lines) {
    if (dir === 'note') {
      if (note === 'next: raw text that is not JSON') taps.get(conn)?.socket.send('not JSON');
      continue;
    }
    let tap = taps.get(conn);
    if (tap === undefined) {
      tap = new Tap(socketUrl(simulator));
      taps.set(conn, tap);
      await tap.opened();
    }
    if (dir === 'out') tap.socket.send(JSON.stringify(frame));
    else {
      expected.push(frame);
      got.push(await tap.next());
    }
  }
  for (const { socket } of taps.values()) socket.terminate();
  return { got, expected };
};

describe('recorded cases are played', () => {
  test.each(files)('%s', { timeout: 20_000 }, async (file) => {
    const simulator = await start(file);
    const lines = textOf(file)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line);
    const { got, expected } = await mirror(simulator, lines);
    expect(got.length).toBeGreaterThan(3);
    expect(sorted(got)).toEqual(sorted(expected));
    expect(got.filter(isEvent)).toEqual(expected.filter(isEvent));
  });
});
