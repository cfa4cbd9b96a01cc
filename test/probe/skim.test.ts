import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import { answerThenFrames } from '../../src/probe/skim.ts';

const frame = (size: number, { opcode = 1, fin = true, masked = false, fill = 0x61 } = {}): Buffer => {
  const length =
    size < 126
      ? Buffer.from([size])
      : size < 65_536
        ? Buffer.from([126, size >> 8, size & 255])
        : Buffer.alloc(9);
  if (size >= 65_536) {
    length[0] = 127;
    length.writeBigUInt64BE(BigInt(size), 1);
  }
  if (masked) length[0] = (length[0] as number) | 0x80;
  return Buffer.concat([
    Buffer.from([(fin ? 0x80 : 0) | opcode]),
    length,
    masked ? Buffer.from([1, 2, 3, 4]) : Buffer.alloc(0),
    Buffer.alloc(size, fill),
  ]);
};

const answer = Buffer.from('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n');

/** Feeds the bytes in pieces, and gives what stays and what was let go. */
function run(bytes: Buffer, cuts: number[], least = 100, most = 1000) {
  const large: { bytes: number; first: number }[] = [];
  const filter = answerThenFrames({ least, most, onLarge: (each) => large.push(each) });
  const kept: Buffer[] = [];
  let at = 0;
  for (const cut of [...cuts, bytes.length]) {
    if (cut <= at) continue;
    kept.push(filter(bytes.subarray(at, cut)));
    at = cut;
  }
  return { kept: Buffer.concat(kept), large };
}

it('lets go of large frames only, however the bytes are cut', () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 2000 }), { maxLength: 8 });
  fc.assert(
    fc.property(sizes, fc.array(fc.nat(20_000), { maxLength: 12 }), (all, cuts) => {
      const frames = all.map((size) => frame(size, { fill: size % 256 }));
      const bytes = Buffer.concat([answer, ...frames]);
      const { kept, large } = run(
        bytes,
        cuts.toSorted((a, b) => a - b),
      );
      const isLarge = (size: number): boolean => size > 100 && size <= 1000;
      const small = frames.filter((_, at) => !isLarge(all[at] as number));
      expect(kept.equals(Buffer.concat([answer, ...small]))).toBe(true);
      expect(large).toEqual(all.filter(isLarge).map((size) => ({ bytes: size, first: size % 256 })));
    }),
  );
});

it.each([
  ['fragments', Buffer.concat([frame(500, { fin: false }), frame(500, { opcode: 0 })])],
  [
    'control frames and what has no opcode',
    Buffer.concat([frame(500, { opcode: 8 }), frame(500, { opcode: 3 })]),
  ],
  ['masked frames', frame(500, { masked: true })],
  ['a frame that is too large', frame(2000)],
])('leaves %s to the WebSocket', (_, bytes) => {
  const whole = Buffer.concat([answer, bytes]);
  expect(run(whole, [40, 60, 61])).toEqual({ kept: whole, large: [] });
});

it('leaves the body of a refusal alone', () => {
  const refusal = Buffer.concat([Buffer.from('HTTP/1.1 403 Forbidden\r\n\r\n'), frame(500)]);
  expect(run(refusal, [3, 25, 26, 100])).toEqual({ kept: refusal, large: [] });
});

it('leaves what has no end of a head alone', () => {
  const junk = Buffer.alloc(400_000, 'x');
  expect(run(junk, [65_536, 131_072, 200_000]).kept.equals(junk)).toBe(true);
});
