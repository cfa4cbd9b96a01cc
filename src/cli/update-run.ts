import { usageError } from '../errors.ts';
import type { Host } from '../host/types.ts';
import type { UpdateRun } from '../lifecycle/update/run.ts';
import type { UpdateDocument } from '../lifecycle/update/schema.ts';
import type { UpdateState } from '../lifecycle/update/state.ts';
import { previewUpdate, update } from '../lifecycle/update/update.ts';
import { updatePlanText, updateText } from '../report/update-text.ts';
import { shown } from '../report/shown.ts';
import { addressOf } from '../target/address.ts';
import type { Target } from '../target/types.ts';
import { confirm } from './ask.ts';
import type { Context } from './command.ts';
import type { ExitCode } from './exit-codes.ts';
import { isInteractive, type Io, write } from './io.ts';
import { openHostFor } from './open-host.ts';
import { openPlace } from './open-place.ts';
import { emit, readFormat } from './output.ts';
import { type RawOptions, readRefinements, readTargets } from './request.ts';
import { sayIdentity } from './say-identity.ts';
import { examiner } from './update-check.ts';
import { documentOf, dryRun } from './update-document.ts';

type Action = UpdateDocument['action'];

export async function runUpdate(
  word: string,
  options: RawOptions,
  action: Action,
  { io, rest, finish }: Context,
): Promise<void> {
  const [target] = readTargets([word], io);
  if (target === undefined || target.kind === 'http')
    throw usageError('an update changes files: the target is this machine or one reached by ssh');
  const host = await openHostFor(options, io)(target);
  try {
    const run = await updateRun(host, target, options, rest, io);
    const document =
      options['dryRun'] === true
        ? dryRun(await previewUpdate(run), target, action)
        : documentOf(await update(run, ranges[action]), target, action);
    const json = readFormat(options, ['human', 'json'] as const, 'json') === 'json';
    await emit(io, options, json ? `${JSON.stringify(document, null, 2)}\n` : updateText(document));
    finish(document.exitCode as ExitCode);
  } finally {
    await host.close();
  }
}

const ranges = {
  update: { from: 'begin', to: 'end' },
  'pre-update': { from: 'begin', to: 'taken-out' },
  'post-update': { from: 'updated', to: 'end' },
} as const;

async function updateRun(
  host: Host,
  target: Target,
  options: RawOptions,
  rest: readonly string[],
  io: Io,
): Promise<UpdateRun> {
  const refinements = readRefinements(options, io);
  const env = Object.entries(io.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const path = target.kind === 'http' ? null : target.path;
  return {
    host,
    signal: io.signal,
    now: () => new Date().toISOString(),
    open: async (at) => {
      const first = { install: path, home: refinements.home, profile: refinements.profile };
      const place = await openPlace(host, target, at ?? first, io);
      if (at === null && options['dryRun'] !== true) await sayIdentity(io, host, place.session.scene);
      return place;
    },
    again: againWords(target, options, rest),
    engineArgs: rest,
    env: target.kind === 'local' ? Object.fromEntries(env) : {},
    say: (line) => void write(io.stderr, `hermes-compat: ${shown(line)}\n`),
    output: (bytes) => void io.stderr.write(shownLines(bytes)),
    consent: (state) => consent(state, options, io),
    examine: options['check'] === false ? null : await examiner(host, target, options, io),
  };
}

/** The same command once more. A continued run takes the engine's words from its state. */
function againWords(target: Target, options: RawOptions, rest: readonly string[]): string[] {
  const word = addressOf(target);
  const named = (['home', 'profile'] as const).flatMap((name) => {
    const given = options[name];
    return typeof given === 'string' ? [`--${name}`, given] : [];
  });
  const engineWords = rest.length === 0 ? [] : ['--', ...rest];
  return ['hermes-compat', 'update', ...(word === 'local' ? [] : [word]), ...named, ...engineWords];
}

/** The engine's words, without what steers a terminal; line breaks stay. */
const shownLines = (bytes: Buffer): string =>
  bytes
    .toString('utf8')
    .split('\n')
    .map((line) => shown(line, 2000))
    .join('\n');

async function consent(state: UpdateState, options: RawOptions, io: Io): Promise<boolean> {
  await write(io.stderr, updatePlanText({ ...state, toTakeOut: state.taken.map(({ patch }) => patch) }));
  if (options['yes'] === true) return true;
  return isInteractive(io) && confirm(io, 'Update now?');
}
