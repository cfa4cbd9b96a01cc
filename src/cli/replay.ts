import { usageError } from '../errors.ts';
import type { TimelineWriter } from '../report/timeline.ts';
import { coloured, plain } from '../report/style.ts';
import type { StoredSessions } from '../turn/index.ts';
import type { BuildCommand, Context } from './command.ts';
import { examples } from './command.ts';
import type { ExitCode } from './exit-codes.ts';
import type { FrameLog } from './frame-log.ts';
import type { Io } from './io.ts';
import { wantsColor, write } from './io.ts';
import { readFormat } from './output.ts';
import { replayLog } from './replay-log.ts';
import { pathResolver, type RawOptions, readTextFile } from './request.ts';
import type { Sink } from './sink.ts';

const formats = ['human', 'json', 'rows', 'html'] as const;

const codes = `
Exit codes:
  0  replayed
  1  --twice changed a turn, or stored rows differ (with --fail-on-difference)
  2  usage error, or a file that is no recording
  130 interrupted
`;

export const replay: BuildCommand = (command, context) => {
  command
    .argument('[file...]', 'recordings: JSON lines, plain or gzip, or a HAR; - is standard input')
    .option('--stored <FILE>', 'compare with the stored rows of this file')
    .option('--fail-on-difference', 'exit 1 when the stored rows differ')
    .option('--twice', 'feed every frame twice and fail if anything changes')
    .option('--json', 'the same as --format json')
    .option('--format <FORMAT>', formats.join(', '))
    .option('--output <FILE>', 'write it there instead of stdout')
    .option('-v, --verbose', 'also what led to each answer: thoughts, tools, times, evidence')
    .option('-q, --quiet', 'only the closing lines')
    .option('--no-color', 'no colour')
    .addHelpText(
      'after',
      `${examples([
        'hermes-compat replay turn.jsonl',
        'hermes-compat replay turn.jsonl.gz --verbose',
        'hermes-compat replay turn.jsonl --stored rows.json --json',
        'hermes-compat replay browser.har --format html --output turns.html',
        'tail -f turn.jsonl | hermes-compat replay -',
      ])}${codes}`,
    )
    .action((files: string[], options: RawOptions) => runReplay(files, options, context));
};

async function runReplay(
  files: readonly string[],
  options: RawOptions,
  { io, finish }: Context,
): Promise<void> {
  const format = readFormat(options, formats, 'json');
  const names = namesOf(files, io);
  const stored = await readStored(options, names, io);
  const [{ timelineWriter }, { openFrameLog }, { openSink }] = await Promise.all([
    import('../report/timeline.ts'),
    import('./frame-log.ts'),
    import('./sink.ts'),
  ]);
  const logs: FrameLog[] = [];
  for (const name of names) logs.push(await openFrameLog(name, io));
  const style =
    typeof options['output'] !== 'string' && wantsColor(io, options['color'] as boolean | undefined)
      ? coloured
      : plain;
  const width = Math.min(io.stdout.columns ?? 80, 100);
  const writer = timelineWriter(format, {
    style,
    verbose: options['verbose'] === true,
    quiet: options['quiet'] === true,
    width,
  });
  const sink = await openSink(io, options);
  try {
    const code = await replayAll(logs, { writer, sink, stored, options, io });
    await sink.close();
    finish(code);
  } catch (error) {
    await sink.drop();
    throw error;
  }
}

function namesOf(files: readonly string[], io: Io): readonly string[] {
  if (files.length === 0 && io.stdin.isTTY === true)
    throw usageError('no recording named (- is standard input)');
  const names = files.length === 0 ? ['-'] : files;
  if (names.filter((name) => name === '-').length > 1)
    throw usageError('standard input can be read only once');
  return names;
}

async function readStored(
  options: RawOptions,
  names: readonly string[],
  io: Io,
): Promise<StoredSessions | null> {
  const file = options['stored'];
  if (typeof file !== 'string') {
    if (options['failOnDifference'] === true) throw usageError('--fail-on-difference needs --stored');
    return null;
  }
  if (names.length > 1) throw usageError('--stored goes with one recording');
  const { storedSessionsOf } = await import('../turn/index.ts');
  const text = await readTextFile(pathResolver(io)(file), 'the stored rows');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw usageError(`${file} is not JSON`, { cause: error });
  }
  const none = `${file} holds no stored sessions: save the answer of GET /api/sessions/ID/messages (see cases/README.md)`;
  try {
    const stored = storedSessionsOf(value);
    if (stored.sessions.length > 0) return stored;
  } catch (error) {
    throw usageError(none, { cause: error });
  }
  throw usageError(none);
}

interface Run {
  writer: TimelineWriter;
  sink: Sink;
  stored: StoredSessions | null;
  options: RawOptions;
  io: Io;
}

async function replayAll(logs: readonly FrameLog[], run: Run): Promise<ExitCode> {
  const { writer, sink, io, options } = run;
  let code: ExitCode = 0;
  await sink.write(writer.begin(logs.length));
  for (const [place, log] of logs.entries()) {
    await sink.write(writer.head(log.name, place));
    const end = await replayLog(log, { ...run, twice: options['twice'] === true });
    await sink.write(writer.foot(end));
    await tellUnread(io, log);
    if ((end.changedByTwice ?? []).length > 0) code = 1;
    if (options['failOnDifference'] === true && end.comparison?.equal === false) code = 1;
    if (log.unread.broken !== null) code = 2;
  }
  await sink.write(writer.end());
  return io.signal.aborted ? 130 : code;
}

async function tellUnread(io: Io, { name, unread }: FrameLog): Promise<void> {
  const { lines, first, cut, broken } = unread;
  if (lines > 0) {
    const what =
      lines === 1
        ? `line ${first} is no JSON and was left out`
        : `${lines} lines are no JSON and were left out (first: ${first})`;
    await write(io.stderr, `hermes-compat: ${name}: ${what}\n`);
  }
  if (cut) await write(io.stderr, `hermes-compat: ${name}: the end is not whole and was left out\n`);
  if (broken !== null) await write(io.stderr, `hermes-compat: ${broken}; what follows was left out\n`);
}
