import type { AttachAnswer } from './attach.ts';
import { settleUnseen } from './ending.ts';
import type { Json } from './json.ts';
import type { Slot, SlotList } from './slots.ts';
import type { TurnState } from './state.ts';
import type { ToolOptions } from './tools.ts';
import type { Question } from './types.ts';

/** An event of the gateway, in the shape of its `params`. */
export interface EventInput {
  kind: 'event';
  type: string;
  payload: Json;
  seq: number | null;
  at: number | null;
  order: number;
}

/** Everything that can happen to the turns of one runtime session, in the order in which it counts. */
export type SessionInput =
  | EventInput
  | { kind: 'send'; slot: Slot; at: number | null; order: number }
  | { kind: 'answer'; slot: Slot; at: number | null; order: number }
  | { kind: 'interrupt'; mark: InterruptMark; at: number | null; order: number }
  | { kind: 'interrupt-confirmed'; mark: InterruptMark; at: number | null; order: number }
  | { kind: 'question'; question: Question; at: number | null; order: number }
  | { kind: 'reply'; id: string | null; what: string; denied: boolean; at: number | null; order: number }
  | { kind: 'compacted'; at: number | null; order: number }
  | { kind: 'truncated'; at: number | null; order: number }
  | AttachInput;

export interface AttachInput {
  kind: 'attach';
  answer: AttachAnswer;
  following: readonly string[];
  /** Place of the request: a prompt sent after it is not judged by the answer. */
  requested: number;
  /** No turn of the conversation was seen before: one that runs began without this client. */
  joins: boolean;
  at: number | null;
  order: number;
}

/** The turn that an interrupt was meant for; filled when it is applied. */
export interface InterruptMark {
  target: Slot | null;
}

/** What is running in a session and what waits to run. */
export interface Core {
  current: Slot | null;
  waiting: Slot[];
  compacted: boolean;
  /** The last turn ended with an `error` event, so a terminal frame may still follow for it. */
  errorTail: boolean;
}

export interface Session {
  id: string;
  /** Every stored id that the session was seen with; compaction can change it. */
  stored: string[];
  /** The socket that last submitted or attached; its events without a number count. */
  owner: string;
  core: Core;
  /** Created, attached or submitted to with success: else it is only named by a submit that may be refused. */
  ours: boolean;
  /** Made here, so its numbers begin with 1. */
  created: boolean;
  /** A turn of it was listed at some time. */
  hadTurn: boolean;
  /** Highest number seen, and the ranges below it that were not. */
  lastSeq: number | null;
  missing: [from: number, to: number][];
  rewind: Rewind | null;
}

/**
 * Frames do not always come in the order in which they count: a replay brings numbered events after later ones, and only the answer to a
 * submit tells which turn a `message.start` began. Then the state before the doubtful place is kept, with everything that came since, and
 * the turns are built again from there when more is known.
 */
export interface Rewind {
  order: number;
  core: Core;
  states: [Slot, TurnState][];
  entries: SessionInput[];
  /** Submits whose answer is out. */
  submits: Set<Slot>;
  /** Numbered events may be missing before something that was applied already. */
  gap: boolean;
  /** Turns begun since; a gap that is older than a few turns is not kept open. */
  begun: number;
}

export interface World {
  slots: SlotList;
  options: ToolOptions & { detectCompletionErrors: boolean };
  /** Turns with the same prompt that were sent before this one. */
  earlier(slot: Slot, session: Session): number;
  /** A turn is no longer listed. */
  forget(slot: Slot, session: Session | null): void;
}

export function createSession(id: string, owner: string): Session {
  const core = { current: null, waiting: [], compacted: false, errorTail: false };
  return {
    id,
    stored: [],
    owner,
    core,
    ours: false,
    created: false,
    hadTurn: false,
    lastSeq: null,
    missing: [],
    rewind: null,
  };
}

export function addStored(session: Session, ...ids: (string | null)[]): void {
  for (const id of ids) if (id !== null && id !== '' && !session.stored.includes(id)) session.stored.push(id);
}

/** After a turn has ended: a prompt that waits only because it was sent early is the open turn now. */
export function closeCurrent(core: Core, order: number): void {
  if (core.current === null) return;
  core.current.settledOrder = order;
  core.current.state.compacted = core.compacted;
  core.current = null;
  const next = core.waiting[0];
  if (next !== undefined && next.answer !== 'queued') core.current = core.waiting.shift() ?? null;
}

export function endUnseen(core: Core, place: { at: number | null; order: number }): void {
  if (core.current === null) return;
  settleUnseen(core.current.state, 'end-not-seen', place.at);
  closeCurrent(core, place.order);
}
