import { promisify } from 'node:util';
import { field, parseJson } from './json.ts';
import { pageOf, titleOf, visibleText } from './page.ts';
import type { Redactor } from './redact.ts';
import type { BodyFact } from './exchange-schema.ts';

/** Of anything but JSON only the beginning is looked at. */
const looked = 256 * 1024;

/** A body as it came off the wire. */
export interface RawBody {
  bytes: Buffer;
  /** Bytes that came; `bytes` may be only the beginning of them. */
  size: number;
  contentType: string | null;
  encoding: string | null;
  /** Why there is no more of it. `stopped`: we had enough. */
  end: 'whole' | 'too-large' | 'cut' | 'stopped';
}

/** What the facts keep, and what the probes themselves may look at. */
export interface Body {
  fact: BodyFact;
  json: unknown;
  /** The beginning; null when it is no text. */
  text: string | null;
}

export interface Keep {
  /** Public or error bodies show their beginning; protected content never does. */
  detail: boolean;
  /** Key of the list that the endpoint is about. */
  list?: string | undefined;
  cap: number;
  redact: Redactor;
}

export async function readBody(raw: RawBody, keep: Keep): Promise<Body> {
  const { bytes, problem } = await inflated(raw, keep.cap);
  const declared = declaresJson(raw.contentType);
  const kind = kindOf(bytes, raw.contentType);
  const { text, invalid } = decoded(bytes, raw.contentType, kind === 'json' ? bytes.length : looked);
  const found = problem ?? (invalid ? 'not-utf8' : null);
  const json = kind === 'json' && found === null ? parseJson(text) : null;
  const value = json?.ok === true ? json.value : undefined;
  const wrong = json?.ok === false && (declared || json.problem === 'too-large') ? json.problem : null;
  // First: a page's token must be known before anything of it is shown.
  const page = kind === 'html' ? pageOf(text, keep.redact) : null;
  const fact: BodyFact = {
    kind: kind === 'json' && json?.ok !== true && !declared ? 'text' : kind,
    contentType: raw.contentType === null ? null : keep.redact.text(raw.contentType, 100),
    bytes: raw.size,
    problem: found ?? wrong,
    keys: keysOf(value, keep.redact),
    count: countOf(value, keep.list),
    detail: keep.detail && kind !== 'binary' ? detailOf(text, kind, keep.redact) : null,
    title: kind === 'html' ? titleOf(text, keep.redact) : null,
    page,
  };
  return { fact, json: value, text: kind === 'binary' ? null : beginningOf(text) };
}

/** A copy: a slice would keep the whole text alive. */
const beginningOf = (text: string): string =>
  text.length <= looked ? text : Buffer.from(text.slice(0, looked)).toString();

/** Without a body: nothing was read, or it is not wanted. */
export const unread = (contentType: string | null, redact: Redactor): BodyFact => ({
  kind: 'unread',
  contentType: contentType === null ? null : redact.text(contentType, 100),
  bytes: 0,
  problem: null,
  keys: [],
  count: null,
  detail: null,
  title: null,
  page: null,
});

async function inflated(raw: RawBody, cap: number): Promise<{ bytes: Buffer; problem: BodyFact['problem'] }> {
  const problem = raw.end === 'too-large' || raw.end === 'cut' ? raw.end : null;
  const encoding = raw.encoding?.trim().toLowerCase() ?? 'identity';
  if (problem !== null || raw.bytes.length === 0 || encoding === 'identity' || raw.end === 'stopped')
    return { bytes: raw.bytes, problem };
  const zlib = await import('node:zlib');
  const inflate = {
    gzip: zlib.gunzip,
    'x-gzip': zlib.gunzip,
    deflate: zlib.inflate,
    br: zlib.brotliDecompress,
  }[encoding];
  if (inflate === undefined) return { bytes: raw.bytes, problem: null };
  try {
    return {
      bytes: await promisify<Buffer, object, Buffer>(inflate)(raw.bytes, { maxOutputLength: cap }),
      problem: null,
    };
  } catch (error) {
    const bomb = (error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE';
    return { bytes: Buffer.alloc(0), problem: bomb ? 'bomb' : 'cut' };
  }
}

/** `most`: how much of it anyone will look at. */
function decoded(
  bytes: Buffer,
  contentType: string | null,
  most: number,
): { text: string; invalid: boolean } {
  const seen = bytes.subarray(0, most);
  if (/charset\s*=\s*"?(?:iso-8859-|windows-125|latin|us-ascii)/i.test(contentType ?? ''))
    return { text: seen.toString('latin1'), invalid: false };
  const stream = seen.length < bytes.length;
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(seen, { stream }), invalid: false };
  } catch {
    return { text: new TextDecoder().decode(seen), invalid: !looksBinary(bytes) };
  }
}

const looksBinary = (bytes: Buffer): boolean => bytes.subarray(0, 1024).includes(0);

const declaresJson = (contentType: string | null): boolean =>
  /^\s*application\/(?:[\w.+-]+\+)?json\b/i.test(contentType ?? '');

function kindOf(bytes: Buffer, contentType: string | null): BodyFact['kind'] {
  if (bytes.length === 0) return 'empty';
  if (declaresJson(contentType)) return 'json';
  if (looksBinary(bytes)) return 'binary';
  const start = bytes.toString('latin1', 0, 512).replace('\u00ef\u00bb\u00bf', '').trimStart().toLowerCase();
  if (/^\s*(?:text\/html|application\/xhtml\+xml)/i.test(contentType ?? '')) return 'html';
  if (start.startsWith('<!doctype html') || start.startsWith('<html')) return 'html';
  const undeclared =
    contentType === null || /^\s*(?:text\/plain|application\/octet-stream)/i.test(contentType);
  return undeclared && /^[{[]/.test(start) ? 'json' : 'text';
}

function keysOf(json: unknown, redact: Redactor): string[] {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return [];
  const keys: string[] = [];
  for (const key in json) {
    if (keys.length === 60) break;
    keys.push(redact.text(key, 60));
  }
  return keys;
}

function countOf(json: unknown, list: string | undefined): number | null {
  const found = list === undefined ? json : field(json, list);
  return Array.isArray(found) ? found.length : null;
}

function detailOf(text: string, kind: BodyFact['kind'], redact: Redactor): string | null {
  const shown = redact.text(kind === 'html' ? visibleText(text) : text.slice(0, 4096)).trim();
  return shown === '' ? null : shown;
}
