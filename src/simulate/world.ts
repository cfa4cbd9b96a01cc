import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { usageError } from '../errors.ts';
import type { SimulatorOptions } from './options.ts';
import { findRelease } from './release/table.ts';
import type { Release } from './release/types.ts';

/** A stored row of `/api/sessions/{id}/messages`. */
export interface Row {
  id: number;
  role: 'user' | 'assistant' | 'tool' | 'system';
  content: string;
  at: number;
  reasoning?: string;
  /** Tool calls of an assistant row, as the provider gave them. */
  calls?: unknown[];
  /** How newer releases want it shown (`display_kind`). */
  kind?: string;
  /** Of a tool row. */
  callId?: string;
  tool?: string;
}

/** A chat: `id` while the engine runs, `stored` for good. */
export interface Session {
  id: string;
  stored: string;
  rows: Row[];
  title: string;
  startedAt: number;
  lastActive: number;
  /** Runtime id still valid. */
  open: boolean;
  turn: Turn | null;
  /** Chosen for this session alone; null where it was not. */
  model: string | null;
  /** Attached, and not used in a prompt yet. */
  files: { reference: string; content: string }[];
  /** Paths of pictures for the next prompt. */
  images: string[];
  compressions: number;
  /** A question to the user that waits for its answer. */
  question: { requestId: string; answer: (value: unknown) => void } | null;
}

/** A turn that runs. */
export interface Turn {
  prompt: string;
  /** Deltas so far, joined. */
  text: string;
  /** Aborted: the client interrupted it, or another prompt came. */
  stop: AbortController;
  /** Prompt that the same turn goes on with. */
  next: string | null;
  /** Prompt that runs as a turn of its own afterwards. */
  queued: string | null;
}

/** One simulated engine: everything that its answers depend on. */
export interface World {
  release: Release;
  host: string;
  port: number;
  loopback: boolean;
  prefix: string;
  token: string;
  chat: boolean;
  webBuild: boolean;
  headless: boolean;
  library: LibraryRow[] | null;
  gate: Gate | null;
  home: string;
  model: { provider: string; model: string };
  sessions: Session[];
  /** Stored messages of a recording, by the session id that was asked. */
  stored: Map<string, unknown>;
  installId: string;
  epoch: string;
  startedAt: number;
  note: (line: string) => void;
  log: string[];
  frames: unknown[];
}

export interface LibraryRow {
  id: string;
  name: string;
  provider: string;
  model: string;
  baseUrl: string;
  createdAt: number;
}

export interface Gate {
  username: string;
  password: string;
  /** Valid values of the access and the refresh cookie. */
  access: Set<string>;
  refresh: Set<string>;
  /** Tickets and when each ends. */
  tickets: Map<string, number>;
  attempts: number[];
}

export const loopbackNames: readonly string[] = ['localhost', '127.0.0.1', '::1'];

const gateOf = (options: SimulatorOptions, release: Release): Gate | null => {
  if (options.gated === undefined || options.gated === false) return null;
  if (release.gate === null)
    throw usageError(`${release.version} has no login of its own; the first release with one is 0.16.0`);
  const { username, password } =
    options.gated === true ? { username: 'admin', password: 'simulated' } : options.gated;
  return { username, password, access: new Set(), refresh: new Set(), tickets: new Map(), attempts: [] };
};

/** `{"sessions": [{"asked", "answer"}]}`, see `cases/README.md`. */
const storedRows = (file: unknown): Map<string, unknown> => {
  const { sessions } = (file ?? {}) as { sessions?: unknown };
  const pairs = (Array.isArray(sessions) ? sessions : []) as { asked?: unknown; answer?: unknown }[];
  return new Map(pairs.map(({ asked, answer }) => [String(asked), answer]));
};

/** @throws CompatError usage when the release is unknown or cannot be started this way */
export const createWorld = (options: SimulatorOptions): World => {
  const release = findRelease(options.release);
  const host = options.host ?? '127.0.0.1';
  if (options.headless === true && release.headless === 'none')
    throw usageError(`${release.version} has no headless mode; the first release here with one is 0.18.2`);
  if (options.prefix !== undefined && !/^(\/[A-Za-z0-9._~-]+)+$/.test(options.prefix))
    throw usageError('the prefix is a path such as /hermes');
  const log: string[] = [];
  return {
    release,
    host,
    port: options.port ?? 0,
    loopback: loopbackNames.includes(host),
    prefix: options.prefix ?? '',
    token: options.token ?? randomBytes(32).toString('base64url'),
    chat: release.chat === 'always' || options.chat === true,
    webBuild: options.webBuild ?? release.webBuild,
    headless: options.headless === true,
    library: options.library === true ? [] : null,
    gate: gateOf(options, release),
    home: '/home/simulated/.hermes',
    model: { provider: '', model: '' },
    sessions: [],
    stored: storedRows(options.stored),
    installId: randomBytes(16).toString('hex'),
    epoch: randomBytes(16).toString('hex'),
    startedAt: Date.now(),
    note: (line) => {
      log.push(line);
      options.onRequest?.(line);
    },
    log,
    frames: [],
  };
};

/** Equal secrets, in constant time. */
export const sameSecret = (given: string, right: string): boolean => {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(right));
};
