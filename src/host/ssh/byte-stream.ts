import { Duplex, type Readable, type Writable } from 'node:stream';

/**
 * One stream, with the habits of a `net.Socket` that HTTP and WebSocket clients count on: `destroy` gives `close`, a cut
 * line is ECONNRESET. Channels of ssh2 do neither.
 *
 * @param line `gone` settles when the line is cut, which `isGone` tells at once: input ends then too
 * @param release lets go of the other side; called once
 */
export function byteStream(
  input: Readable,
  output: Writable,
  line: { gone: Promise<unknown>; isGone(): boolean },
  release: () => void,
): Duplex {
  const stream = new Duplex({
    read: () => void input.resume(),
    write: (chunk: Buffer, _encoding, done) => void output.write(chunk, () => done()),
    final: (done) => {
      output.end();
      done();
    },
    destroy: (error, done) => {
      release();
      done(error);
    },
  });
  // Who has let go of the stream need not hear that the line is gone.
  stream.on('error', () => {});
  input.on('data', (chunk: Buffer) => {
    if (!stream.push(chunk)) input.pause();
  });
  const reset = (): unknown =>
    stream.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
  input.on('end', () => (line.isGone() ? reset() : stream.push(null)));
  for (const side of [input, output]) side.on('error', (error) => stream.destroy(error));
  void line.gone.then(() => {
    if (!input.readableEnded) reset();
  });
  const same = (): Duplex => stream;
  return Object.assign(stream, {
    setTimeout: same,
    setNoDelay: same,
    setKeepAlive: same,
    ref: same,
    unref: same,
  });
}
