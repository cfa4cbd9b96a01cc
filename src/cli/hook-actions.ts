import { realpath } from 'node:fs/promises';
import { CompatError } from '../errors.ts';
import type { Host } from '../host/types.ts';
import type { HooksDocument } from '../lifecycle/hook-schema.ts';
import { defaultHooks, hookKind, hookKinds, hookState } from '../lifecycle/hooks/kinds.ts';
import { readHooks } from '../lifecycle/hooks/records.ts';
import { refuseChanged, removeHook } from '../lifecycle/hooks/remove.ts';
import { type HookId, hookIds, type HookPlace } from '../lifecycle/hooks/types.ts';
import { documentHead } from '../tool.ts';
import type { Target } from '../target/types.ts';
import type { Context } from './command.ts';
import { consent } from './consent.ts';
import { askAll, installAll } from './hook-install.ts';
import { hookTarget, refuseNothing } from './hook-run.ts';
import type { Io } from './io.ts';
import { openHostFor } from './open-host.ts';
import { openPlace } from './open-place.ts';
import { emit, readFormat } from './output.ts';
import { oneOf, type RawOptions, readRefinements } from './request.ts';
import { sayIdentity } from './say-identity.ts';

export async function install(words: string[], options: RawOptions, context: Context): Promise<void> {
  const { io } = context;
  await withPlace(options, io, async (place, target) => {
    await needHome(place);
    const ids = words.length === 0 ? await defaultHooks(place) : named(words);
    if (options['dryRun'] === true) return showFiles(place, target, ids, options, io);
    const { possible, left } = await askAll(place, ids, words.length === 0);
    await sayIdentity(io, place.host, place);
    await consent(io, options, `Install ${possible.join(' and ')} for ${place.home.root}?`);
    const done = await installAll(place, possible);
    await show(place, target, [...done, ...left], options, io);
  });
}

/** The records and the log of a hook live in HERMES_HOME, which is the engine's to make. */
async function needHome({ host, home }: HookPlace): Promise<void> {
  if ((await host.stat(home.root)) !== null) return;
  throw new CompatError(
    'refused',
    `a hook needs the folder ${home.root}, and it is not there. Start Hermes once, or name its HERMES_HOME with --home`,
  );
}

export async function status(_words: string[], options: RawOptions, { io, finish }: Context): Promise<void> {
  await withPlace(options, io, async (place, target) => {
    const document = await show(place, target, [], options, io);
    if (document.hooks.some(({ state }) => state === 'gone' || state === 'changed')) finish(1);
  });
}

export async function remove(words: string[], options: RawOptions, { io }: Context): Promise<void> {
  await withPlace(options, io, async (place, target) => {
    const installed = await readHooks(place.host, place.home.root);
    const ids = words.length === 0 ? installed.map(({ id }) => id) : named(words);
    for (const record of installed) if (ids.includes(record.id)) await refuseChanged(place, record);
    if (ids.length > 0) {
      await sayIdentity(io, place.host, place);
      await consent(io, options, `Remove ${ids.join(' and ')} of ${place.home.root}?`);
    }
    const done: string[] = [];
    for (const id of ids)
      done.push((await removeHook(place, id)) ? `${id} is removed.` : `${id} was not installed.`);
    if (ids.length === 0) done.push('No hook is installed.');
    await show(place, target, done, options, io);
  });
}

const named = (words: readonly string[]): HookId[] => [
  ...new Set(words.map((word) => oneOf(word, hookIds, 'the hook'))),
];

async function withPlace(
  options: RawOptions,
  io: Io,
  work: (place: HookPlace, target: Target) => Promise<void>,
): Promise<void> {
  const target = hookTarget(options, io);
  const host = await openHostFor(options, io)(target);
  try {
    const refinements = readRefinements(options, io);
    const asked = { install: target.path, home: refinements.home, profile: refinements.profile };
    const { located, session } = await openPlace(host, target, asked, io);
    if (target.path !== null) refuseNothing(target.path, located.host.named);
    const { home, install: found } = session.scene;
    const { stdout } = await host.script('printf "%s\\n" "$HOME"; command -v hermes || :');
    const [userHome = '', onPath = ''] = stdout.toString('utf8').split('\n');
    const [self, ...more] = await ourCommand(host, target);
    const command = [self ?? '', ...more, 'hook', 'run', '--home', home.root];
    await work(
      { host, home, install: found, command, userHome, onPath: onPath.startsWith('/') ? onPath : null },
      target,
    );
  } finally {
    await host.close();
  }
}

/** How this program is started there. A hook runs without the PATH of a person. */
async function ourCommand(host: Host, target: Target): Promise<string[]> {
  if (target.kind === 'local') return [process.execPath, await realpath(process.argv[1] ?? '')];
  const { stdout } = await host.script('command -v hermes-compat || :');
  const path = stdout.toString('utf8').trim();
  if (path.startsWith('/')) return [path];
  throw new CompatError(
    'refused',
    `hermes-compat is not installed on ${host.name}, and a hook there needs it. Install it there, or run \`hermes-compat hook run --target ${target.name}\` from here, e.g. by cron`,
  );
}

async function show(
  place: HookPlace,
  target: Target,
  done: string[],
  options: RawOptions,
  io: Io,
): Promise<HooksDocument> {
  const records = await readHooks(place.host, place.home.root);
  const hooks = await Promise.all(
    hookKinds.map(async (kind): Promise<HooksDocument['hooks'][number]> => {
      const record = records.find(({ id }) => id === kind.id);
      const state = record === undefined ? 'not-installed' : await hookState(place, record);
      const problem = state === 'not-installed' || state === 'gone' ? await kind.problem(place) : null;
      const { id, does, limits } = kind;
      const files = (record?.files ?? []).map(({ path }) => ({ path, text: null }));
      return { id, state, possible: problem === null, problem, does, limits, files };
    }),
  );
  const document = documentOf(place, target, hooks, done);
  const { hooksText } = await import('../report/hook-text.ts');
  await emit(io, options, isJson(options) ? asJson(document) : hooksText(document));
  return document;
}

async function showFiles(
  place: HookPlace,
  target: Target,
  ids: readonly HookId[],
  options: RawOptions,
  io: Io,
): Promise<void> {
  const hooks = await Promise.all(
    ids.map(async (id): Promise<HooksDocument['hooks'][number]> => {
      const kind = hookKind(id);
      const problem = await kind.problem(place);
      const files = (await kind.files(place)).map(({ path, text }) => ({ path, text }));
      const { does, limits } = kind;
      return { id, state: 'not-installed', possible: problem === null, problem, does, limits, files };
    }),
  );
  const document = documentOf(place, target, hooks, []);
  const { hookFilesText } = await import('../report/hook-text.ts');
  await emit(io, options, isJson(options) ? asJson(document) : hookFilesText(document));
}

const documentOf = (
  { home }: HookPlace,
  target: Target,
  hooks: HooksDocument['hooks'],
  done: string[],
): HooksDocument => ({
  ...documentHead('hooks'),
  target: { kind: target.kind, name: target.name, url: null },
  home: home.root,
  hooks,
  done,
});

const isJson = (options: RawOptions): boolean =>
  readFormat(options, ['human', 'json'] as const, 'json') === 'json';
const asJson = (document: HooksDocument): string => `${JSON.stringify(document, null, 2)}\n`;
