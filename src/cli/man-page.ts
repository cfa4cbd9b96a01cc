import { PassThrough } from 'node:stream';
import type { Command, Option } from 'commander';
import { tool } from '../tool.ts';
import { exitCodeHelp } from './exit-codes.ts';
import type { Io } from './io.ts';
import { wholeProgram } from './program.ts';
import { purpose } from './root-help.ts';

/** The man page, made from the command tree (roff, man macros). */
export async function manPage(): Promise<string> {
  const program = await wholeProgram({ io: silentIo(), rest: [], finish: () => {} });
  const commands = program.commands.filter((command) => command.name() !== 'help');
  return [
    `.TH HERMES-COMPAT 1 "" "hermes-compat ${tool.version}" "User Commands"`,
    section('NAME', `hermes-compat \\- ${escape(purpose)}`),
    section('SYNOPSIS', '.B hermes-compat\n.I command\n[options] [arguments]'),
    section('COMMANDS', commands.flatMap((command) => page(command, [])).join('\n')),
    section(
      'EXIT STATUS',
      exitCodeHelp
        .trim()
        .split('\n')
        .slice(1)
        .map((line) => `.br\n${escape(line.trim())}`)
        .join('\n'),
    ),
    section(
      'ENVIRONMENT',
      '.TP\n.B HERMES_COMPAT_TOKEN\nThe token of the dashboard.\n.TP\n.B HERMES_HOME\nThe home of the local target, as the engine reads it.\n.TP\n.B NO_COLOR\nNo colour.',
    ),
    '',
  ].join('\n');
}

function page(command: Command, parents: string[]): string[] {
  const name = [...parents, command.name()];
  const usage = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  );
  return [
    `.SS "${escape([...name, ...usage].join(' '))}"\n${escape(command.description())}`,
    ...command.options.filter((option) => !option.hidden).map(describe),
    ...command.commands.filter((sub) => sub.name() !== 'help').flatMap((sub) => page(sub, name)),
  ];
}

const describe = (option: Option): string => `.TP\n.B ${escape(option.flags)}\n${escape(option.description)}`;

const section = (title: string, body: string): string => `.SH ${title}\n${body}`;

/** Backslashes, hyphens, and lines that roff would take for a request. */
const escape = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^([.'])/gm, '\\&$1');

function silentIo(): Io {
  const sink = new PassThrough();
  return {
    stdin: new PassThrough(),
    stdout: sink,
    stderr: sink,
    env: {},
    platform: 'linux',
    cwd: '/',
    home: '/',
    pid: 0,
    signal: new AbortController().signal,
    lastWords: new Set(),
  };
}
