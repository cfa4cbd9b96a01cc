import type { StartResult } from './start-script.ts';

/** Why a dashboard could not be started: a code of CODES.md, values for its sentence, and what the engine printed last. */
export interface LaunchFailure {
  code:
    | 'ENGINE_BROKEN_PACKAGE'
    | 'PORT_IN_USE'
    | 'BIND_REFUSED'
    | 'FLAG_UNSUPPORTED'
    | 'WEB_BUILD_MISSING'
    | 'HOME_UNREADABLE'
    | 'HOME_READ_ONLY'
    | 'ENGINE_DIED'
    | 'ENGINE_ERROR'
    | 'SLOW_START'
    | 'CHAT_DISABLED'
    | 'WS_LIB_MISSING'
    | 'WS_REFUSED'
    | 'WS_SILENT';
  args: Record<string, string | number | boolean | null>;
  /** Last lines of the engine, or what we saw; without control characters, each at most 300 characters. */
  evidence: string[];
}

type FailedStart = Exclude<StartResult, { outcome: 'up' }>;

/** What a failed start means. Pure: the lines and exit codes of the releases 0.13 to 0.22 are in its tests. */
export function classifyStart(result: FailedStart, home: string): LaunchFailure {
  switch (result.outcome) {
    case 'home-missing':
    case 'home-unreadable': {
      const missing = result.outcome === 'home-missing';
      return { code: 'HOME_UNREADABLE', args: { path: result.path, missing }, evidence: [] };
    }
    case 'home-read-only':
      return { code: 'HOME_READ_ONLY', args: { path: result.path }, evidence: [] };
    case 'busy':
      return portInUse(result.port, result.holder, []);
    case 'not-started':
      return fromLines(result.message.split('\n'), null, home) ?? died(null, result.message.split('\n'));
    case 'exited': {
      const { tail, exitCode, port, holder } = result;
      const known = fromLines(tail, exitCode, home);
      if (known === null) return died(exitCode, tail);
      return known.code === 'PORT_IN_USE' ? portInUse(port, holder, known.evidence) : known;
    }
    case 'unhealthy': {
      const known = fromLines(result.tail, null, home);
      return (
        known ?? { code: 'ENGINE_ERROR', args: { status: result.status }, evidence: lastLines(result.tail) }
      );
    }
    case 'timeout':
      return {
        code: 'SLOW_START',
        args: { seconds: Number(result.seconds.toFixed(1)), port: result.port, ended: true },
        evidence: lastLines(result.tail),
      };
    default:
      return result satisfies never;
  }
}

/** The first rule that fits; the latest line first, because the reason stands at the end. */
function fromLines(lines: readonly string[], exitCode: number | null, home: string): LaunchFailure | null {
  const evidence = lastLines(lines);
  for (const { pattern, code, args } of rules) {
    for (const line of lines.toReversed()) {
      const match = pattern.exec(line);
      if (match !== null) return { code, args: args(match), evidence };
    }
  }
  // The fork's own code for a taken port, also when the line is lost.
  if (exitCode === 75) return { code: 'PORT_IN_USE', args: {}, evidence };
  return homeRefused(lines, home, evidence);
}

/** A PermissionError below the home. What was tried there tells reading from writing. */
function homeRefused(lines: readonly string[], home: string, evidence: string[]): LaunchFailure | null {
  for (const line of lines.toReversed()) {
    const path = /PermissionError: \[Errno (?:1|13)\] .*?: '(.+?)'/.exec(line)?.[1];
    if (path === undefined || !(path === home || path.startsWith(`${home}/`))) continue;
    const wrote = lines.some((other) =>
      /\b(?:mkdir|makedirs|rename|replace|unlink|chmod|write\w*)\(/.test(other),
    );
    return {
      code: wrote ? 'HOME_READ_ONLY' : 'HOME_UNREADABLE',
      args: { path: path.slice(0, 200) },
      evidence,
    };
  }
  return null;
}

interface Rule {
  pattern: RegExp;
  code: LaunchFailure['code'];
  args: (match: RegExpExecArray) => LaunchFailure['args'];
}

const first = (match: RegExpExecArray): string => (match[1] ?? '').slice(0, 200);

const rules: readonly Rule[] = [
  {
    pattern: /^BACKEND_PORT_IN_USE|address already in use|^Machine dashboard already running on port/i,
    code: 'PORT_IN_USE',
    args: () => ({}),
  },
  {
    pattern: /^Refusing to bind(?: dashboard)? to (\S+)/,
    code: 'BIND_REFUSED',
    args: (match) => ({ host: first(match), reason: 'guard' }),
  },
  {
    pattern: /attempting to bind on address \('([^']+)'.*(?:cannot|can't) assign requested address/i,
    code: 'BIND_REFUSED',
    args: (match) => ({ host: first(match), reason: 'no-such-address' }),
  },
  {
    pattern: /attempting to bind on address \('([^']+)'.*(?:permission denied|not permitted)/i,
    code: 'BIND_REFUSED',
    args: (match) => ({ host: first(match), reason: 'permission' }),
  },
  {
    pattern: /\[Errno -\d+\] .*(?:name resolution|name or service not known|nodename nor servname)/i,
    code: 'BIND_REFUSED',
    args: () => ({ host: null, reason: 'no-such-name' }),
  },
  {
    pattern: /error: unrecognized arguments: (.+)$/,
    code: 'FLAG_UNSUPPORTED',
    args: (match) => ({ flag: first(match) }),
  },
  {
    pattern: /error: (?:argument [^:]*: )?invalid choice: '?([\w-]+)'?/,
    code: 'FLAG_UNSUPPORTED',
    args: (match) => ({ flag: first(match) }),
  },
  {
    pattern: /(?:ModuleNotFoundError|ImportError|Import error): No module named '([\w.]+)'/,
    code: 'ENGINE_BROKEN_PACKAGE',
    args: (match) => ({ module: first(match) }),
  },
  {
    pattern: /ImportError: cannot import name '\w+' from (?:partially initialized module )?'([\w.]+)'/,
    code: 'ENGINE_BROKEN_PACKAGE',
    args: (match) => ({ module: first(match) }),
  },
  {
    pattern: /Web UI (?:build failed|npm install failed|frontend not built)|no web dist found at: (.+)$/i,
    code: 'WEB_BUILD_MISSING',
    args: (match) => ({ path: match[1] === undefined ? null : first(match) }),
  },
  {
    pattern: /\[Errno 30\] Read-only file system(?:: '(.+)')?/,
    code: 'HOME_READ_ONLY',
    args: (match) => ({ path: match[1] === undefined ? null : first(match) }),
  },
  {
    pattern: /install state is not writable by this user \(([^)]+)\)/,
    code: 'HOME_READ_ONLY',
    args: (match) => ({ path: first(match) }),
  },
];

const portInUse = (
  port: number,
  holder: { pid: number; command: string } | null,
  evidence: string[],
): LaunchFailure => ({
  code: 'PORT_IN_USE',
  args: {
    port,
    pid: holder?.pid ?? null,
    holder: holder === null ? null : `process ${holder.pid} (${holder.command || 'unknown'})`,
  },
  evidence,
});

const died = (exitCode: number | null, lines: readonly string[]): LaunchFailure => ({
  code: 'ENGINE_DIED',
  args: { exit: exitCode, line: lastLines(lines).at(-1) ?? null },
  evidence: lastLines(lines),
});

/** For people: the last lines that say something, safe for a terminal. */
export const lastLines = (lines: readonly string[]): string[] =>
  lines
    .map((line) =>
      line
        .replaceAll(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, ' ')
        .trimEnd()
        .slice(0, 300),
    )
    .filter((line) => line !== '' && !/^\s*\^+$/.test(line))
    .slice(-12);
