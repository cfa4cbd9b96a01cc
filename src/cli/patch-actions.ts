import { writeFile } from 'node:fs/promises';
import { usageError } from '../errors.ts';
import type { Style } from '../report/style.ts';
import { coloured, plain } from '../report/style.ts';
import { documentHead } from '../tool.ts';
import type { Context } from './command.ts';
import { type Io, wantsColor, write } from './io.ts';
import { emit, readFormat } from './output.ts';
import { planOptions } from './patch.ts';
import { withPatchHost } from './patch-host.ts';
import { pathResolver, type RawOptions } from './request.ts';

const formats = ['human', 'json'] as const;

export const styleFor = (io: Io, options: RawOptions): Style =>
  typeof options['output'] !== 'string' && wantsColor(io, options['color'] as boolean | undefined)
    ? coloured
    : plain;

/** One document as JSON or as text. */
export async function show<T>(
  io: Io,
  options: RawOptions,
  document: T,
  text: (document: T, style: Style) => string,
): Promise<void> {
  const json = readFormat(options, formats, 'json') === 'json';
  await emit(
    io,
    options,
    json ? `${JSON.stringify(document, null, 2)}\n` : text(document, styleFor(io, options)),
  );
}

export async function list(options: RawOptions, { io }: Context): Promise<void> {
  const [{ loadCatalogue }, { listText }] = await Promise.all([
    import('../patch/catalogue.ts'),
    import('../report/patch-text.ts'),
  ]);
  const { patches } = await loadCatalogue();
  const document = {
    ...documentHead('patches'),
    patches: patches.map(({ id, revision, title, purpose, capability, engines, retires }) => ({
      id,
      revision,
      title,
      purpose,
      capability,
      engines,
      carriers: ['overlay' as const, 'source' as const],
      retires: retires.probe,
    })),
  };
  await show(io, options, document, listText);
}

export async function status(_words: string[], options: RawOptions, { io, finish }: Context): Promise<void> {
  const [{ statusOf }, { readWorld }, { statusText }] = await Promise.all([
    import('../patch/status.ts'),
    import('../patch/world.ts'),
    import('../report/patch-text.ts'),
  ]);
  await withPatchHost(options, io, async (session) => {
    const world = await readWorld(session.host, session.scene, session.catalogue);
    const document = await statusOf(world, session.catalogue);
    await show(io, options, document, (given, style) =>
      statusText(given, style, options['verbose'] === true),
    );
    if (document.install === null) return finish(3);
    const pending = document.patches.some(
      ({ state, effective }) =>
        state === 'absent' ||
        state === 'applied-older' ||
        state === 'modified' ||
        (state.startsWith('applied') && effective === 'no'),
    );
    if (options['detailedExitcode'] === true && pending) finish(10);
  });
}

export async function plan(words: string[], options: RawOptions, { io, finish }: Context): Promise<void> {
  const [{ planNow }, { planText }] = await Promise.all([
    import('../patch/change.ts'),
    import('../report/patch-text.ts'),
  ]);
  await withPatchHost(options, io, async (session) => {
    const all = session.catalogue.patches.map(({ id }) => id);
    const wanted = planOptions(words, options, all, options['revert'] === true ? 'revert' : 'apply');
    const { document } = (await planNow(session, wanted)).plan;
    const out = options['out'];
    if (typeof out === 'string') await savePlan(pathResolver(io)(out), document, io);
    await show(io, options, document, planText);
    if (document.refusals.length > 0) finish(4);
    else if (document.files.length > 0 && options['detailedExitcode'] === true) finish(10);
  });
}

async function savePlan(path: string, document: object, io: Io): Promise<void> {
  try {
    await writeFile(path, `${JSON.stringify(document, null, 2)}\n`, { mode: 0o600 });
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code ?? 'unknown reason';
    throw usageError(`cannot write the plan to ${path} (${why})`, { cause });
  }
  await write(io.stderr, `plan saved to ${path}\n`);
}

export async function exportSource(
  words: string[],
  options: RawOptions,
  { io, finish }: Context,
): Promise<void> {
  const [{ exportPatch }, { readWorld }] = await Promise.all([
    import('../patch/export.ts'),
    import('../patch/world.ts'),
  ]);
  await withPatchHost(options, io, async (session) => {
    const world = await readWorld(session.host, session.scene, session.catalogue);
    const ids = words.length === 0 ? session.catalogue.patches.map(({ id }) => id) : words;
    const { text, refused } = await exportPatch(world, session.catalogue, ids, new Date());
    for (const line of refused) await write(io.stderr, `${line}\n`);
    if (text === '') return finish(4);
    await emit(io, options, text);
  });
}

export async function history(_words: string[], options: RawOptions, { io }: Context): Promise<void> {
  const [{ readHistory }, { historyText }] = await Promise.all([
    import('../patch/history.ts'),
    import('../report/patch-text.ts'),
  ]);
  await withPatchHost(options, io, async (session) => {
    const { home } = session.scene;
    const entries = (await readHistory(session.host, home.root)).map(({ id: _id, ...entry }) => entry);
    await show(io, options, { ...documentHead('history'), home: home.root, entries }, historyText);
  });
}
