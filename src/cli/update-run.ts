import { usageError } from '../errors.ts';
import type { Host } from '../host/types.ts';
import type { Report } from '../judge/schema.ts';
import type { Facts } from '../probe/schema.ts';
import { leftAlone } from '../lifecycle/restart.ts';
import type { UpdateResult } from '../lifecycle/update/result.ts';
import type { UpdateRun } from '../lifecycle/update/run.ts';
import type { UpdateDocument } from '../lifecycle/update/schema.ts';
import type { UpdateState } from '../lifecycle/update/state.ts';
import { previewUpdate, update } from '../lifecycle/update/update.ts';
import { updatePlanText, updateText } from '../report/update-text.ts';
import { shown } from '../report/shown.ts';
import { schemaVersion, tool } from '../tool.ts';
import { addressOf } from '../target/address.ts';
import type { Target } from '../target/types.ts';
import { confirm } from './ask.ts';
import type { Context } from './command.ts';
import type { ExitCode } from './exit-codes.ts';
import { readExamineOptions } from './examine-request.ts';
import { isInteractive, type Io, write } from './io.ts';
import { openHostFor } from './open-host.ts';
import { openPlace } from './open-place.ts';
import { emit, readFormat } from './output.ts';
import { type RawOptions, readRefinements, readTargets } from './request.ts';
import { sayIdentity } from './say-identity.ts';

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

/** The last word: a running dashboard, or one that is started on a free port for this and ended. */
async function examiner(
  host: Host,
  target: Target,
  options: RawOptions,
  io: Io,
): Promise<() => Promise<Report>> {
  const [{ examine }, { examineStarted }, { judge }, { readClients }] = await Promise.all([
    import('../lifecycle/examine.ts'),
    import('../lifecycle/examine-started.ts'),
    import('../judge/judge.ts'),
    import('../judge/client.ts'),
  ]);
  const clients = await readClients();
  const client = String(options['client']);
  const wanted = clients.find(({ name }) => name === client);
  if (wanted === undefined)
    throw usageError(
      `no client "${client.slice(0, 40)}"; there is ${clients.map(({ name }) => name).join(', ')}`,
    );
  const inputFor = await readExamineOptions({ ...options, patience: 'cold' }, io);
  return async () => {
    const began = performance.now();
    const base = inputFor(target);
    const needs = { ...base.needs, contract: wanted.contract !== null };
    const input = { ...base, needs, openHost: async () => host };
    const env = target.kind === 'local' ? io.env : {};
    const engineEnv = Object.fromEntries(
      Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const { facts } = await examineStarted(await examine(input), input, engineEnv);
    return {
      ...judge(withoutThisRun(facts), { client, clients, only: [], skip: [] }),
      durationMs: Math.round(performance.now() - began),
    };
  };
}

/** The files of this very update, and its lock, are no update to wait for. */
const withoutThisRun = (facts: Facts): Facts =>
  facts.host?.home == null
    ? facts
    : { ...facts, host: { ...facts.host, home: { ...facts.host.home, update: null } } };

const head = (target: Target, action: Action) => ({
  schemaVersion,
  kind: 'update' as const,
  tool,
  target: { kind: target.kind, name: target.name, url: null },
  action,
});

function dryRun(state: UpdateState, target: Target, action: Action): UpdateDocument {
  return {
    ...head(target, action),
    outcome: 'dry-run',
    continuedFrom: null,
    install: state.install,
    home: state.home,
    before: state.before,
    after: null,
    processes: state.processes.map((each) => ({ ...each, ended: null })),
    toTakeOut: state.taken.map(({ patch }) => patch),
    edits: state.edits.map(({ path, kind }) => ({ path, outcome: 'noted', why: kind })),
    updater: null,
    parked: [],
    patches: [],
    dashboards: [],
    restart: [],
    verdict: null,
    report: null,
    findings: [],
    exitCode: 0,
  };
}

function documentOf(result: UpdateResult, target: Target, action: Action): UpdateDocument {
  const { state, after, report, settled } = result;
  const failed = action === 'update' && state.exitCode !== 0;
  const same = after !== null && after.head === state.before.head && after.version === state.before.version;
  const outcome =
    action === 'pre-update' ? 'prepared' : failed ? 'update-failed' : same ? 'already-current' : 'updated';
  return {
    ...head(target, action),
    outcome,
    continuedFrom: result.continuedFrom,
    install: state.install,
    home: state.home,
    before: state.before,
    after,
    processes: state.processes.map((each) => ({ ...each, ended: result.ended.includes(each.pid) })),
    toTakeOut: state.taken.map(({ patch }) => patch),
    edits: result.edits,
    updater:
      action === 'update'
        ? {
            command: result.command,
            exitCode: state.exitCode,
            receipt: result.receipt,
            log: result.log,
          }
        : null,
    parked: result.parked,
    patches: settled.patches,
    dashboards: result.dashboards,
    restart: result.restart.map((running) =>
      leftAlone(running, { kind: target.kind, name: addressOf(target) }, 'it is not ours to end'),
    ),
    verdict: report?.verdict ?? null,
    report,
    findings: report?.findings.filter(({ severity }) => severity !== 'info').map(({ code }) => code) ?? [],
    exitCode: exitCodeOf(result, failed),
  };
}

/** A failed update that left all as it was is 5; an edit of the user that is not back is 6. */
function exitCodeOf({ report, settled, edits, dashboards }: UpdateResult, failed: boolean): ExitCode {
  if (edits.some(({ outcome }) => outcome === 'parked' || outcome === 'other')) return 6;
  if (failed) return 5;
  if (settled.patches.some(({ outcome }) => outcome === 'refused')) return 4;
  if (dashboards.some(({ outcome }) => outcome === 'failed')) return 1;
  return (report?.exitCode ?? 0) as ExitCode;
}
