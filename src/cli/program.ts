import type { Command } from 'commander';
import { tool } from '../tool.ts';
import type { CommandEntry, Context } from './command.ts';
import { commands } from './commands.ts';
import { write } from './io.ts';
import { rootHelp } from './root-help.ts';

/** The whole program with the options of every command: for completion and the man page. */
export const wholeProgram = (
  context: Context,
  wanted: (name: string) => boolean = () => true,
): Promise<Command> =>
  build(
    commands.filter((entry) => wanted(entry.name)),
    () => true,
    context,
  );

/** Only the named command is loaded; the others are known by name and summary. */
export const programFor = (argv: readonly string[], context: Context): Promise<Command> => {
  const words = argv[0] === 'help' ? argv.slice(1) : argv;
  return build(commands, (entry) => words.find((word) => !word.startsWith('-')) === entry.name, context);
};

async function build(
  entries: readonly CommandEntry[],
  wanted: (entry: CommandEntry) => boolean,
  context: Context,
): Promise<Command> {
  const { Command: Root } = await import('commander');
  const program = new Root(tool.name)
    .version(tool.version, '-V, --version', 'print the version')
    .configureOutput({
      writeOut: (text) => {
        context.help = write(context.io.stdout, text);
        // Whoever waits for it meets the error.
        context.help.catch(() => undefined);
      },
      writeErr: () => {},
      getOutHelpWidth: () => 80,
      getErrHelpWidth: () => 80,
    })
    .exitOverride()
    .showSuggestionAfterError()
    .helpCommand('help [command]', 'help for a command');
  program.helpInformation = rootHelp;
  for (const entry of entries) {
    const command = program.command(entry.name).description(entry.summary);
    command.copyInheritedSettings(program).configureHelp({ sortOptions: false });
    if (wanted(entry)) (await entry.load())(command, context);
  }
  return program;
}
