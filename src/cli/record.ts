import { rm } from 'node:fs/promises';
import { CompatError, usageError } from '../errors.ts';
import type { Recorded } from '../live/record-session.ts';
import type { RecordingDocument } from '../live/schema.ts';
import type { LogRecord } from '../turn/index.ts';
import type { Target } from '../target/types.ts';
import { documentHead } from '../tool.ts';
import type { BuildCommand, Context } from './command.ts';
import { examples } from './command.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Io } from './io.ts';
import { write } from './io.ts';
import { watchSessions } from './left-behind.ts';
import { newLogFile } from './log-file.ts';
import type { LiveTarget } from './live-target.ts';
import { credentialOptions, reachOptions, sshOptions, targetOptions } from './options.ts';
import { readFormat } from './output.ts';
import { pathResolver, type RawOptions, readSeconds, readStrictText, readTargets } from './request.ts';
import { withinLimit } from './run-limit.ts';

export const record: BuildCommand = (command, context) => {
  command
    .argument('[target]', 'local (default), local:/path, ssh://…, an ssh_config alias, http(s)://…', 'local')
    .requiredOption('--output <FILE>', 'the frame log to write; it must not exist yet')
    .option('--prompt-file <FILE>', 'send this in a new session; a line --- begins the next prompt')
    .option('--attach <ID>', 'join the session with this stored id instead, until Ctrl-C')
    .option('--for <SECONDS>', 'with --attach: end by itself after this time')
    .option('--keep', 'do not delete the session that was made for it')
    .option('--yes', 'do not ask')
    .option('--json', 'the same as --format json')
    .option('--format <FORMAT>', 'human, json');
  targetOptions(command);
  credentialOptions(command);
  reachOptions(command);
  sshOptions(command);
  command
    .addHelpText(
      'after',
      `
Every frame of both directions, one JSON object a line, for 'replay' and for bug
reports. System prompt and credentials are left out. The text of the chat
remains.
${examples([
  'hermes-compat record --prompt-file question.txt --output turn.jsonl',
  'hermes-compat record --attach 20261130_140118_13d9d2 --output turn.jsonl',
])}`,
    )
    .action((word: string, options: RawOptions) =>
      withinLimit(options, context.io, (io) => runRecord(word, options, { ...context, io })),
    );
};

async function runRecord(word: string, options: RawOptions, { io, finish }: Context): Promise<void> {
  const json = readFormat(options, ['human', 'json'] as const, 'json') === 'json';
  const { attach, promptFile } = options;
  if (options['mode'] === 'legacy')
    throw usageError('frames exist only on the dashboard; over the API server there are none to record');
  if ((typeof attach === 'string') === (typeof promptFile === 'string'))
    throw usageError('give one of --prompt-file and --attach');
  const prompts = typeof promptFile === 'string' ? await readPrompts(promptFile, io) : [];
  const seconds = readSeconds(typeof options['for'] === 'string' ? options['for'] : null, '--for');
  const [target] = readTargets([word], io);
  if (target === undefined) return;
  const { openLiveTarget } = await import('./live-target.ts');
  const live = await openLiveTarget(target, options, io);
  try {
    await askFirst(live, prompts.length, options, io);
    const document = await recordTo(live, target, { prompts, seconds }, options, io);
    const { recordingText } = await import('../report/turns.ts');
    const notes = document.notes.map((note) => `note: ${note}\n`).join('');
    const text = json ? `${JSON.stringify(document, null, 2)}\n` : `${recordingText(document)}${notes}`;
    await write(io.stdout, text);
    finish(document.exitCode as ExitCode);
  } finally {
    await live.close();
  }
}

async function readPrompts(file: string, io: Io): Promise<string[]> {
  const text = await readStrictText(pathResolver(io)(file), 'the prompt file');
  const prompts = text
    .split(/^---[ \t]*\r?$/m)
    .map((prompt) => prompt.trim())
    .filter((prompt) => prompt !== '');
  if (prompts.length === 0) throw usageError(`${file} holds no prompt`);
  return prompts;
}

/** Up to 0.20 one socket gets the frames of a session: the last that attached. */
async function askFirst(
  { way, version }: LiveTarget,
  prompts: number,
  options: RawOptions,
  io: Io,
): Promise<void> {
  const { consent } = await import('./consent.ts');
  if (typeof options['attach'] !== 'string') {
    const turns = prompts === 1 ? 'one turn' : `${prompts} turns`;
    return consent(
      io,
      options,
      `Send ${turns} through ${way.url}? The configured model is asked and paid for.`,
    );
  }
  const { takesStream } = await import('../live/takes-stream.ts');
  const effect = takesStream(version);
  if (effect !== null) await consent(io, options, `${effect} Join the session?`);
}

interface Wanted {
  prompts: readonly string[];
  seconds: number | null;
}

async function recordTo(
  { way }: LiveTarget,
  target: Target,
  { prompts, seconds }: Wanted,
  options: RawOptions,
  io: Io,
): Promise<RecordingDocument> {
  const [{ redactRecord }, { findSession, recordSession }, { secretsOf }] = await Promise.all([
    import('../live/redact-frames.ts'),
    import('../live/record-session.ts'),
    import('./live-target.ts'),
  ]);
  const keep = options['keep'] === true;
  const attach = typeof options['attach'] === 'string' ? await findSession(way, options['attach']) : null;
  const file = pathResolver(io)(String(options['output']));
  const secrets = secretsOf(way);
  const out = await newLogFile(file);
  const watch = watchSessions(io, way.url);
  let result: Recorded | null = null;
  try {
    result = await recordSession({
      way,
      prompts,
      attach,
      limitMs: seconds,
      keep,
      signal: io.signal,
      onRecord: (line: LogRecord) => out.add(`${JSON.stringify(redactRecord(line, secrets))}\n`),
      flush: out.flush,
      made: watch.made,
    });
  } finally {
    watch.close();
    await out.close();
    // Without a session it holds nothing, and would only be in the way of the next try.
    if (result === null || (result.failure !== null && result.storedId === null))
      await rm(file, { force: true });
  }
  const { turns, storedId: session, removed, failure } = result;
  watch.add(result.left);
  const { notes } = watch;
  if (failure !== null) throw cutShort(file, result, notes);
  return {
    ...documentHead('recording'),
    target: { kind: target.kind, name: target.name, url: way.url },
    file,
    frames: out.lines(),
    turns,
    session,
    removed,
    notes,
    exitCode: io.signal.aborted ? 130 : 0,
  };
}

/** What was recorded is kept, and where it is and what became of the session is said. */
function cutShort(
  file: string,
  { failure, storedId, removed, turns }: Recorded,
  notes: string[],
): CompatError {
  const where =
    storedId === null
      ? 'no file is left'
      : `what came until then is in ${file} (${turns} turn${turns === 1 ? '' : 's'}), of session ${storedId}`;
  const rest = [...(removed ? ['that session is deleted again'] : []), ...notes].map((note) => `; ${note}`);
  return new CompatError('unchecked', `the recording ended early: ${failure}; ${where}${rest.join('')}`, {
    args: { file: storedId === null ? null : file, session: storedId, removed, turns },
  });
}
