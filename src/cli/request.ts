import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { CompatError, usageError } from '../errors.ts';
import { readCredential } from '../target/credential.ts';
import { parseBaseUrl, parsePort, parseTarget } from '../target/parse.ts';
import type { Credential, Refinements, Target } from '../target/types.ts';
import type { Io } from './io.ts';

/** Parsed options as commander gives them: text, flags, lists. */
export type RawOptions = Record<string, string | boolean | string[] | undefined>;

/** `~` and relative paths as a person means them. */
export const pathResolver =
  (io: Io) =>
  (path: string): string =>
    path === '~' || path.startsWith('~/')
      ? join(io.home, path.slice(1))
      : isAbsolute(path)
        ? path
        : resolve(io.cwd, path);

export function readTargets(words: readonly string[], io: Io): Target[] {
  const resolvePath = pathResolver(io);
  return (words.length === 0 ? ['local'] : words).map((word) => parseTarget(word, resolvePath));
}

const text = (options: RawOptions, key: string): string | null => {
  const value = options[key];
  return typeof value === 'string' ? value : null;
};

/** One word of a closed list. @throws CompatError usage */
export function oneOf<T extends string>(value: string, words: readonly T[], option: string): T {
  const found = words.find((word) => word === value);
  if (found === undefined)
    throw usageError(`${option} is one of ${words.join(', ')}, not "${value.slice(0, 40)}"`);
  return found;
}

/** Seconds as typed, to milliseconds. @throws CompatError usage */
export function readSeconds(value: string | null, option: string): number | null {
  if (value === null) return null;
  const seconds = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
  if (!(seconds > 0 && seconds <= 86_400))
    throw usageError(`${option} is a number of seconds above 0, not "${value.slice(0, 40)}"`);
  return Math.round(seconds * 1000);
}

export function readRefinements(options: RawOptions, io: Io): Refinements {
  const url = text(options, 'url');
  const port = text(options, 'port');
  const home = text(options, 'home');
  const profile = text(options, 'profile');
  if (url !== null && port !== null) throw usageError('--url and --port exclude each other');
  if (profile !== null && !/^[a-z0-9][a-z0-9_-]{0,63}$/.test(profile)) {
    throw usageError('--profile is not a profile name (small letters, digits, - and _)');
  }
  return {
    url: url === null ? null : parseBaseUrl(url),
    port: port === null ? null : parsePort(port),
    home: home === null ? null : pathResolver(io)(home),
    profile,
    origin: readOrigin(text(options, 'origin')),
    mode: oneOf(text(options, 'mode') ?? 'auto', ['auto', 'dashboard', 'legacy'] as const, '--mode'),
  };
}

/** As a browser sends it: `null`, or scheme, host and port. */
function readOrigin(value: string | null): string | null {
  if (value === null || value === 'null') return value;
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s\u0000-\u001f\u007f]*$/i.test(value)) {
    throw usageError('--origin is not an origin (such as https://app.example or null)');
  }
  return value;
}

/** The credential that the options name; secrets are read here and nowhere else. */
export function readCredentialOption(options: RawOptions, io: Io): Promise<Credential | null> {
  return readCredential(options, {
    env: io.env,
    readFile: (path) => readTextFile(pathResolver(io)(path), 'the secret file'),
    readStdin: () => readStdin(io),
    runCommand: async (command) => {
      const { execa } = await import('execa');
      const result = await execa('/bin/sh', ['-c', command], {
        reject: false,
        stdin: 'ignore',
        stderr: 'ignore',
        timeout: 60_000,
      });
      if (result.exitCode !== 0)
        throw usageError(`--token-command ended with status ${result.exitCode ?? 'none'} and gave no token`);
      return result.stdout;
    },
  });
}

/** A configuration, secret or saved report; more than this is a mistake or a device without an end. */
const fileCap = 256 * 1024 * 1024;

/** @throws CompatError usage, with the reason but never the content */
export async function readTextFile(path: string, what: string): Promise<string> {
  return (await readBytes(path, what)).toString('utf8');
}

/** The same for what is sent as it is: a file of other bytes than text in UTF-8 is the wrong one. @throws CompatError usage */
export async function readStrictText(path: string, what: string): Promise<string> {
  const bytes = await readBytes(path, what);
  if (bytes.includes(0) || !isUtf8(bytes)) throw usageError(`${what} ${path} is no text in UTF-8`);
  return bytes.toString('utf8').replace(/^\ufeff/, '');
}

async function readBytes(path: string, what: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > fileCap) throw usageError(`${what} ${path} is larger than 256 MiB`);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof CompatError) throw error;
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown reason';
    throw usageError(`cannot read ${what} ${path} (${reason})`, { cause: error });
  }
  return Buffer.concat(chunks);
}

async function readStdin(io: Io): Promise<string> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of io.stdin) {
    const bytes = Buffer.from(chunk as Buffer | string);
    total += bytes.length;
    if (total > 1024 * 1024) throw usageError('standard input is larger than 1 MiB');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** One `Name: value` a line; empty lines and lines that begin with # are left out. */
export async function readHeaderFile(path: string | null, io: Io): Promise<Record<string, string>> {
  if (path === null) return {};
  const lines = (await readTextFile(pathResolver(io)(path), 'the header file')).split(/\r?\n/);
  const headers: Record<string, string> = {};
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/.exec(line);
    if (match?.[1] === undefined || /[\u0000-\u0008\u000a-\u001f\u007f]/.test(match[2] ?? '')) {
      throw usageError(`line ${index + 1} of the header file is not "Name: value"`);
    }
    if (/^(host|connection|upgrade|content-length|transfer-encoding|sec-websocket-.*)$/i.test(match[1])) {
      throw usageError(`line ${index + 1} of the header file: ${match[1]} is set by the program itself`);
    }
    headers[match[1]] = match[2] ?? '';
  }
  return headers;
}

/** A secret that an option names by variable or file; null when neither is given. */
export async function readSecretOption(
  options: RawOptions,
  io: Io,
  envKey: string,
  fileKey: string,
  what: string,
): Promise<string | null> {
  const variable = options[envKey];
  const file = options[fileKey];
  if (typeof variable === 'string') {
    const value = io.env[variable];
    if (value === undefined || value === '')
      throw usageError(`the environment variable ${variable.slice(0, 80)} is not set`);
    return value.replace(/\r?\n$/, '');
  }
  if (typeof file !== 'string') return null;
  return (await readTextFile(pathResolver(io)(file), what)).replace(/\r?\n$/, '');
}
