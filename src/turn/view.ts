import { settleUnseen } from './ending.ts';
import type { Session } from './core.ts';
import { referencesOf } from './references.ts';
import type { Slot } from './slots.ts';
import { copyTurnState, partOf, type TurnState } from './state.ts';
import { summaryOf } from './summary.ts';
import type { Part, Turn, TurnPhase } from './types.ts';

interface Cached {
  version: number;
  stored: number;
  index: number;
  phase: TurnPhase;
  turn: Turn;
}

/** Makes the public form of turns; what did not change since the last look is the same object. */
export interface View {
  turn(slot: Slot, index: number, session: Session | null, restoring: boolean): Turn;
  /** The turn as if the recording ended now. */
  ended(slot: Slot, index: number, session: Session | null): Turn;
}

export function createView(): View {
  const cache = new WeakMap<TurnState, Cached>();
  function turn(slot: Slot, index: number, session: Session | null, restoring: boolean): Turn {
    const { state } = slot;
    const phase = phaseOf(state, restoring);
    const stored = session?.stored.length ?? 0;
    const known = cache.get(state);
    if (
      known !== undefined &&
      known.version === state.version &&
      known.stored === stored &&
      known.index === index &&
      known.phase === phase
    ) {
      return known.turn;
    }
    const made = turnOf(slot, state, index, session, phase);
    cache.set(state, { version: state.version, stored, index, phase, turn: made });
    return made;
  }
  return {
    turn,
    ended(slot, index, session) {
      if (slot.state.ending !== null) return turn(slot, index, session, false);
      const state = copyTurnState(slot.state);
      settleUnseen(state, 'end-not-seen', null);
      state.compacted = session?.core.compacted ?? false;
      return turnOf(slot, state, index, session, 'settled');
    },
  };
}

function phaseOf(state: TurnState, restoring: boolean): TurnPhase {
  if (state.ending !== null) return 'settled';
  if (restoring) return 'restoring';
  if (state.questions.length > 0) return 'waiting';
  if (state.idleSeen) return 'degraded';
  return state.started || state.parts.length > 0 || state.open !== null ? 'running' : 'sent';
}

function turnOf(
  slot: Slot,
  state: TurnState,
  index: number,
  session: Session | null,
  phase: TurnPhase,
): Turn {
  const { ending } = state;
  const parts = partsOf(state);
  const last = ending?.outcome === 'completed' ? parts.findLastIndex((part) => part.type === 'text') : -1;
  const answer = parts[last];
  if (answer?.type === 'text') parts[last] = { ...answer, role: 'final' };
  return {
    index,
    session: slot.session,
    stored: [...(session?.stored ?? [])],
    origin: slot.origin,
    prompt: slot.prompt,
    parts,
    final: answer?.type === 'text' ? answer.text : null,
    outcome: ending?.outcome ?? null,
    degraded: state.lacks.size > 0,
    artifacts: [...state.artifacts],
    phase,
    lacks: [...state.lacks],
    evidence: ending?.evidence ?? [],
    confidence: ending?.confidence ?? null,
    activity: [...state.activity],
    summary: ending === null ? null : summaryOf(state, parts),
    references: ending === null ? [] : referencesOf(parts),
    questions: [...state.questions],
    redirects: [...state.redirects],
    compacted: ending === null ? (session?.core.compacted ?? false) : state.compacted,
    startedAt: state.startedAt,
    endedAt: state.endedAt,
  };
}

function partsOf(state: TurnState): Part[] {
  const open = state.open === null ? null : partOf(state.open);
  return open === null ? [...state.parts] : [...state.parts, open];
}
