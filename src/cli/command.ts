import type { Command } from 'commander';
import type { ExitCode } from './exit-codes.ts';
import type { Io } from './io.ts';

/** What a command gets besides its parsed options. */
export interface Context {
  io: Io;
  /** Words behind `--`, for commands that hand them on. */
  rest: readonly string[];
  /** Says how it ended. Not called means 0. */
  finish(code: ExitCode): void;
  /** Help that is being written: commander does not wait for it. */
  help?: Promise<void>;
}

/** Gives a commander command its options, examples and action. One file a command; collected by `cli/commands.ts`. */
export type BuildCommand = (command: Command, context: Context) => void;

export interface CommandEntry {
  name: string;
  summary: string;
  /** What stands behind `--` is for another program: `[target] [-- args]`. */
  takesRest?: boolean;
  /** Loads only this command, so that the others cost nothing at start. */
  load(): Promise<BuildCommand>;
}

/** Examples and exit codes at the end of `--help`. */
export const examples = (lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}\n`;
