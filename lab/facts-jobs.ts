import { readFile, writeFile } from 'node:fs/promises';
import { type LabEngine, labEngines, nextPage, venvOf } from './engine-modes.ts';
import { inFolder, type Job } from './job.ts';
import { type Known, type KnownEngine, knownText, nearest, newsOf, withRare } from './known.ts';
import { lookAt } from './look.ts';

/** What is known of each rung, measured again; and an engine that nobody knows, held against it. */

export const knownFile = new URL('known.json', import.meta.url);

export async function readKnown(file: URL | string = knownFile): Promise<Known> {
  const text = await readFile(file, 'utf8').catch(() => null);
  return text === null ? { kind: 'known-engines', engines: [] } : (JSON.parse(text) as Known);
}

/** 0.15.2 is known as it is published: the repaired one is no release. */
export const factsJobs = (onSeen: (seen: KnownEngine) => void): Job[] =>
  labEngines
    .filter(({ repaired }) => !repaired)
    .map((engine) => ({
      parts: ['facts'],
      engine: engine.name,
      row: 'known facts',
      run: async () => {
        onSeen(await inFolder((folder) => measure(engine, folder)));
        return [];
      },
    }));

async function measure(engine: LabEngine, folder: string): Promise<KnownEngine> {
  const page = engine.version === '0.13.0' ? await nextPage() : null;
  const { known, notes } = await lookAt(await venvOf(engine, folder), folder, page);
  if (known.events === null && engine.version !== '0.15.2') throw new Error(notes.join('; '));
  return { ...known, version: engine.version };
}

/** Differences to what is committed, in the words of `--add`, one line each. */
export const factsDifferences = (before: Known, now: KnownEngine): string[] => {
  const known = before.engines.find(({ version }) => version === now.version);
  if (known === undefined) return [`facts | ${now.version}: new`];
  return newsOf(now, known).map(({ text }) => `facts | ${now.version} | ${text}`);
};

export async function acceptFacts(seen: readonly KnownEngine[], order: readonly LabEngine[]): Promise<void> {
  const before = await readKnown();
  const earlier = new Map(before.engines.map((engine) => [engine.version, engine]));
  const all = new Map(earlier);
  for (const engine of seen) all.set(engine.version, withRare(engine, earlier.get(engine.version)));
  const engines = order.flatMap(({ version, repaired }) => {
    const engine = repaired ? undefined : all.get(version);
    return engine === undefined ? [] : [engine];
  });
  await writeFile(knownFile, knownText({ kind: 'known-engines', engines }));
}

/** Looks at an engine that is not on the ladder. @returns lines for people, and the exit code: 0 nothing new, 1 news, 3 not all could be seen */
export async function addEngine(
  path: string,
  knownPath: string | null,
): Promise<{ lines: string[]; exit: number }> {
  const known = await readKnown(knownPath ?? knownFile);
  return inFolder(async (folder) => {
    const { known: seen, notes } = await lookAt(path, folder, null);
    const before = nearest(known.engines, seen.version);
    const news = newsOf(seen, before);
    const unseen = news.some(({ kind }) => kind === 'not-measured');
    return {
      lines: [
        `Hermes Agent ${seen.version}, generation ${seen.generation}, contract ${seen.contract.source ?? 'none'}; held against ${before.version}`,
        ...notes.map((note) => `note: ${note}`),
        ...news.map(({ kind, text }) => `${kind}: ${text}`),
        news.length === 0 ? 'nothing new' : `${news.length} difference${news.length === 1 ? '' : 's'}`,
      ],
      exit: unseen ? 3 : news.length === 0 ? 0 : 1,
    };
  });
}
