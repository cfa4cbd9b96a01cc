/**
 * What is known of one engine, beside the matrix: how its source is built, what its status says, its contract, and what its
 * gateway sends in turns. Recorded from the ladder in `known.json`; a new engine is held against it.
 */
export interface KnownEngine {
  version: string;
  generation: string;
  /** `source` is the tree's word, `rpc` that of a new session; null where there is none. */
  contract: { source: string | null; rpc: string | null };
  /** Where the places are that patches and the generation go by, e.g. `web_server.py, module level`. */
  anchors: Record<string, string>;
  /** What follows from them: state of each patch, whether plugins need a name in the configuration. */
  structure: Record<string, string>;
  /** Top-level names in GET /api/status; null where no dashboard starts. */
  status: string[] | null;
  /** Payload names by event, of what the gateway sent; null where nobody could speak to it. */
  events: Record<string, string[]> | null;
}

export interface Known {
  kind: 'known-engines';
  engines: KnownEngine[];
}

export type Difference = {
  kind: 'anchor' | 'structure' | 'contract' | 'status-field' | 'event' | 'generation' | 'not-measured';
  text: string;
};

/** Sent now and then, so that its absence says nothing: titles, spinners, notes to other sessions. */
const sometimes =
  /^(session\.|sessions\.|projects\.|status\.|thinking\.|notification\.|agent\.|gateway\.|tool\.generating|tool\.progress|error$)/;

/** The known engine that an unknown one is held against: the newest that is not newer. */
export function nearest(known: readonly KnownEngine[], version: string): KnownEngine {
  const older = known.filter((each) => compareVersions(each.version, version) <= 0);
  const found = (older.length > 0 ? older : known).toSorted((a, b) => compareVersions(a.version, b.version));
  const last = older.length > 0 ? found.at(-1) : found[0];
  if (last === undefined) throw new Error('nothing is known yet: npm run lab -- --part facts --write');
  return last;
}

const numbers = (version: string): number[] => (version.match(/\d+/g) ?? []).map(Number);

function compareVersions(a: string, b: string): number {
  const [x, y] = [numbers(a), numbers(b)];
  for (let i = 0; i < Math.max(x.length, y.length); i += 1) {
    const difference = (x[i] ?? 0) - (y[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** What is new in an engine. What follows from a moved anchor is told with it, not beside it. */
export function newsOf(now: KnownEngine, before: KnownEngine): Difference[] {
  return [
    ...sourceNews(now, before),
    ...contractNews(now, before),
    ...statusNews(now, before),
    ...eventNews(now, before),
  ];
}

function sourceNews(now: KnownEngine, before: KnownEngine): Difference[] {
  const moved = changed(before.anchors, now.anchors).map(
    (name) => `${name}: ${now.anchors[name] ?? 'nowhere'}, was: ${before.anchors[name] ?? 'nowhere'}`,
  );
  const follows = [
    ...changed(before.structure, now.structure).map(
      (name) => `${name}: ${now.structure[name] ?? 'nothing'}, was: ${before.structure[name] ?? 'nothing'}`,
    ),
    ...(now.generation === before.generation
      ? []
      : [`generation: ${now.generation}, was: ${before.generation}`]),
  ];
  if (moved.length === 0) return follows.map((text) => ({ kind: 'structure', text }));
  return moved.map((text, index) => ({
    kind: 'anchor',
    text: index === 0 && follows.length > 0 ? `${text}\n    hence ${follows.join('\n    hence ')}` : text,
  }));
}

function contractNews(now: KnownEngine, before: KnownEngine): Difference[] {
  const words = ({ contract: { source, rpc } }: KnownEngine): string =>
    source === rpc || rpc === null
      ? (source ?? 'none')
      : `${source ?? 'none'} in the source, ${rpc} said by a session`;
  return words(now) === words(before) ||
    (rpcMissing(now, before) && now.contract.source === before.contract.source)
    ? []
    : [{ kind: 'contract', text: `contract: ${words(now)}, was: ${words(before)}` }];
}

const rpcMissing = (now: KnownEngine, before: KnownEngine): boolean =>
  now.contract.rpc === null || before.contract.rpc === null;

function statusNews(now: KnownEngine, before: KnownEngine): Difference[] {
  if (before.status === null) return [];
  if (now.status === null) return [{ kind: 'not-measured', text: 'GET /api/status: no dashboard started' }];
  const [is, was] = [now.status, before.status];
  return [
    ...is
      .filter((name) => !was.includes(name))
      .map((name) => statusField(`new field in /api/status: ${name}`)),
    ...was.filter((name) => !is.includes(name)).map((name) => statusField(`gone from /api/status: ${name}`)),
  ];
}

const statusField = (text: string): Difference => ({ kind: 'status-field', text });

function eventNews(now: KnownEngine, before: KnownEngine): Difference[] {
  if (before.events === null) return [];
  if (now.events === null)
    return [{ kind: 'not-measured', text: 'turns: nobody could speak to the gateway' }];
  const [is, was] = [now.events, before.events];
  const told: Difference[] = [];
  const tell = (text: string): void => void told.push({ kind: 'event', text });
  for (const type of Object.keys(is)) {
    if (was[type] === undefined) tell(`new event: ${type} (${is[type]?.join(', ')})`);
    else
      for (const key of is[type] ?? [])
        if (!was[type].includes(key)) tell(`new in the event ${type}: ${key}`);
  }
  for (const type of Object.keys(was)) {
    if (sometimes.test(type)) continue;
    if (is[type] === undefined) tell(`no longer sent: ${type}`);
    else
      for (const key of was[type] ?? [])
        if (!is[type].includes(key)) tell(`gone from the event ${type}: ${key}`);
  }
  return told;
}

/** What was seen now, with the rare events that an earlier look heard. */
export function withRare(now: KnownEngine, before: KnownEngine | undefined): KnownEngine {
  const rare = Object.entries(before?.events ?? {}).filter(([type]) => sometimes.test(type));
  if (now.events === null || rare.length === 0) return now;
  const all = Object.entries({ ...Object.fromEntries(rare), ...now.events });
  return { ...now, events: Object.fromEntries(all.toSorted(([a], [b]) => a.localeCompare(b))) };
}

const changed = (before: Record<string, string>, now: Record<string, string>): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(now)])].filter((name) => before[name] !== now[name]);

/** One fact a line. */
export const knownText = (known: Known): string => `${JSON.stringify(known, null, 2)}\n`;
