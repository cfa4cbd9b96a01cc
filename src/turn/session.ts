import { attachIdle, attachRunning } from './attach.ts';
import {
  closeCurrent,
  endUnseen,
  type AttachInput,
  type Core,
  type Session,
  type SessionInput,
  type World,
} from './core.ts';
import { applyEvent } from './events.ts';
import { answerQuestion, askQuestion } from './questions.ts';
import type { Slot } from './slots.ts';
import { lack, newTurnState, seal } from './state.ts';

/** Applies one input. The same inputs on the same state give the same turns. */
export function apply(session: Session, input: SessionInput, world: World): void {
  const { core } = session;
  switch (input.kind) {
    case 'event':
      return applyEvent(session, input, world);
    case 'send':
      return send(core, input.slot, world, input.at);
    case 'answer':
      return answer(core, input.slot, input, world);
    case 'interrupt':
      input.mark.target = core.current ?? core.waiting[0] ?? null;
      if (input.mark.target !== null) input.mark.target.state.interruptSent = true;
      return;
    case 'interrupt-confirmed':
      if (input.mark.target !== null && input.mark.target.state.ending === null) {
        input.mark.target.state.interruptConfirmed = true;
      }
      return;
    case 'question':
      if (core.current !== null) askQuestion(core.current.state, input.question);
      return;
    case 'reply':
      if (core.current !== null) answerQuestion(core.current.state, input.id, input.what, input.denied);
      return;
    case 'compacted':
      core.compacted = true;
      if (core.current !== null) core.current.state.version += 1;
      return;
    case 'truncated':
      if (core.current !== null) lack(core.current.state, 'replay-truncated');
      return;
    case 'attach':
      return attach(session, input, world);
    default:
      input satisfies never;
  }
}

/** A turn exists from the moment it is sent. What the engine answered later is known already when frames are put in order anew. */
function send(core: Core, slot: Slot, world: World, at: number | null): void {
  slot.state = newTurnState(at);
  if (slot.answer === 'refused' || slot.answer === 'redirected') return;
  world.slots.put(slot);
  if (slot.answer === 'queued') {
    // Without a turn of ours one of the engine runs, or is about to: the next start is not for this prompt.
    if (core.current === null) return;
    core.current.state.displaced = true;
    core.waiting.push(slot);
  } else if (core.current === null) {
    core.current = slot;
  } else {
    core.waiting.push(slot);
  }
}

function answer(core: Core, slot: Slot, place: { at: number | null; order: number }, world: World): void {
  switch (slot.answer) {
    case 'refused':
      return withdraw(core, slot, world);
    case 'redirected':
      withdraw(core, slot, world);
      if (core.current !== null) {
        seal(core.current.state);
        core.current.state.redirects.push(slot.prompt ?? '');
        core.current.state.version += 1;
      }
      return;
    case 'queued':
      if (core.current === slot) core.current = slot.state.started ? slot : null;
      if (core.current !== null && core.current !== slot) core.current.state.displaced = true;
      if (core.current !== slot && slot.state.ending === null && !core.waiting.includes(slot))
        core.waiting.push(slot);
      return;
    case 'streaming':
      if (!core.waiting.includes(slot)) return;
      if (core.current !== null) endUnseen(core, place);
      core.waiting = core.waiting.filter((other) => other !== slot);
      if (core.current !== null && core.current !== slot) core.waiting.unshift(core.current);
      core.current = slot;
      return;
    case null:
      return;
    default:
      slot.answer satisfies never;
  }
}

function withdraw(core: Core, slot: Slot, world: World): void {
  if (core.current === slot) core.current = null;
  core.waiting = core.waiting.filter((other) => other !== slot);
  world.slots.remove(slot);
}

function attach(session: Session, input: AttachInput, world: World): void {
  const { core } = session;
  if (input.answer.running === true) {
    if (input.joins && core.current === null) return join(session, input, world);
    const slot = core.current;
    if (slot !== null && slot.order < input.requested)
      attachRunning(slot.state, input.answer, input.following, input.at);
    return;
  }
  const open = [core.current, ...core.waiting].filter(
    (slot) => slot !== null && slot.order < input.requested,
  );
  for (const slot of open) {
    if (slot === null) continue;
    const prompt = {
      origin: slot.origin,
      text: slot.prompt,
      rowId: slot.rowId,
      earlier: world.earlier(slot, session),
    };
    attachIdle(slot.state, input.answer, prompt, input.at);
    if (slot.state.ending === null) continue;
    core.waiting = core.waiting.filter((other) => other !== slot);
    if (core.current !== slot) core.current = slot;
    closeCurrent(core, input.order);
  }
}

/** A turn that began before this client came: its beginning is only in the answer, which names no tools. */
function join(session: Session, input: AttachInput, world: World): void {
  const { answer, order, at } = input;
  const origin = answer.prompt === null ? ('engine' as const) : ('user' as const);
  const fields = { session: session.id, origin, prompt: answer.prompt, answer: null, rowId: null, order };
  const slot = world.slots.add(fields, at);
  session.core.current = slot;
  lack(slot.state, 'beginning');
  attachRunning(slot.state, answer, input.following, at);
}
