import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import { markerReader, type StreamEvent } from '../../src/host/ssh/markers.ts';

/** Neighbouring pieces of one kind as one, so that the cuts of the stream do not show. */
function read(chunks: Buffer[]): string[] {
  const seen: string[] = [];
  let last: StreamEvent['kind'] | null = null;
  const feed = markerReader('abc', (event) => {
    const text = event.kind === 'mark' ? `${event.name}=${event.value}` : event.bytes.toString('latin1');
    if (event.kind !== 'mark' && event.kind === last) seen.push(`${seen.pop() ?? ''}${text}`);
    else seen.push(`${event.kind}:${text}`);
    last = event.kind;
  });
  for (const chunk of chunks) feed(chunk);
  return seen;
}

const stream =
  'noise@@ab@@abc:B1:0@@data @@abd@@ more\n@@abc:M1:cwd@@\0@@abc:E1:7@@tail@@abc:B2:0@@@@abc:E2:0@@';
const expected = [
  'noise:noise@@ab',
  'mark:B1=0',
  'data:data @@abd@@ more\n',
  'mark:M1=cwd',
  'data:\0',
  'mark:E1=7',
  'noise:tail',
  'mark:B2=0',
  'mark:E2=0',
];

it('tells marks, data and noise apart', () => {
  expect(read([Buffer.from(stream)])).toEqual(expected);
});

it('wherever the stream is cut', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(stream.length), { maxLength: 12 }), (cuts) => {
      const at = [0, ...cuts.toSorted((x, y) => x - y), stream.length];
      const chunks = at.slice(1).map((end, i) => Buffer.from(stream.slice(at[i], end)));
      expect(read(chunks)).toEqual(expected);
    }),
  );
});

it('gives data at once, and holds back no more than what may begin a mark', () => {
  expect(read([Buffer.from('@@abc:B1:0@@begun\n')])).toEqual(['mark:B1=0', 'data:begun\n']);
  expect(read([Buffer.from('@@abc:B1:0@@begun@@a')])).toEqual(['mark:B1=0', 'data:begun']);
});

it('a mark that never ends is no mark', () => {
  const long = `@@abc:${'x'.repeat(200)}`;
  expect(read([Buffer.from(long), Buffer.from('@@')]).join('')).toContain('x'.repeat(100));
});
