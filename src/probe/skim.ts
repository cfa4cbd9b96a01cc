import type { Duplex } from 'node:stream';

export interface LargeFrame {
  bytes: number;
  /** First byte of the payload. */
  first: number;
}

export interface Skim {
  /** Frames with more bytes than `least` and at most `most` are taken out. */
  least: number;
  most: number;
  onLarge: (frame: LargeFrame) => void;
}

/**
 * Takes large frames out of what a WebSocket reads: their bytes are counted and let go as they come, while ws would hold each of them twice.
 * Everything else goes on as it came: the answer to the upgrade, small frames, and frames over `most`, which ws refuses by their length alone.
 * Frame layout: RFC 6455 §5.2; only whole text and binary messages are taken out, fragments are left to ws.
 */
export function skim(stream: Duplex, options: Skim): void {
  const filter = answerThenFrames(options);
  const push = stream.push.bind(stream);
  stream.push = (chunk: unknown, encoding?: BufferEncoding): boolean =>
    Buffer.isBuffer(chunk) ? push(filter(chunk)) : push(chunk, encoding);
}

type Filter = (chunk: Buffer) => Buffer;

/** Lets the answer to the upgrade through, and its body when it was none; frames come only after a 101. */
export function answerThenFrames(options: Skim): Filter {
  let head = Buffer.alloc(0);
  let next: Filter | null = null;
  return (chunk) => {
    if (next !== null) return next(chunk);
    const before = head.length;
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0 && head.length < 131_072) return chunk;
    next = head.toString('latin1', 0, 12) === 'HTTP/1.1 101' ? framesWithoutLarge(options) : (same) => same;
    head = Buffer.alloc(0);
    const at = end + 4 - before;
    return Buffer.concat([chunk.subarray(0, at), next(chunk.subarray(at))]);
  };
}

function framesWithoutLarge({ least, most, onLarge }: Skim): Filter {
  let header = Buffer.alloc(0);
  let left = 0;
  let large: LargeFrame | null = null;
  return (chunk) => {
    const kept: Buffer[] = [];
    let rest = header.length === 0 ? chunk : Buffer.concat([header, chunk]);
    header = Buffer.alloc(0);
    while (rest.length > 0) {
      if (left === 0) {
        const found = headerOf(rest);
        if (found === null) {
          header = Buffer.from(rest);
          break;
        }
        left = found.bytes;
        const takeOut = found.whole && left > least && left <= most;
        large = takeOut ? { bytes: left, first: rest[found.length] ?? 0 } : null;
        if (!takeOut) kept.push(rest.subarray(0, found.length));
        rest = rest.subarray(found.length);
      }
      const payload = rest.subarray(0, left);
      if (large === null) kept.push(payload);
      else if (large.bytes === left) large.first = payload[0] ?? large.first;
      left -= payload.length;
      rest = rest.subarray(payload.length);
      if (left > 0 || large === null) continue;
      onLarge(large);
      large = null;
    }
    return kept.length === 1 ? (kept[0] as Buffer) : Buffer.concat(kept);
  };
}

/** null while it is not whole. */
function headerOf(bytes: Buffer): { length: number; bytes: number; whole: boolean } | null {
  const first = bytes[0] ?? 0;
  const second = bytes[1] ?? 0;
  const size = second & 0x7f;
  const masked = (second & 0x80) !== 0;
  const length = 2 + (size === 126 ? 2 : size === 127 ? 8 : 0) + (masked ? 4 : 0);
  if (bytes.length < 2 || bytes.length < length) return null;
  const payload =
    size === 126 ? bytes.readUInt16BE(2) : size === 127 ? Number(bytes.readBigUInt64BE(2)) : size;
  // FIN, no reserved bit, text or binary.
  return { length, bytes: payload, whole: !masked && (first === 0x81 || first === 0x82) };
}
