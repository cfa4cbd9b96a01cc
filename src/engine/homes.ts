import { lockFolder, markerFile, sharedMarkerFile } from './compat-places.ts';
import { readConfigExcerpt } from './config-excerpt.ts';
import { dotenvValue } from './dotenv.ts';
import { type Gathered, linesOf, recordsOf } from './gather.ts';
import type { Home } from './schema.ts';
import { statLine } from './tree-facts.ts';

/** One home as the records have it. */
interface RawHome {
  number: string;
  path: string;
  state: string[];
  fact: (name: string) => string[] | null;
  facts: (name: string) => string[][];
  text: (name: string) => string | null;
}

function rawHome(gathered: Gathered, path: string): RawHome | null {
  const fields = (gathered.records.get('homedir') ?? []).find(([, folder]) => folder === path);
  if (!fields) return null;
  const [number = '', , state = ''] = fields;
  const known = recordsOf(gathered, 'homefact', number);
  const facts = (name: string): string[][] =>
    known.filter(([key]) => key === name).map((each) => each.slice(1));
  return {
    number,
    path,
    state: state.split(','),
    facts,
    fact: (name) => facts(name)[0] ?? null,
    text: (name) => gathered.sections.get(`${name}.${number}`) ?? null,
  };
}

/** Content of `active_profile` of a home; null when there is none. */
export function activeProfile(gathered: Gathered, home: string): string | null {
  const name = rawHome(gathered, home)?.fact('active-profile')?.[0] ?? '';
  return /^[a-z0-9][a-z0-9_-]{0,63}$/.test(name) ? name : null;
}

/** Facts of the effective home; markers, journal and locks are those of its root home. */
export function homeOf(
  gathered: Gathered,
  place: Pick<Home, 'path' | 'root' | 'profile' | 'from'>,
  nowMs: number,
): Home {
  const home = rawHome(gathered, place.path);
  const root = rawHome(gathered, place.root);
  const state = home?.state ?? [];
  return {
    ...place,
    exists: state.includes('exists'),
    readable: state.includes('readable'),
    writable: state.includes('writable'),
    managed: state.includes('managed') || (root?.state.includes('managed') ?? false),
    envFile: envFile(home),
    config: config(home, gathered),
    otherPlugins: (home?.facts('plugin') ?? []).flatMap(([name]) =>
      name === undefined || name === 'hermes-compat' ? [] : [name],
    ),
    overlay: overlay(home),
    markers: root === null ? [] : markers(root),
    journalUnfinished: (root?.fact('journal') ?? null) !== null,
    ...(root === null ? {} : ourUpdate(root)),
    locks: root === null ? [] : locks(root, nowMs),
  };
}

function envFile(home: RawHome | null): Home['envFile'] {
  const state = home?.fact('env-file')?.[0];
  const last = (name: string): string | null => home?.facts(name).at(-1)?.[0] ?? null;
  const value = (name: string): string | null => {
    const raw = last(name);
    return raw === null ? null : dotenvValue(raw);
  };
  return {
    exists: state !== undefined,
    readable: state === 'readable',
    tui: value('env-tui'),
    webDist: value('env-web-dist'),
    sessionToken: last('env-token') || null,
  };
}

function config(home: RawHome | null, gathered: Gathered): Home['config'] {
  const state = home?.fact('config')?.[0];
  return {
    exists: state !== undefined,
    readable: state === 'readable',
    ...readConfigExcerpt(home === null ? [] : linesOf(gathered, `config.${home.number}`)),
  };
}

function overlay(home: RawHome | null): Home['overlay'] {
  const said = property(parsed(home?.text('manifest') ?? ''), 'hermes-compat');
  const revision = property(said, 'revision');
  const patches = property(said, 'patches');
  const ids = Array.isArray(patches) ? patches.map((patch: unknown) => property(patch, 'id')) : [];
  return {
    present: (home?.text('manifest') ?? null) !== null && (home?.fact('overlay-api') ?? null) !== null,
    carries: ids.filter((id): id is string => typeof id === 'string'),
    revision: typeof revision === 'number' ? revision : null,
    changedMs: secondsOf(home?.fact('overlay-api')?.[1]),
  };
}

/** The second word of a `stats` line, in milliseconds. */
function secondsOf(line: string | undefined): number | null {
  const seconds = Number(line?.split(' ')[1] ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.round(seconds * 1000) : null;
}

function markers(root: RawHome): Home['markers'] {
  const one = (path: string, text: string | null, ours: (content: unknown) => boolean): Home['markers'] => {
    if (text === null) return [];
    const content = parsed(text);
    const whole = typeof content === 'object' && content !== null && !Array.isArray(content);
    return [{ path, state: whole ? 'ok' : 'corrupt', ours: ours(content), text: text.slice(0, 65_536) }];
  };
  return [
    ...one(markerFile(root.path), root.text('marker-ours'), () => true),
    ...one(sharedMarkerFile(root.path), root.text('marker-other'), (content) =>
      String(property(content, 'version')).startsWith('hermes-compat'),
    ),
  ];
}

/** The head of our own state file: its lists can be long. */
function ourUpdate(root: RawHome): Pick<Home, 'update'> {
  const text = root.text('our-update');
  if (text === null) return {};
  const word = (name: string): string | null =>
    new RegExp(`^  "${name}": "?([\\w:.-]+)`, 'm').exec(text)?.[1] ?? null;
  const holders = root.facts('our-update').filter(([, alive]) => alive !== 'no');
  const [name = '', alive] = holders.find((each) => each[1] === 'yes') ?? holders[0] ?? [];
  return {
    update: {
      step: word('step') ?? 'unknown',
      at: word('at'),
      prepared: word('prepared') === 'true',
      pid: Number(name.split('~')[1]) || null,
      alive: alive === 'yes' ? true : null,
      held: holders.length > 0,
    },
  };
}

function locks(root: RawHome, nowMs: number): Home['locks'] {
  const entry = (kind: 'ours' | 'engine-update', path: string, pid: string, alive: string, stat: string) => ({
    path,
    kind,
    pid: /^\d+$/.test(pid) ? Number(pid) : null,
    alive: alive === 'unknown' ? null : alive === 'yes',
    ageMs: ageOf(stat, nowMs),
  });
  return [
    ...root
      .facts('lock')
      .map(([name = '', alive = '', stat = '']) =>
        entry('ours', `${lockFolder(root.path)}/${name}`, name.split('~')[1] ?? '', alive, stat),
      ),
    ...root
      .facts('update-lock')
      .map(([pid = '', alive = '', stat = '']) =>
        entry('engine-update', `${root.path}/.hermes-update-in-progress`, pid, alive, stat),
      ),
  ];
}

function ageOf(stat: string, nowMs: number): number | null {
  const mtimeMs = statLine(stat)[0]?.[1].mtimeMs;
  return mtimeMs === undefined || Number.isNaN(nowMs) ? null : Math.max(0, Math.round(nowMs - mtimeMs));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return null;
  }
}

const property = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
