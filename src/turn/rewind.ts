import type { Core, EventInput, Rewind, Session, SessionInput, World } from './core.ts';
import { apply } from './session.ts';
import type { Slot } from './slots.ts';
import { copyTurnState } from './state.ts';

/** More than this is not kept for events that may never come. */
const entryLimit = 50_000;
const turnLimit = 3;

export function openRewind(session: Session, order: number): Rewind {
  session.rewind ??= {
    order,
    core: { ...session.core, waiting: [...session.core.waiting] },
    states: openSlots(session.core).map((slot) => [slot, copyTurnState(slot.state)]),
    entries: [],
    submits: new Set(),
    gap: false,
    begun: 0,
  };
  return session.rewind;
}

function openSlots(core: Core): Slot[] {
  return core.current === null ? core.waiting : [core.current, ...core.waiting];
}

/** Applies an input, and keeps it as long as it may have to be applied again. */
export function take(session: Session, input: SessionInput, world: World): void {
  const { rewind } = session;
  if (rewind !== null) {
    rewind.entries.push(input);
    if (input.kind === 'send') rewind.begun += 1;
    closeRewind(session);
  }
  apply(session, input, world);
}

/** Forgets what nothing needs any more. */
export function closeRewind(session: Session): void {
  const { rewind } = session;
  if (rewind === null || rewind.submits.size > 0) return;
  const hopeless = rewind.entries.length > entryLimit || rewind.begun > turnLimit;
  if (hopeless) session.missing = [];
  if (!rewind.gap || hopeless) session.rewind = null;
}

/** Builds the turns again from the kept state. */
export function rerun(session: Session, world: World): void {
  const { rewind } = session;
  if (rewind === null) return;
  for (const slot of world.slots.all().filter((slot) => isOfSession(slot, session, rewind)))
    world.slots.remove(slot);
  session.core = { ...rewind.core, waiting: [...rewind.core.waiting] };
  for (const [slot, state] of rewind.states) {
    slot.state = copyTurnState(state);
    slot.settledOrder = 0;
    world.slots.put(slot);
  }
  for (const input of rewind.entries) apply(session, input, world);
}

/** Turns that began after the kept state: they are made again. */
function isOfSession(slot: Slot, session: Session, rewind: Rewind): boolean {
  return (
    slot.session === session.id &&
    slot.order >= rewind.order &&
    !rewind.states.some(([kept]) => kept === slot)
  );
}

/** Puts a missed event at the place of its number. */
export function insertByNumber(rewind: Rewind, event: EventInput): void {
  const before = rewind.entries.findLastIndex(
    (entry) => entry.kind === 'event' && isBelow(entry.seq, event.seq),
  );
  const order = rewind.entries[before]?.order ?? rewind.order;
  rewind.entries.splice(before + 1, 0, { ...event, order });
}

function isBelow(seq: number | null, other: number | null): boolean {
  return seq !== null && other !== null && seq < other;
}
