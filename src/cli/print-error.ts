import type { CompatError, ErrorDetails } from '../errors.ts';
import { documentHead, tool } from '../tool.ts';
import { exitCodeOfError } from './exit-codes.ts';
import type { Io } from './io.ts';
import { write } from './io.ts';
import { shellLine } from '../report/shell-line.ts';

/** Errors go to stderr for people; a program that asked for JSON also gets one document on stdout. */
export async function printError(argv: readonly string[], io: Io, error: CompatError): Promise<void> {
  const { finding = null, args = {}, commands = [], journal = null } = error.details;
  if (wantsJson(argv)) {
    const document = {
      ...documentHead('error'),
      error: { kind: error.kind, finding, message: error.message, args, commands, journal },
      exitCode: exitCodeOfError(error),
    };
    await write(io.stdout, `${JSON.stringify(document, null, argv.includes('ndjson') ? undefined : 2)}\n`);
    return;
  }
  await write(io.stderr, `${humanError(error.message, error.details)}\n`);
}

function humanError(message: string, { finding, commands = [], journal }: ErrorDetails): string {
  const lines = [`hermes-compat: ${message}`];
  if (finding !== undefined) lines.push(`  (${finding}; hermes-compat explain ${finding})`);
  if (journal !== undefined) lines.push(`  journal: ${journal}`);
  for (const command of commands) lines.push(`  $ ${shellLine(command)}`);
  return lines.join('\n');
}

/** Something that we did not foresee. Message and place only: a stack or a dump could hold a secret. */
export async function printBug(argv: readonly string[], io: Io, error: unknown): Promise<void> {
  const message =
    error instanceof Error
      ? `${error.name}: ${error.message.slice(0, 300)}`
      : 'something that is no error was thrown';
  if (wantsJson(argv)) {
    const document = {
      ...documentHead('error'),
      error: { kind: 'bug', finding: null, message, args: {}, commands: [], journal: null },
      exitCode: 70,
    };
    await write(io.stdout, `${JSON.stringify(document, null, 2)}\n`);
  }
  await write(
    io.stderr,
    `hermes-compat: a bug in hermes-compat ${tool.version} (${message}).\n  Please report it with: hermes-compat bundle\n`,
  );
  if (io.env['HERMES_COMPAT_DEBUG'] === '1' && error instanceof Error)
    await write(io.stderr, `${error.stack ?? ''}\n`);
}

const wantsJson = (argv: readonly string[]): boolean =>
  argv.some(
    (word, index) =>
      word === '--json' ||
      /^--format=(nd)?json$/.test(word) ||
      (word === '--format' && /^(nd)?json$/.test(argv[index + 1] ?? '')),
  );
