/** What a marked stream gives, in order. `data` lies between a begin and its end; anything else is `noise`. */
export type StreamEvent =
  | { kind: 'mark'; name: string; value: string }
  | { kind: 'data'; bytes: Buffer }
  | { kind: 'noise'; bytes: Buffer };

/** Longest text between the prefix of a marker and its end. */
const longestMark = 64;

/**
 * Splits one stream of a remote shell at our markers: `@@<nonce>:NAME:VALUE@@`. A name that begins with `B` opens data, one with `E`
 * closes it. The nonce is random, so neither the login's own output nor a command's can hold one.
 */
export function markerReader(nonce: string, onEvent: (event: StreamEvent) => void): (chunk: Buffer) => void {
  const prefix = Buffer.from(`@@${nonce}:`);
  let held: Buffer = Buffer.alloc(0);
  let inside = false;
  const give = (bytes: Buffer): void => {
    if (bytes.length > 0) onEvent({ kind: inside ? 'data' : 'noise', bytes });
  };
  return (chunk) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    for (;;) {
      const start = held.indexOf(prefix);
      if (start < 0) {
        const keep = beginning(held, prefix);
        give(held.subarray(0, held.length - keep));
        held = held.subarray(held.length - keep);
        return;
      }
      const end = held.indexOf('@@', start + prefix.length);
      if (end < 0 && held.length - start < prefix.length + longestMark) {
        give(held.subarray(0, start));
        held = held.subarray(start);
        return;
      }
      give(held.subarray(0, start));
      const text = held
        .subarray(start + prefix.length, Math.max(end, start + prefix.length))
        .toString('latin1');
      held = held.subarray(end < 0 ? start + prefix.length : end + 2);
      const colon = text.indexOf(':');
      const name = colon < 0 ? text : text.slice(0, colon);
      if (name.startsWith('B')) inside = true;
      if (name.startsWith('E')) inside = false;
      onEvent({ kind: 'mark', name, value: colon < 0 ? '' : text.slice(colon + 1) });
    }
  };
}

/** How many bytes at the end of `bytes` may be the beginning of `prefix`. */
function beginning(bytes: Buffer, prefix: Buffer): number {
  for (let keep = Math.min(prefix.length - 1, bytes.length); keep > 0; keep--)
    if (bytes.compare(prefix, 0, keep, bytes.length - keep) === 0) return keep;
  return 0;
}

/** A shell command that prints a marker. The value may be a shell expansion; sums in it prove a POSIX shell. */
export const printMark = (nonce: string, name: string, value: string): string =>
  `printf '@@%s:%s:%s@@' ${nonce} ${name} "${value}"`;
