import type { ContractOnDisk, Generation } from './schema.ts';

/** A line of a source file; `number` counts from 1. The whole file, or only the lines that matter (see `host-scripts/gather/`). */
export interface SourceLine {
  number: number;
  text: string;
}

export interface Structure {
  generation: Generation | null;
  chatAssignment: 'from-parameter' | 'always-on' | 'absent' | 'unknown';
  /** A default or the module constant says True, yet the assignment takes the parameter: an edit without effect. */
  chatDefaultOnly: boolean;
  /** Home of a dashboard that was started for a named profile. */
  profileServesFrom: 'profile' | 'root' | 'unknown';
}

const constant = '_DASHBOARD_EMBEDDED_CHAT_ENABLED';
/** The longest signature known has 11 parameters (0.22). */
const signatureLines = 24;
/** Between the signature and the assignment stand a docstring and an import. */
const bodyLines = 40;

/**
 * Generation and chat switch from `hermes_cli/web_server.py`, by structure and never by version or line number.
 * `chatWsFile`: `hermes_cli/web_routers/chat_ws.py` exists.
 */
export function readStructure(lines: SourceLine[], chatWsFile: boolean): Structure {
  const start = lines.find(({ text }) => /^(async )?def start_server\b/.test(text));
  const parameters = start ? signature(lines, start) : '';
  const takesChat = /\bembedded_chat\b/.test(parameters);
  const module = lines.find(({ text }) => new RegExp(`^${constant}\\s*(:[^=]*)?=`).test(text));
  const assigned = start ? assignment(lines, start) : null;
  const moduleValue = module ? valueOf(module.text) : null;
  return {
    generation: generationOf({ takesChat, chatWsFile, lines, moduleValue }),
    chatAssignment: assignmentOf(start, module, moduleValue, assigned),
    chatDefaultOnly:
      assigned === 'embedded_chat' &&
      (moduleValue === 'True' || /\bembedded_chat\s*(:[^=,]*)?=\s*True\b/.test(parameters)),
    profileServesFrom: start ? (/\binitial_profile\b/.test(parameters) ? 'root' : 'profile') : 'unknown',
  };
}

function signature(lines: SourceLine[], start: SourceLine): string {
  let text = '';
  for (const line of within(lines, start.number, signatureLines)) {
    text += `${line.text}\n`;
    if (/^\)|\)\s*(->[^:]*)?:\s*(#.*)?$/.test(line.text)) break;
    if (line !== start && /^\s*def /.test(line.text)) break;
  }
  return text;
}

/** What `start_server` assigns to the constant; null when it assigns nothing. */
function assignment(lines: SourceLine[], start: SourceLine): string | null {
  for (const line of within(lines, start.number, signatureLines + bodyLines)) {
    if (line !== start && /^(async )?def /.test(line.text)) return null;
    if (new RegExp(`^\\s+${constant}\\s*=[^=]`).test(line.text)) return valueOf(line.text);
  }
  return null;
}

const within = (lines: SourceLine[], from: number, count: number): SourceLine[] =>
  lines.filter(({ number }) => number >= from && number < from + count);

const valueOf = (line: string): string => (line.split('=')[1] ?? '').replace(/#.*$/, '').trim();

function generationOf(seen: {
  takesChat: boolean;
  chatWsFile: boolean;
  lines: SourceLine[];
  moduleValue: string | null;
}): Generation | null {
  if (seen.chatWsFile) return 'G2';
  if (seen.takesChat) return 'G0';
  const route = seen.lines.some(({ text }) => /^\s*@\w+\.websocket\(\s*["']\/api\/ws["']/.test(text));
  return seen.moduleValue === 'True' && route ? 'G1' : null;
}

function assignmentOf(
  start: SourceLine | undefined,
  module: SourceLine | undefined,
  moduleValue: string | null,
  assigned: string | null,
): Structure['chatAssignment'] {
  if (assigned === 'embedded_chat') return 'from-parameter';
  // The second is our own source edit: on for every loopback bind, or for every one where that was allowed.
  if (assigned === 'True' || /^embedded_chat or (host in \(|True$)/.test(assigned ?? '')) return 'always-on';
  if (assigned !== null) return 'unknown';
  if (!module) return start ? 'absent' : 'unknown';
  return moduleValue === 'True' ? 'always-on' : 'unknown';
}

/**
 * `DESKTOP_BACKEND_CONTRACT` of `tui_gateway`: lines of its files that define it, `server.py` first where several do.
 * `readable`: the package is there and could be read, so that no line means none.
 */
export function contractOnDisk(lines: { file: string; text: string }[], readable: boolean): ContractOnDisk {
  const found = lines
    .map(({ file, text }) => ({
      file,
      raw: /^DESKTOP_BACKEND_CONTRACT\s*(?::[^=]*)?=(.*)$/.exec(text)?.[1],
    }))
    .filter((line): line is { file: string; raw: string } => line.raw !== undefined)
    .sort((a, b) => Number(b.file.endsWith('/server.py')) - Number(a.file.endsWith('/server.py')));
  const first = found[0];
  if (!first) return { value: null, state: readable ? 'none' : 'unknown', raw: null };
  const raw = first.raw.replace(/#.*$/, '').trim().slice(0, 80);
  const value = /^\d{1,9}$/.test(raw) ? Number(raw) : null;
  return { value, state: value === null ? 'unknown' : 'known', raw };
}

/** Text of a `NAME = "value"` line, or null. */
export function stringConstant(name: string, line: string): string | null {
  const found = new RegExp(`^${name}\\s*(?::[^=]*)?=\\s*(["'])([^"'\\\\]{1,100})\\1\\s*(?:#.*)?$`).exec(line);
  return found?.[2] ?? null;
}
