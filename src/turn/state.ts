import type {
  Activity,
  Confidence,
  Evidence,
  Lack,
  Outcome,
  Part,
  Question,
  ReasoningPart,
  TextPart,
  ToolPart,
} from './types.ts';

/** The text or reasoning that is still being streamed. */
interface OpenSegment {
  kind: 'text' | 'reasoning';
  raw: string;
  /** Pieces appended since `raw` was last made flat. */
  pieces: number;
  startedAt: number | null;
  endedAt: number | null;
}

/** How a turn ended. */
export interface Ending {
  outcome: Outcome;
  evidence: Evidence[];
  confidence: Confidence;
}

/** Everything the reducer knows of one turn. Parts are never changed in place, so a copy of the list is a copy of the turn. */
export interface TurnState {
  started: boolean;
  parts: Part[];
  open: OpenSegment | null;
  /** All text deltas that are no longer in `open`, as they were sent. */
  streamed: string;
  /** Call id → place in `parts`. */
  tools: Map<string, number>;
  /** Calls whose end was not seen yet. */
  openTools: Set<string>;
  /** Tool calls announced and not started. */
  announced: number;
  lastStatus: string | null;
  budgetExhausted: boolean;
  interruptSent: boolean;
  interruptConfirmed: boolean;
  displaced: boolean;
  /** The session was said to be idle after this turn had started. */
  idleSeen: boolean;
  /** Attached again, and no tool was seen since. */
  reattached: boolean;
  /** Compaction had been seen in the session when the turn ended. */
  compacted: boolean;
  refused: Set<string>;
  questions: Question[];
  redirects: string[];
  lacks: Set<Lack>;
  artifacts: string[];
  activity: Activity[];
  ending: Ending | null;
  startedAt: number | null;
  endedAt: number | null;
  version: number;
}

export function newTurnState(startedAt: number | null): TurnState {
  return {
    started: false,
    parts: [],
    open: null,
    streamed: '',
    tools: new Map(),
    openTools: new Set(),
    announced: 0,
    lastStatus: null,
    budgetExhausted: false,
    interruptSent: false,
    interruptConfirmed: false,
    displaced: false,
    idleSeen: false,
    reattached: false,
    compacted: false,
    refused: new Set(),
    questions: [],
    redirects: [],
    lacks: new Set(),
    artifacts: [],
    activity: [],
    ending: null,
    startedAt,
    endedAt: null,
    version: 0,
  };
}

export function copyTurnState(state: TurnState): TurnState {
  return {
    ...state,
    parts: [...state.parts],
    open: state.open === null ? null : { ...state.open },
    tools: new Map(state.tools),
    openTools: new Set(state.openTools),
    refused: new Set(state.refused),
    questions: [...state.questions],
    redirects: [...state.redirects],
    lacks: new Set(state.lacks),
    artifacts: [...state.artifacts],
    activity: [...state.activity],
  };
}

/** Appending makes V8 build a tree of pieces; it is made flat now and then, so that memory follows the text and not the number of deltas. */
const flattenAfter = 4096;

/** Adds streamed text; a change between text and reasoning closes what was open. */
export function append(state: TurnState, kind: 'text' | 'reasoning', text: string, at: number | null): void {
  const open = state.open;
  if (open !== null && open.kind === kind) {
    open.raw += text;
    open.endedAt = at;
    open.pieces += 1;
    if (open.pieces >= flattenAfter + (open.raw.length >> 6)) flatten(open);
  } else if (text !== '') {
    seal(state);
    state.open = { kind, raw: text, pieces: 1, startedAt: at, endedAt: at };
  }
  state.version += 1;
}

function flatten(open: OpenSegment): void {
  open.raw.charCodeAt(open.raw.length - 1);
  open.pieces = 0;
}

/** Closes the open segment: a boundary. Segments of white space are dropped. */
export function seal(state: TurnState): void {
  const open = state.open;
  if (open === null) return;
  state.open = null;
  state.version += 1;
  if (open.kind === 'text') state.streamed += open.raw;
  const part = partOf(open);
  if (part !== null) state.parts.push(part);
}

/** The open segment as a part; null while it holds nothing but white space. */
export function partOf(open: OpenSegment): ReasoningPart | TextPart | null {
  const { startedAt, endedAt } = open;
  const text = open.raw.trim();
  if (text === '') return null;
  if (open.kind === 'reasoning') return { type: 'reasoning', text, startedAt, endedAt };
  return { type: 'text', text, role: 'process', startedAt, endedAt };
}

/** All text deltas of the turn so far, as they were sent. */
export function streamedText(state: TurnState): string {
  return state.open?.kind === 'text' ? state.streamed + state.open.raw : state.streamed;
}

export function lack(state: TurnState, what: Lack): void {
  state.lacks.add(what);
  state.version += 1;
}

export function toolOf(state: TurnState, callId: string): ToolPart | null {
  const index = state.tools.get(callId);
  const part = index === undefined ? undefined : state.parts[index];
  return part?.type === 'tool' ? part : null;
}

export function addTool(state: TurnState, tool: ToolPart): void {
  seal(state);
  state.tools.set(tool.callId, state.parts.length);
  state.openTools.add(tool.callId);
  state.parts.push(tool);
  state.version += 1;
}

export function changeTool(state: TurnState, callId: string, change: Partial<ToolPart>): void {
  const index = state.tools.get(callId);
  const tool = toolOf(state, callId);
  if (index === undefined || tool === null) return;
  state.parts[index] = { ...tool, ...change };
  state.version += 1;
}

/** Puts a part before the last one when that is a text, else at the end; the call table follows. */
export function insertBeforeLastText(state: TurnState, part: Part): void {
  const last = state.parts.at(-1);
  state.parts.splice(last?.type === 'text' ? state.parts.length - 1 : state.parts.length, 0, part);
  state.version += 1;
}
