import type { Command as CommanderCommand, CommanderError } from 'commander';
import { CompatError } from '../errors.ts';
import { tool } from '../tool.ts';
import type { CommandEntry, Context } from './command.ts';
import { commands } from './commands.ts';
import { exitCodeHelp, exitCodeOfError, type ExitCode } from './exit-codes.ts';
import type { Io } from './io.ts';
import { write } from './io.ts';
import { printBug, printError } from './print-error.ts';

/** Runs the program on these arguments (without node and script). Returns the exit code; prints errors itself. */
export async function main(given: readonly string[], io: Io): Promise<ExitCode> {
  const { argv, rest } = splitRest(given);
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    await write(io.stdout, `${tool.version}\n`);
    return 0;
  }
  let code: ExitCode = 0;
  const context: Context = { io, rest, finish: (given) => (code = given) };
  try {
    if (argv[0] === 'complete') {
      await (await import('./completion.ts')).completeWith(argv, context);
      return 0;
    }
    const program = await createProgram(argv, context);
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    if (isCommanderError(error)) return error.exitCode === 0 ? 0 : printUsageOfCommander(argv, io, error);
    if (error instanceof CompatError) {
      await printError(argv, io, error);
      return exitCodeOfError(error);
    }
    if (io.signal.aborted) return 130;
    await printBug(argv, io, error);
    return 70;
  }
}

/** Takes off what stands behind `--` where the command hands it on; elsewhere it is commander's business. */
function splitRest(given: readonly string[]): { argv: readonly string[]; rest: readonly string[] } {
  const at = given.indexOf('--');
  const takesRest = commands.some(({ name, takesRest }) => takesRest === true && name === given[0]);
  return at === -1 || !takesRest
    ? { argv: given, rest: [] }
    : { argv: given.slice(0, at), rest: given.slice(at + 1) };
}

/** The whole program with the options of every command: for completion and the man page. */
export async function wholeProgram(
  context: Context,
  wanted: (name: string) => boolean = () => true,
): Promise<CommanderCommand> {
  return build(
    commands.filter((entry) => wanted(entry.name)),
    () => true,
    context,
  );
}

/** Only the named command is loaded; the others are known by name and summary. */
const createProgram = (argv: readonly string[], context: Context): Promise<CommanderCommand> => {
  const words = argv[0] === 'help' ? argv.slice(1) : argv;
  return build(commands, (entry) => words.find((word) => !word.startsWith('-')) === entry.name, context);
};

async function build(
  entries: readonly CommandEntry[],
  wanted: (entry: CommandEntry) => boolean,
  context: Context,
) {
  const { Command } = await import('commander');
  const program = new Command(tool.name)
    .description(
      'Tells whether a Hermes Agent dashboard works for a client, why not, and fixes it reversibly.',
    )
    .version(tool.version, '-V, --version', 'print the version')
    .configureOutput({
      writeOut: (text) => void context.io.stdout.write(text),
      writeErr: () => {},
      getOutHelpWidth: () => 80,
      getErrHelpWidth: () => 80,
    })
    .exitOverride()
    .showSuggestionAfterError()
    .helpCommand('help [command]', 'help for a command')
    .addHelpText(
      'after',
      `${exitCodeHelp}\nStart with:\n  $ hermes-compat doctor\n  $ hermes-compat demo        (needs no Hermes)\n`,
    );
  for (const entry of entries) {
    const command = program.command(entry.name).description(entry.summary);
    command.copyInheritedSettings(program).configureHelp({ sortOptions: false });
    if (wanted(entry)) (await entry.load())(command, context);
  }
  return program;
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
  await printError(
    argv,
    io,
    new CompatError('usage', message, {
      commands: [known ? [tool.name, command ?? '', '--help'] : [tool.name, '--help']],
    }),
  );
  return 2;
}
