import type { Home, Install } from '../../engine/schema.ts';
import type { Host } from '../../host/types.ts';

export const hookIds = [
  'overlay',
  'systemd-user',
  'systemd-system',
  'launchd',
  'cron',
  'git',
  'wrapper',
] as const;
export type HookId = (typeof hookIds)[number];

/** Where a hook goes, and what it is to run. */
export interface HookPlace {
  host: Host;
  home: Home;
  install: Install | null;
  /** argv that runs `hermes-compat hook run` for this home on that host. */
  command: readonly string[];
  /** Home folder of the account there. */
  userHome: string;
  /** First `hermes` on the PATH of the account; null when there is none. */
  onPath: string | null;
}

/** A file of a hook. */
export interface HookFile {
  path: string;
  sha256: string;
  /** Where the file that stood there before was moved; null: there was none. */
  moved: string | null;
}

/** What was installed: `desktop-compat/hooks/installed.json`. */
export interface HookRecord {
  id: HookId;
  at: string;
  /** The line that it runs. */
  command: string;
  files: HookFile[];
  /** Lines in a table that belongs to others (cron), exactly as they were added. */
  lines: string | null;
  /** The other's part did not end with a line break, so one was added. */
  addedBreak?: boolean;
}

/** `changed`: somebody else wrote over it; `gone`: it is not there any more. */
export type HookState = 'installed' | 'changed' | 'gone';

/** One way to be told of an update. Collected by `hooks/kinds.ts`. */
export interface HookKind {
  id: HookId;
  /** What it does and what it cannot, one sentence each. */
  does: string;
  limits: string;
  /** What a person does where `linesState` is `changed`. */
  byHand?: string;
  /** Why it cannot be used here; null when it can. */
  problem(place: HookPlace): Promise<string | null>;
  /** The files it would write: path, text and mode. Empty for a table of others. */
  files(place: HookPlace): Promise<{ path: string; text: string; mode: number }[]>;
  /** After the files are there. May give back lines that it added elsewhere. */
  enable(place: HookPlace): Promise<Pick<HookRecord, 'lines' | 'addedBreak'>>;
  /** Before the files go. */
  disable(place: HookPlace, record: HookRecord): Promise<void>;
  /** State of what is not a file, and of whether the files are still in effect. */
  linesState(place: HookPlace, record: HookRecord): Promise<HookState>;
}

/** For kinds that are files and nothing else. */
export const filesOnly: Pick<HookKind, 'enable' | 'disable' | 'linesState'> = {
  enable: async () => ({ lines: null }),
  disable: async () => {},
  linesState: async () => 'installed',
};
