import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import { programFor, wholeProgram } from '../../src/cli/program.ts';
import type { Fence, Page } from './markdown.ts';

/** One command line of a page. */
export interface Line {
  page: string;
  line: number;
  text: string;
  /** False for blocks with `norun`: only parsed. */
  run: boolean;
  /** Exit code that the block promises (`exit=4`), null when none is said. */
  exit: number | null;
}

/** The command lines of a page: all lines of `sh` blocks, and those behind `$ ` in `console` blocks. */
export const linesOf = (page: Page): Line[] => page.fences.flatMap((fence) => linesOfFence(page.path, fence));

function linesOfFence(page: string, fence: Fence): Line[] {
  const [language] = fence.info;
  if (language !== 'sh' && language !== 'console') return [];
  const exit = fence.info.find((word) => word.startsWith('exit='))?.slice(5);
  const found: Line[] = [];
  let open: Line | null = null;
  for (const [at, raw] of fence.text.split('\n').entries()) {
    const prompt = /^\s*\$ (.*)$/.exec(raw)?.[1];
    const text: string | undefined = language === 'sh' ? raw.trim() : open === null ? prompt : raw.trim();
    if (text === undefined || text === '' || text.startsWith('#')) continue;
    const line: Line = open ?? {
      page,
      line: fence.line + at + 1,
      text: '',
      run: !fence.info.includes('norun'),
      exit: exit === undefined ? null : Number(exit),
    };
    line.text += text.replace(/\\$/, '');
    open = text.endsWith('\\') ? line : null;
    if (open === null) found.push({ ...line, text: withoutComment(line.text) });
  }
  return found;
}

const withoutComment = (text: string): string => text.replace(/\s+# .*$/, '').trim();

/** The words of a simple command; quotes are honoured, nothing is expanded. */
export function words(text: string): string[] {
  const found = [...text.matchAll(/(?:[^\s"']+|"(?:\\.|[^"])*"|'[^']*')+/g)];
  return found.map(([word]) => word.replaceAll(/"((?:\\.|[^"])*)"|'([^']*)'/g, '$1$2'));
}

/** The runs of our program in a command line: split at `&&`, `|`, `;` and `<(`, without assignments and redirections. */
export const ourRuns = (text: string): string[][] =>
  text
    .split(/&&|\|\||[|;]|<\(|\$\(/)
    .map((part) => part.trim().replace(/\)"?$/, ''))
    .map((part) => words(part.replaceAll(/\s\d?>{1,2}(&\d| *\S+)/g, '')))
    .map((argv) => argv.slice(argv.findIndex((word) => !/^[A-Z_]+=/.test(word))))
    .filter(([first]) => first === 'hermes-compat')
    .map(([, ...argv]) => argv);

/** The program's context where nothing is run and nothing printed. */
const still = (): Parameters<typeof wholeProgram>[0] => {
  const sink = new PassThrough();
  const io = { stdin: sink, stdout: sink, stderr: sink, env: {}, cwd: '/', home: '/' };
  return {
    io: { ...io, platform: 'linux', pid: 0, lastWords: new Set(), signal: new AbortController().signal },
    rest: [],
    finish: () => {},
  };
};

/** What the program's own parser says against these arguments; null when it takes them. */
export async function refusal(argv: readonly string[]): Promise<string | null> {
  const rest = argv.indexOf('--');
  const program = await programFor(argv, still());
  idle(program);
  return program.parseAsync(rest === -1 ? argv : argv.slice(0, rest), { from: 'user' }).then(
    () => null,
    (error: Error & { exitCode?: number }) => (error.exitCode === 0 ? null : error.message),
  );
}

/** Parses and does nothing. */
function idle(command: Command): void {
  const own = command.commands.filter((each) => each.name() !== 'help');
  if (own.length === 0) command.action(() => {});
  for (const each of own) idle(each);
}

/** The whole help of every command and subcommand, examples included. */
export async function helpTexts(): Promise<string[]> {
  const found: string[] = [];
  let text = '';
  const program = await wholeProgram(still());
  const visit = (command: Command): void => {
    text = '';
    command.configureOutput({ writeOut: (part) => (text += part) });
    command.outputHelp();
    found.push(text);
    for (const each of command.commands) if (each.name() !== 'help') visit(each);
  };
  for (const command of program.commands) if (command.name() !== 'help') visit(command);
  return found;
}
