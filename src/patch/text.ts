import { createHash } from 'node:crypto';

export const sha256 = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex');

/** First 8 digits: enough to see that a few lines of ours were not touched. */
export const shortHash = (text: string): string => sha256(text).slice(0, 8);

/** UTF-8 with everything kept, a byte order mark too; null for bytes that are no UTF-8. */
export function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

export const encode = (text: string): Buffer => Buffer.from(text, 'utf8');

/** Start of the line that holds an offset. */
export const lineStart = (text: string, offset: number): number => text.lastIndexOf('\n', offset - 1) + 1;

/** Offset after the line break that ends the line of an offset, or the end of the text. */
export function lineEnd(text: string, offset: number): number {
  const at = text.indexOf('\n', offset);
  return at < 0 ? text.length : at + 1;
}

/** How the line at an offset ends; of a last line without an end: how the file ends its lines. */
export function lineBreakAt(text: string, offset: number): '\n' | '\r\n' {
  const end = lineEnd(text, offset);
  if (end > 0 && text[end - 1] === '\n') return text[end - 2] === '\r' ? '\r\n' : '\n';
  return /\r\n/.test(text) && !/[^\r]\n/.test(text) ? '\r\n' : '\n';
}

/** 1-based, for people. */
export const lineNumber = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

export const conflictMarker = (text: string): number | null => {
  const at = text.search(/^(?:<{7}|>{7}) /m);
  return at < 0 ? null : lineNumber(text, at);
};
