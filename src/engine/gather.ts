import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Host } from '../host/types.ts';
import { packaged } from '../tool.ts';
import { type Frame, parseFrame, parseRecords } from './frame.ts';

/** What `locate` is asked. */
export interface LocateAsk {
  /** Of `local:/path` or an ssh root: a HERMES_HOME, an install root, a virtual environment or a `hermes` script. Absolute. */
  path: string | null;
  /** `--home`. */
  home: string | null;
  /** `--profile`, a Hermes profile. */
  profile: string | null;
  /** Of this process; only used for a local host. Over ssh the target's own environment counts. */
  env: Record<string, string | undefined>;
  /** Whose listener is wanted, too. */
  port: number | null;
  timeoutMs: number;
  /** Processes that our `launch` started. */
  ownedPids?: readonly number[];
  /** The slow parts: without `hash` no install is known to be pristine or edited, without `git` no checkout. */
  skip?: readonly ('hash' | 'git')[];
}

/** Facts of one host as the script printed them, before they are put together. */
export interface Gathered {
  records: Map<string, string[][]>;
  sections: Map<string, string>;
  /** Something is missing; `notes` say what. */
  partial: boolean;
  notes: { code: string; text: string }[];
}

/** The environment that decides where an engine and its home are. */
const passedOn = [
  'PATH',
  'HOME',
  'HERMES_HOME',
  'HERMES_INSTALL_DIR',
  'HERMES_MANAGED',
  'VIRTUAL_ENV',
  'UV_TOOL_DIR',
  'PIPX_HOME',
  'XDG_DATA_HOME',
];

const maxOutput = 8 * 1024 * 1024;

const scriptParts = [
  'tools',
  'which-home',
  'places',
  'follow',
  'describe',
  'code',
  'slow',
  'processes',
  'process-facts',
  'home-facts',
  'main',
];

/** The whole script: definitions first, the call that runs it last. */
export const gatherScript = (): string =>
  scriptParts.map((part) => readFileSync(packaged(`host-scripts/gather/${part}.sh`), 'utf8')).join('\n');

/** Runs the script of `host-scripts/gather/` once. Rejects only when the host itself cannot be reached. */
export async function gather(host: Host, ask: LocateAsk): Promise<Gathered> {
  const nonce = randomBytes(12).toString('hex');
  const parts = ['hash', 'git'].filter((part) => !ask.skip?.some((each) => each === part)).join(',');
  const args = [nonce, ask.path ?? '', ask.home ?? '', ask.profile ?? '', ask.port ?? '', parts];
  const result = await host.script(gatherScript(), args.map(String), {
    env: host.kind === 'local' ? environment(ask.env) : {},
    timeoutMs: ask.timeoutMs,
    maxOutput,
  });
  const frame = parseFrame(result.stdout, nonce);
  if (frame === null) {
    const firstLine = `${result.stdout.toString()}\n${result.stderr.toString()}`.trim().split('\n')[0] ?? '';
    return {
      records: new Map(),
      sections: new Map(),
      partial: true,
      notes: [{ code: 'SHELL_UNUSABLE', text: clean(firstLine) || 'the shell printed nothing' }],
    };
  }
  const notes = frame.noise === '' ? [] : [{ code: 'STDOUT_NOISE', text: clean(frame.noise) }];
  if (!frame.complete)
    notes.push({
      code: 'GATHER_CUT',
      text: result.timedOut ? 'the deadline ended it' : 'its end is missing',
    });
  return { ...merged(frame), partial: !frame.complete, notes };
}

function merged(frame: Frame): Pick<Gathered, 'records' | 'sections'> {
  const { sections } = frame;
  const text = `${sections.get('records') ?? ''}\n${sections.get('slow') ?? ''}`;
  return { records: parseRecords(text), sections };
}

const environment = (env: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(
    passedOn.flatMap((name): [string, string][] => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

/** One line, without control characters, at most 300 characters. */
const clean = (text: string): string =>
  text
    .replaceAll(/[\u0000-\u001F\u007F-\u009F]+/g, ' ')
    .trim()
    .slice(0, 300);

/** Fields of the first record of a kind. */
export const record = (gathered: Gathered, kind: string): string[] => gathered.records.get(kind)?.[0] ?? [];

/** Records of a kind whose first field is `key`, without that field. */
export const recordsOf = (gathered: Gathered, kind: string, key: string): string[][] =>
  (gathered.records.get(kind) ?? []).filter(([first]) => first === key).map((fields) => fields.slice(1));

/** Lines of a section. */
export const linesOf = (gathered: Gathered, section: string): string[] =>
  (gathered.sections.get(section) ?? '').split('\n').filter((line) => line !== '');
