import type { EventInput, Session, World } from './core.ts';
import { closeRewind, insertByNumber, openRewind, rerun, take } from './rewind.ts';

const missingLimit = 1000;

/** A numbered event counts once, and stands at the place of its number, through whatever socket it comes. */
export function takeNumbered(session: Session, input: EventInput, seq: number, world: World): void {
  const last = session.lastSeq;
  if (last !== null && seq <= last) {
    if (!takeMissing(session, seq) || session.rewind === null) return;
    insertByNumber(session.rewind, input);
    return rebuild(session, world);
  }
  noteNumber(session, seq, input.order);
  take(session, input, world);
}

/** Marks what lies between the last number and this one as missing; a number that follows at once proves that nothing is. */
function noteNumber(session: Session, seq: number, order: number): void {
  const last = session.lastSeq ?? (session.created ? 0 : null);
  session.lastSeq = seq;
  if (last === null) return;
  if (seq > last + 1) {
    session.missing.push([last + 1, seq - 1]);
    if (session.missing.length > missingLimit) session.missing.shift();
    openRewind(session, order).gap = true;
  } else if (session.rewind !== null && session.missing.length === 0) {
    session.rewind.gap = false;
  }
}

/** Takes a number out of the missing ones; false when it is not missing. */
function takeMissing(session: Session, seq: number): boolean {
  const at = session.missing.findIndex(([from, to]) => from <= seq && seq <= to);
  const range = session.missing[at];
  if (range === undefined) return false;
  const [from, to] = range;
  const rest: [number, number][] = [];
  if (from < seq) rest.push([from, seq - 1]);
  if (seq < to) rest.push([seq + 1, to]);
  session.missing.splice(at, 1, ...rest);
  return true;
}

/** The answer to `session.events.since`: events of the past, to be put before what came after them. */
export function takeReplay(
  session: Session,
  replay: { events: (EventInput & { seq: number })[]; truncated: boolean; at: number | null; order: number },
  world: World,
): void {
  const events = [...replay.events].sort((a, b) => a.seq - b.seq);
  const fresh = events.filter((event, i) => event.seq !== events[i - 1]?.seq && isFresh(session, event.seq));
  const mark = { kind: 'truncated' as const, at: replay.at, order: replay.order };
  if (session.rewind === null) {
    if (replay.truncated) take(session, mark, world);
    for (const event of fresh) takeNumbered(session, event, event.seq, world);
    return;
  }
  const { rewind } = session;
  if (replay.truncated) rewind.entries.splice(placeOf(rewind.entries, events[0]?.seq ?? Infinity), 0, mark);
  for (const event of fresh) {
    if (session.lastSeq === null || event.seq > session.lastSeq) noteNumber(session, event.seq, event.order);
    else takeMissing(session, event.seq);
    insertByNumber(rewind, event);
  }
  rewind.gap = session.missing.length > 0;
  rebuild(session, world);
}

function placeOf(entries: readonly { kind: string; seq?: number | null }[], seq: number): number {
  return entries.findLastIndex((entry) => entry.kind === 'event' && (entry.seq ?? Infinity) < seq) + 1;
}

function isFresh(session: Session, seq: number): boolean {
  if (session.lastSeq === null || seq > session.lastSeq) return true;
  return session.missing.some(([from, to]) => from <= seq && seq <= to);
}

function rebuild(session: Session, world: World): void {
  rerun(session, world);
  if (session.rewind !== null && session.missing.length === 0) session.rewind.gap = false;
  closeRewind(session);
}
