import type { Redactor } from './redact.ts';
import type { NetworkError } from './exchange-schema.ts';

interface Raw {
  phase?: NetworkError['phase'];
  code?: string;
  message?: string;
  syscall?: string;
  rawPacket?: Buffer;
}

/** An error of a socket, of node:http, of ws or of our own, in the words of the facts. */
export function networkError(error: unknown, phase: NetworkError['phase'], redact: Redactor): NetworkError {
  const raw = (typeof error === 'object' && error !== null ? error : { message: String(error) }) as Raw;
  const { code, message } = worded(raw);
  return { phase: raw.phase ?? phase, code: redact.text(code, 60), message: redact.text(message) };
}

function worded(raw: Raw): { code: string; message: string } {
  const code = typeof raw.code === 'string' && raw.code !== '' ? raw.code : 'ERROR';
  const message = typeof raw.message === 'string' && raw.message !== '' ? raw.message : code;
  // node:http says ECONNRESET for a plain end too; only a real reset comes from a system call.
  if (code === 'ECONNRESET' && raw.syscall === undefined && raw.phase === undefined)
    return { code: 'CLOSED', message: 'closed without a whole answer' };
  if (code.startsWith('HPE_') && raw.rawPacket !== undefined) return notHttp(raw.rawPacket, code, message);
  const reason = code === 'EPROTO' ? /SSL routines:[^:]*:([a-z0-9 /_-]+)/i.exec(message)?.[1] : undefined;
  if (reason !== undefined)
    return { code: `ERR_SSL_${reason.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}`, message };
  return { code, message };
}

/** What speaks when it is not HTTP/1: the first bytes tell. Frame header of RFC 9113 §4.1, record header of RFC 8446 §5.1. */
function notHttp(bytes: Buffer, code: string, message: string): { code: string; message: string } {
  const settings =
    bytes.length >= 9 && bytes.readUIntBE(0, 3) <= 16_384 && bytes[3] === 4 && bytes.readUInt32BE(5) === 0;
  if (settings) return { code: 'HTTP2_FRAMES', message: 'answers in HTTP/2 frames' };
  if (bytes.length >= 3 && [0x14, 0x15, 0x16].includes(bytes[0] as number) && bytes[1] === 3)
    return { code: 'TLS_RECORD', message: 'answers with a TLS record' };
  if (bytes.subarray(0, 5).toString('latin1') === 'HTTP/') return { code, message };
  return { code, message: `${message}; not HTTP, begins with: ${bytes.subarray(0, 60).toString('latin1')}` };
}
