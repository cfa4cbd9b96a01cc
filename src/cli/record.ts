import { open } from 'node:fs/promises';
import { usageError } from '../errors.ts';
import type { RecordingDocument } from '../live/schema.ts';
import type { LogRecord } from '../turn/index.ts';
import type { Target } from '../target/types.ts';
import { documentHead } from '../tool.ts';
import type { BuildCommand, Context } from './command.ts';
import { examples } from './command.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Io } from './io.ts';
import { write } from './io.ts';
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
    await write(io.stdout, json ? `${JSON.stringify(document, null, 2)}\n` : recordingText(document));
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
  const [{ redactRecord }, { recordSession }, { secretsOf }] = await Promise.all([
    import('../live/redact-frames.ts'),
    import('../live/record-session.ts'),
    import('./live-target.ts'),
  ]);
  const file = pathResolver(io)(String(options['output']));
  const secrets = secretsOf(way);
  const out = await newFile(file);
  let frames = 0;
  let lines: string[] = [];
  try {
    const result = await recordSession({
      way,
      prompts,
      attach: typeof options['attach'] === 'string' ? options['attach'] : null,
      limitMs: seconds,
      keep: options['keep'] === true,
      signal: io.signal,
      onRecord: (line: LogRecord) => {
        frames += 1;
        lines.push(`${JSON.stringify(redactRecord(line, secrets))}\n`);
      },
      flush: async () => {
        const text = lines.join('');
        lines = [];
        await out.write(text);
      },
    });
    return {
      ...documentHead('recording'),
      target: { kind: target.kind, name: target.name, url: way.url },
      file,
      frames,
      turns: result.turns,
      session: result.storedId,
      removed: result.removed,
      exitCode: io.signal.aborted && typeof options['attach'] !== 'string' ? 130 : 0,
    };
  } finally {
    await out.write(lines.join(''));
    await out.close();
  }
}

/** A frame log holds a chat: only for its owner, and never over another file. @throws CompatError usage */
async function newFile(
  path: string,
): Promise<{ write(text: string): Promise<void>; close(): Promise<void> }> {
  const handle = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw usageError(`cannot write ${path} (${error.code ?? 'unknown reason'})`, { cause: error });
  });
  return {
    write: async (text) => {
      if (text !== '') await handle.appendFile(text);
    },
    close: () => handle.close(),
  };
}
