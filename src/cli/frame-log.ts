import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { addAbortSignal, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { usageError } from '../errors.ts';
import { isHar, recordsOfHar } from './har.ts';
import type { Io } from './io.ts';
import { pathResolver } from './request.ts';

/** What could not be read of a recording. `first` is the number of the first such line, from 1. */
export interface Unread {
  lines: number;
  first: number;
  /** The end is missing: a last line without its end, a packed file that ends early. */
  cut: boolean;
  /** Why reading stopped before the end. */
  broken: string | null;
}

/** A recording that is read piece by piece. `unread` is filled while it is read. */
export interface FrameLog {
  name: string;
  records: AsyncIterable<unknown[]>;
  unread: Unread;
}

/** A frame of the gateway has at most 64 MiB (DESIGN §4); a HAR has to be held as a whole. */
const lineLimit = 96 * 1024 * 1024;
const harLimit = 256 * 1024 * 1024;

/**
 * Opens a recording: JSON lines, plain or gzip, the HAR export of a browser, or `-` for standard input, which may still be written. Waits for
 * the first frame, so that what is no recording is refused before anything is printed.
 * @throws CompatError usage
 */
export async function openFrameLog(file: string, io: Io): Promise<FrameLog> {
  const unread: Unread = { lines: 0, first: 0, cut: false, broken: null };
  const name = file === '-' ? 'standard input' : file;
  const source =
    file === '-'
      ? io.stdin
      : createReadStream(await readable(pathResolver(io)(file)), { highWaterMark: 256 * 1024 });
  addAbortSignal(io.signal, source);
  const batches = recordsOf(name, source, unread, io.signal);
  const first = await upToFirstFrame(batches);
  if (!first.some(isFrame) && !io.signal.aborted) {
    throw usageError(
      unread.broken ??
        `${name} holds no frames ({"dir": "in", "frame": …} on each line; see cases/README.md)`,
    );
  }
  return { name, records: followed(first, batches), unread };
}

async function upToFirstFrame(batches: AsyncGenerator<unknown[]>): Promise<unknown[]> {
  const first: unknown[] = [];
  while (!first.some(isFrame)) {
    const next = await batches.next();
    if (next.done === true) break;
    if (first.length < 1000) first.push(...next.value);
    else if (next.value.some(isFrame)) first.push(...next.value.filter(isFrame));
  }
  return first;
}

async function* followed(first: unknown[], rest: AsyncGenerator<unknown[]>): AsyncGenerator<unknown[]> {
  yield first;
  yield* rest;
}

function isFrame(record: unknown): boolean {
  if (typeof record !== 'object' || record === null || !('dir' in record)) return false;
  return record.dir === 'in' || record.dir === 'out' || record.dir === 'note';
}

/** @throws CompatError usage, before anything is printed */
async function readable(path: string): Promise<string> {
  try {
    const handle = await open(path, 'r');
    const stat = await handle.stat();
    await handle.close();
    if (stat.isDirectory()) throw usageError(`${path} is a folder, not a recording`);
    return path;
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code;
    throw reason === undefined ? error : usageError(`cannot read ${path} (${reason})`, { cause: error });
  }
}

async function* recordsOf(
  name: string,
  source: Readable,
  unread: Unread,
  signal: AbortSignal,
): AsyncGenerator<unknown[]> {
  const line = createLine();
  let number = 0;
  let har: string[] | null = null;
  let size = 0;
  for await (const piece of texts(name, source, unread, signal)) {
    if (size === 0 && isHar(piece)) har = [];
    size += piece.length;
    if (har !== null) {
      har.push(piece);
      if (size > harLimit)
        throw usageError(
          `${name} is a HAR of more than ${harLimit >> 20} MiB; export less, or use JSON lines`,
        );
      continue;
    }
    const records = line.add(piece).flatMap((text) => parsed(text, (number += 1), unread));
    if (records.length > 0) yield records;
    if (line.length() > lineLimit) {
      unread.broken = `${name} has a line of more than ${lineLimit >> 20} MiB (line ${number + 1})`;
      return;
    }
  }
  if (har !== null) yield recordsOfHar(name, har.join(''));
  else if (line.rest().trim() !== '') yield lastLine(line.rest(), unread);
}

/** Cuts text into lines; a line may come in many pieces. */
function createLine(): { add(piece: string): string[]; rest(): string; length(): number } {
  let held: string[] = [];
  let length = 0;
  return {
    add(piece) {
      const lines = piece.split('\n');
      const last = lines.pop() ?? '';
      if (lines.length > 0) {
        lines[0] = held.join('') + (lines[0] ?? '');
        held = [];
        length = 0;
      }
      held.push(last);
      length += last.length;
      return lines;
    },
    rest: () => held.join(''),
    length: () => length,
  };
}

function parsed(line: string, number: number, unread: Unread): unknown[] {
  if (line === '' || line.trim() === '') return [];
  try {
    return [JSON.parse(line)];
  } catch {
    if (unread.lines === 0) unread.first = number;
    unread.lines += 1;
    return [];
  }
}

/** A last line without its end may be half written. */
function lastLine(line: string, unread: Unread): unknown[] {
  try {
    return [JSON.parse(line)];
  } catch {
    unread.cut = true;
    return [];
  }
}

/** The source as text, unpacked when it begins as gzip does. What is packed and damaged gives what could be read. */
async function* texts(
  name: string,
  source: Readable,
  unread: Unread,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8');
  try {
    const pieces = source[Symbol.asyncIterator]() as AsyncIterator<Buffer | string>;
    const first = await firstBytes(pieces);
    const all = Readable.from(chained(first, pieces), { objectMode: false });
    for await (const bytes of first[0] === 0x1f && first[1] === 0x8b ? unpacked(all) : all) {
      const text = decoder.decode(bytes as Buffer, { stream: true });
      if (text !== '') yield text;
    }
    const end = decoder.decode();
    if (end !== '') yield end;
  } catch (error) {
    if (signal.aborted) return;
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (code === 'Z_BUF_ERROR') unread.cut = true;
    else if (code.startsWith('Z_')) unread.broken = `${name} is packed and damaged`;
    else throw error;
  }
}

function unpacked(source: Readable): Readable {
  const plain = createGunzip();
  source.on('error', (error) => plain.destroy(error));
  return source.pipe(plain);
}

/** Two bytes tell the format; a pipe may give them one by one. */
async function firstBytes(pieces: AsyncIterator<Buffer | string>): Promise<Buffer> {
  let first = Buffer.alloc(0);
  while (first.length < 2) {
    const next = await pieces.next();
    if (next.done === true) return first;
    first = Buffer.concat([first, Buffer.from(next.value as Buffer)]);
  }
  return first;
}

async function* chained(first: Buffer, rest: AsyncIterator<Buffer | string>): AsyncGenerator<Buffer> {
  if (first.length > 0) yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
    yield Buffer.from(next.value as Buffer);
  }
}
