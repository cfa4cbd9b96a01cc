import { parseJson } from './json.ts';
import { overlayEventsOf, pruneOverlay, shortened, type OverlayEvent } from './overlay.ts';

/** Where the overlay lies. `write` replaces the whole content or nothing; `setAside` keeps a file that cannot be read under another name. */
export interface OverlayFile {
  read(): Promise<string | null>;
  write(text: string): Promise<void>;
  setAside(): Promise<void>;
}

export interface OverlayStoreOptions {
  /** Largest size of the file in characters; the oldest events make room. Default 256 Ki. */
  maxSize?: number;
}

/** The client's own errors, kept in `<profile home>/desktop/session-overlays.json`. Calls run one after the other. */
export interface OverlayStore {
  all(): Promise<OverlayEvent[]>;
  /** Adds the error of a turn; the first error of a turn stays. */
  append(event: OverlayEvent): Promise<void>;
  /** Notes the prompt that is sent after a failed turn: with it the error finds its place where the engine does not store that prompt. */
  follow(sessionId: string, userText: string): Promise<void>;
  /** Forgets a deleted session. */
  removeSession(sessionId: string): Promise<void>;
  /** Keeps only sessions that exist. */
  prune(sessions: Iterable<string>): Promise<void>;
}

export function openOverlayStore(file: OverlayFile, options: OverlayStoreOptions = {}): OverlayStore {
  const maxSize = options.maxSize ?? 256 * 1024;
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(job: () => Promise<T>): Promise<T> => {
    const next = last.then(job, job);
    last = next.catch(() => undefined);
    return next;
  };
  const change = (how: (events: OverlayEvent[]) => OverlayEvent[]) =>
    inTurn(async () => {
      const { events, broken } = await load(file, maxSize);
      const changed = how(events);
      if (changed.length === events.length && changed.every((event, i) => event === events[i])) return;
      if (broken) await file.setAside();
      await file.write(fitting(changed, maxSize));
    });
  return {
    all: () => inTurn(async () => (await load(file, maxSize)).events),
    append: (event) =>
      change((events) => {
        const known = events.some((e) => e.sessionId === event.sessionId && e.turnId === event.turnId);
        return known ? events : [...events, shortened(event)];
      }),
    follow: (sessionId, userText) =>
      change((events) => {
        const last = events.findLast((event) => event.sessionId === sessionId);
        if (last === undefined || last.nextUserText !== undefined) return events;
        const followed = shortened({ ...last, nextUserText: userText });
        return events.map((event) => (event === last ? followed : event));
      }),
    removeSession: (sessionId) => change((events) => events.filter((event) => event.sessionId !== sessionId)),
    prune: (sessions) => change((events) => pruneOverlay(events, sessions)),
  };
}

/** A file that is missing, too large or no overlay gives no events. */
async function load(
  file: OverlayFile,
  maxSize: number,
): Promise<{ events: OverlayEvent[]; broken: boolean }> {
  const text = await file.read();
  if (text === null || text.trim() === '') return { events: [], broken: false };
  const events = text.length > 16 * maxSize ? null : overlayEventsOf(parseJson(text));
  return { events: events ?? [], broken: events === null };
}

/** The newest events that fit, as the text of the file. */
function fitting(events: readonly OverlayEvent[], maxSize: number): string {
  const lines = events.map((event) => JSON.stringify(event));
  let size = 4;
  let first = lines.length;
  while (first > 0 && size + (lines[first - 1]?.length ?? 0) + 2 <= maxSize) {
    first -= 1;
    size += (lines[first]?.length ?? 0) + 2;
  }
  return lines.length === first ? '[]\n' : `[\n${lines.slice(first).join(',\n')}\n]\n`;
}

/** The overlay of a profile on disk. Written through a new file beside it, readable only by its owner. */
export function overlayFile(path: string): OverlayFile {
  const disk = () => import('node:fs/promises');
  return {
    async read() {
      const fs = await disk();
      return fs.readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null;
        throw error;
      });
    },
    async write(text) {
      const fs = await disk();
      const at = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'));
      if (at > 0) await fs.mkdir(path.slice(0, at), { recursive: true, mode: 0o700 });
      const staged = `${path}.${crypto.randomUUID()}.new`;
      try {
        await fs.writeFile(staged, text, { mode: 0o600, flag: 'wx', flush: true });
        await fs.rename(staged, path);
      } catch (error) {
        await fs.rm(staged, { force: true });
        throw error;
      }
    },
    async setAside() {
      const fs = await disk();
      await fs.rename(path, `${path}.unreadable`);
    },
  };
}
