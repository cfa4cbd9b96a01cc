import { CompatError } from '../errors.ts';
import type { ExamineInput } from '../lifecycle/examine.ts';
import { maskKeys } from '../live/mask-keys.ts';
import type { Target } from '../target/types.ts';
import type { Io } from './io.ts';
import { watchSessions } from './left-behind.ts';
import { apiServerUrl, openLegacyTarget } from './legacy-target.ts';
import { openLiveTarget } from './live-target.ts';
import type { RawOptions } from './request.ts';
import type { TurnsParts } from './turn-document.ts';

const cost =
  'It costs one turn of the configured model (system prompt and tools are sent with it, often 10,000 tokens and more).';
const prompt = 'Answer with the one word: ready';

/**
 * One turn over the transport that the mode names. In mode `auto` a dashboard that fails before the prompt was sent leaves the API server: where
 * one is named it is used, and that is said. What fails later belongs to its turn, and is sent nowhere again.
 */
export async function basicTurn(target: Target, options: RawOptions, io: Io): Promise<TurnsParts> {
  const { readExamineOptions } = await import('./examine-request.ts');
  const input = (await readExamineOptions(options, io))(target);
  const { mode } = input.refinements;
  if (mode === 'legacy') return overApiServer(target, options, io, input);
  const result = await overDashboard(target, options, io, input).catch((error: unknown) => {
    if (error instanceof CompatError && error.kind === 'unchecked') return error;
    throw error;
  });
  const isFailure = result instanceof CompatError;
  if (mode === 'dashboard' || (!isFailure && (result.sent || io.signal.aborted)))
    return isFailure ? raise(result) : result.parts;
  const why = isFailure ? result.message : (result.parts.results[0]?.why ?? 'the prompt was not taken');
  return instead(target, options, io, { input, why, failure: isFailure ? result : null });
}

const raise = (error: CompatError): never => {
  throw error;
};

interface Failed {
  input: ExamineInput;
  why: string;
  failure: CompatError | null;
}

async function instead(
  target: Target,
  options: RawOptions,
  io: Io,
  { input, why, failure }: Failed,
): Promise<TurnsParts> {
  const alone = withoutApiServer(why, failure);
  if (apiServerUrl(target, options) === null) throw alone;
  const parts = await overApiServer(target, options, io, input).catch((error: unknown) => {
    // Where only the target itself could be one, and is none, the dashboard is what is missing.
    const isTarget = options['apiServer'] === undefined;
    throw isTarget && error instanceof CompatError && error.kind === 'unchecked' ? alone : error;
  });
  return { ...parts, notes: [`the dashboard failed before the prompt was sent: ${why}`, ...parts.notes] };
}

/** Where the cause is known, that is what helps; another transport is named where there is nothing better, or where it is what answered. */
function withoutApiServer(why: string, failure: CompatError | null): CompatError {
  const cause = failure?.details.finding;
  const isHint = cause === undefined || cause === 'API_SERVER_NOT_DASHBOARD';
  const hint = 'The API server of a gateway could still carry it: name it with --api-server URL';
  const text = maskKeys(why);
  return new CompatError(
    'unchecked',
    isHint ? `${text.replace(/\.$/, '')}. ${hint}` : text,
    failure?.details ?? {},
  );
}

async function overDashboard(
  target: Target,
  options: RawOptions,
  io: Io,
  input: ExamineInput,
): Promise<{ parts: TurnsParts; sent: boolean }> {
  const [{ consent }, { runBasic }] = await Promise.all([import('./consent.ts'), import('../live/basic.ts')]);
  const live = await openLiveTarget(target, options, io, input);
  const { way, version } = live;
  const keep = options['keep'] === true;
  const watch = watchSessions(io, way.url);
  try {
    await consent(io, options, `Send one short prompt through ${way.url}? ${cost}`);
    const { made } = watch;
    const { result, storedId, sent, left } = await runBasic({ way, prompt, signal: io.signal, keep, made });
    const kept = keep && storedId !== null ? [`session ${storedId} is kept`] : [];
    const parts = { suite: 'basic', transport: 'dashboard', target, version } as const;
    watch.add(left);
    const notes = [...kept, ...watch.notes];
    return { parts: { ...parts, url: way.url, results: [result], notes }, sent };
  } finally {
    watch.close();
    await live.close();
  }
}

async function overApiServer(
  target: Target,
  options: RawOptions,
  io: Io,
  input: ExamineInput,
): Promise<TurnsParts> {
  const [{ consent }, { runLegacyBasic }, { legacyNotes }] = await Promise.all([
    import('./consent.ts'),
    import('../live/legacy-basic.ts'),
    import('../live/legacy-chat.ts'),
  ]);
  const { way, server, close } = await openLegacyTarget(target, options, io, input);
  const keep = options['keep'] === true;
  const watch = watchSessions(io, way.url);
  try {
    const stays =
      server.deletes && way.used.kind === 'bearer'
        ? ''
        : ' Its session stays there: this API server deletes none.';
    await consent(io, options, `Send one short prompt through the API server ${way.url}? ${cost}${stays}`);
    // Without a key the words of the first prompt name the session, so they are this run's own.
    const own = `${prompt} (check ${crypto.randomUUID().slice(0, 8)})`;
    const { result, sessionId, left } = await runLegacyBasic({
      way,
      abilities: server,
      prompt: own,
      signal: io.signal,
      keep,
      made: watch.made,
    });
    watch.add(left === null ? [] : [left]);
    const notes = [
      ...legacyNotes(server, sessionId),
      ...(keep && sessionId !== null ? [`session ${sessionId} is kept`] : []),
      ...watch.notes,
    ];
    const parts = { suite: 'basic', transport: 'legacy', target, version: server.version } as const;
    return { ...parts, url: way.url, results: [result], notes };
  } finally {
    watch.close();
    await close();
  }
}
