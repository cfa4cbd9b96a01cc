import { type Gathered, linesOf } from './gather.ts';

/** A file or folder as `stat` showed it, symbolic links followed. */
export interface FileFacts {
  size: number;
  mtimeMs: number;
  uid: number;
  mode: number;
}

/** A line that `grep -n` found. */
export interface FoundLine {
  file: string;
  number: number;
  text: string;
}

/** What the batched calls of the script said about the files of all installs; keys are absolute paths. */
export interface TreeFacts {
  stats: Map<string, FileFacts>;
  code: FoundLine[];
  meta: FoundLine[];
  sha256: Map<string, string>;
  /** Hashes that RECORD files promise, in hex. */
  recorded: Map<string, string>;
}

export function treeFacts(gathered: Gathered): TreeFacts {
  return {
    stats: new Map(linesOf(gathered, 'stat').flatMap(statLine)),
    code: linesOf(gathered, 'code').flatMap((line) => foundLine(line, /\.py/)),
    meta: linesOf(gathered, 'meta').flatMap((line) => foundLine(line, /\/METADATA|\.toml/)),
    sha256: new Map(linesOf(gathered, 'sha256').flatMap(hashLine)),
    recorded: new Map(linesOf(gathered, 'record').flatMap(recordLine)),
  };
}

/** `SIZE MTIME CTIME UID MODE PATH`, times in seconds. */
export function statLine(line: string): [string, FileFacts][] {
  const found = /^(\d+) (\d+(?:\.\d+)?) \d+(?:\.\d+)? (\d+) ([0-7]+) (.+)$/.exec(line);
  if (!found) return [];
  const [, size, mtime, uid, mode = '', path = ''] = found;
  const facts = {
    size: Number(size),
    mtimeMs: Number(mtime) * 1000,
    uid: Number(uid),
    mode: Number.parseInt(mode, 8) & 0o7777,
  };
  return [[path, facts]];
}

function foundLine(line: string, ending: RegExp): FoundLine[] {
  // A dot must match what Python does not take for the end of a line.
  const found = new RegExp(`^(.*?(?:${ending.source})):(\\d+):(.*)$`, 's').exec(line.replace(/\r$/, ''));
  if (!found) return [];
  const [, file = '', number, text = ''] = found;
  return [{ file, number: Number(number), text }];
}

/** `HASH  PATH` of sha256sum and shasum, `HASH *PATH` of openssl. */
function hashLine(line: string): [string, string][] {
  const found = /^([0-9a-f]{64}) [ *](.+)$/.exec(line);
  return found ? [[found[2] as string, found[1] as string]] : [];
}

/** `…/x.dist-info/RECORD:hermes_cli/main.py,sha256=BASE64URL,SIZE`. */
function recordLine(line: string): [string, string][] {
  const found = /^(.*)\/[^/]+\.dist-info\/RECORD:([^,"]+),sha256=([\w-]{43}),\d*\r?$/.exec(line);
  if (!found) return [];
  const [, folder, path, digest = ''] = found;
  return [[`${folder}/${path}`, Buffer.from(digest, 'base64url').toString('hex')]];
}
