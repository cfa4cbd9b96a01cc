import type { CommanderError } from 'commander';
import { CompatError } from '../errors.ts';
import { FileError } from '../host/types.ts';
import { tool } from '../tool.ts';
import type { Context } from './command.ts';
import { commands } from './commands.ts';
import { exitCodeOfError, type ExitCode } from './exit-codes.ts';
import { type Io, OutputError, write } from './io.ts';

/** Runs the program on these arguments (without node and script). Returns the exit code; prints errors itself. */
export async function main(given: readonly string[], io: Io): Promise<ExitCode> {
  try {
    return await runCommand(given, io);
  } catch (error) {
    if (!(error instanceof OutputError)) throw error;
    // Also when JSON was asked for: it would go where nothing can be written. The code of `--help` into a full disk.
    await write(io.stderr, `${tool.name}: ${error.message}\n`);
    return 70;
  }
}

/** @throws OutputError; other errors are printed, and are an exit code */
async function runCommand(given: readonly string[], io: Io): Promise<ExitCode> {
  const { argv, rest } = splitRest(given);
  let code: ExitCode = 0;
  const context: Context = { io, rest, finish: (given) => (code = given) };
  try {
    if (argv[0] === 'complete') {
      await (await import('./completion.ts')).completeWith(argv, context);
      return 0;
    }
    const { programFor } = await import('./program.ts');
    await (await programFor(argv, context)).parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof OutputError) throw error;
    await context.help;
    if (isCommanderError(error)) return error.exitCode === 0 ? 0 : printUsageOfCommander(argv, io, error);
    return printFailure(argv, io, error);
  }
}

async function printFailure(argv: readonly string[], io: Io, error: unknown): Promise<ExitCode> {
  const { printBug, printError } = await import('./print-error.ts');
  const meant = meantError(error);
  if (meant !== null) {
    await printError(argv, io, meant);
    return exitCodeOfError(meant);
  }
  if (io.signal.aborted) return 130;
  await printBug(argv, io, error);
  return 70;
}

/** An error for a person, or one that wraps such: a file could not be read because the connection was cut. */
function meantError(error: unknown): CompatError | null {
  if (error instanceof CompatError) return error;
  if (error instanceof Error && error.cause instanceof CompatError) return error.cause;
  // A file of the target that may not be read or is not there: not a bug, and nothing is known.
  if (!(error instanceof FileError)) return null;
  const { path, code } = error;
  const said = error.message.includes(path) ? error.message : `${path}: ${error.message}`;
  return new CompatError('unchecked', said, { args: { path, code }, cause: error });
}

/** Takes off what stands behind `--` where the command hands it on; elsewhere it is commander's business. */
function splitRest(given: readonly string[]): { argv: readonly string[]; rest: readonly string[] } {
  const at = given.indexOf('--');
  const takesRest = commands.some(({ name, takesRest }) => takesRest === true && name === given[0]);
  return at === -1 || !takesRest
    ? { argv: given, rest: [] }
    : { argv: given.slice(0, at), rest: given.slice(at + 1) };
}

const isCommanderError = (error: unknown): error is CommanderError =>
  error instanceof Error &&
  'exitCode' in error &&
  String((error as { code?: unknown }).code).startsWith('commander.');

async function printUsageOfCommander(
  argv: readonly string[],
  io: Io,
  error: CommanderError,
): Promise<ExitCode> {
  const message = error.message.replace(/^error: /, '');
  const command = argv.find((word) => !word.startsWith('-'));
  const known = commands.some((entry) => entry.name === command);
  const { printError } = await import('./print-error.ts');
  await printError(
    argv,
    io,
    new CompatError('usage', message, {
      commands: [known ? [tool.name, command ?? '', '--help'] : [tool.name, '--help']],
    }),
  );
  return 2;
}
