/** What goes into the reducer and what comes out. All of it is plain data. */

/**
 * One line of a recording. `in` is engine to client. `conn` names the socket when there is more than one. Lines with `note` are for people.
 * Frames are JSON-RPC messages as they were on the wire; a client may send anything, so `frame` is unknown.
 */
export interface LogRecord {
  t?: number;
  dir: 'in' | 'out' | 'note';
  conn?: string;
  frame?: unknown;
  note?: string;
}

export type Outcome =
  | 'completed'
  | 'cancelled'
  | 'interrupted'
  | 'compression_exhausted'
  | 'tool_limit_reached'
  | 'no_response'
  | 'error';

export type Confidence = 'certain' | 'likely' | 'possible';

/** What an outcome rests on. `sign` names it, `value` is what the engine or the client said. */
export interface Evidence {
  sign:
    | 'message.complete'
    | 'error-event'
    | 'error-code'
    | 'phrase'
    | 'interrupt-sent'
    | 'interrupt-confirmed'
    | 'displaced-by-queued-prompt'
    | 'budget-exhausted'
    | 'nothing-returned'
    | 'empty-text'
    | 'stalled-tool-call'
    | 'idle-when-attached'
    | 'stored-answer'
    | 'stored-error'
    | 'end-not-seen';
  value?: string;
}

/** `settled` has an outcome; the others are states of a turn that has none yet. */
export type TurnPhase = 'sent' | 'running' | 'waiting' | 'restoring' | 'degraded' | 'settled';

export type ToolStatus = 'completed' | 'failed' | 'cancelled' | 'denied' | 'running';

/** When something of a part came first and last, in the recording's milliseconds; null when the recording has no times. */
export interface PartTimes {
  startedAt: number | null;
  endedAt: number | null;
}

export interface ReasoningPart extends PartTimes {
  type: 'reasoning';
  text: string;
}

/** `final` is the answer of a completed turn; all other text is the process that led there. */
export interface TextPart extends PartTimes {
  type: 'text';
  text: string;
  role: 'process' | 'final';
}

/** `context` is the engine's one-line preview. Arguments and result may be shortened (reducer option). */
export interface ToolPart extends PartTimes {
  type: 'tool';
  callId: string;
  name: string;
  status: ToolStatus;
  context: string | null;
  args: unknown;
  result: unknown;
}

export interface ErrorPart {
  type: 'error';
  error: string;
}

export type Part = ReasoningPart | TextPart | ToolPart | ErrorPart;

/** Status lines of the engine: shown beside the turn, never as its text. */
export interface Activity {
  kind: 'compression' | 'retry' | 'limit' | 'failure' | 'process' | 'status';
  text: string;
  at: number | null;
}

/** A question of the engine that a person has to answer before the turn goes on. */
export interface Question {
  kind: string;
  id: string | null;
  text: string;
  callId: string | null;
}

/** What happened above the final answer, in numbers. Only a settled turn has one. */
export interface TurnSummary {
  durationMs: number | null;
  reasoning: number;
  texts: number;
  tools: Record<ToolStatus, number>;
  toolNames: Record<string, number>;
  compressions: number;
  retries: number;
  artifacts: number;
}

/** Why a turn may not be shown as whole. */
export type Lack =
  | 'beginning'
  | 'terminal'
  | 'tool-start'
  | 'tool-end'
  | 'boundary'
  | 'deltas'
  | 'replay-truncated'
  | 'snapshot-differs';

/**
 * One turn as a client shows it. `index` counts turns in the order in which they were sent or started. `session` is the runtime id,
 * `stored` are the stored ids that it was seen with.
 */
export interface Turn {
  index: number;
  session: string;
  stored: readonly string[];
  origin: 'user' | 'engine';
  prompt: string | null;
  parts: readonly Part[];
  final: string | null;
  outcome: Outcome | null;
  degraded: boolean;
  artifacts: readonly string[];
  phase: TurnPhase;
  lacks: readonly Lack[];
  evidence: readonly Evidence[];
  confidence: Confidence | null;
  activity: readonly Activity[];
  summary: TurnSummary | null;
  references: readonly string[];
  questions: readonly Question[];
  redirects: readonly string[];
  compacted: boolean;
  startedAt: number | null;
  endedAt: number | null;
}

export interface Timeline {
  turns: readonly Turn[];
}
