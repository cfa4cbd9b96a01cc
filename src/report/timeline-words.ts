import type {
  DifferenceCode,
  Evidence,
  Lack,
  Outcome,
  ToolStatus,
  Turn,
  TurnSummary,
} from '../turn/index.ts';
import { shown } from './shown.ts';
import type { Tone } from './style.ts';

/** The words of a timeline, for every format that people read. */

interface OutcomeWords {
  sign: string;
  tone: Tone;
  /** Stands where the final answer would be. */
  instead: string;
}

export const outcomeWords: Record<Outcome, OutcomeWords> = {
  completed: { sign: '✓', tone: 'good', instead: '' },
  cancelled: { sign: '■', tone: 'dim', instead: 'Stopped before a final answer.' },
  interrupted: { sign: '?', tone: 'unsure', instead: 'Broken off before a final answer.' },
  compression_exhausted: {
    sign: '✗',
    tone: 'bad',
    instead: 'The context could not be made small enough to go on.',
  },
  tool_limit_reached: {
    sign: '!',
    tone: 'warn',
    instead: 'Stopped at the limit of tool calls; no final answer.',
  },
  no_response: { sign: '!', tone: 'warn', instead: 'The model gave no reply.' },
  error: { sign: '✗', tone: 'bad', instead: 'Failed; no final answer.' },
};

export const toolSigns: Record<ToolStatus, [sign: string, tone: Tone]> = {
  completed: ['✓', 'good'],
  failed: ['✗', 'bad'],
  cancelled: ['■', 'dim'],
  denied: ['⊘', 'warn'],
  running: ['…', 'unsure'],
};

const lackWords: Record<Lack, string> = {
  terminal: 'its end',
  'tool-start': 'the start of a tool',
  'tool-end': 'the end of a tool',
  boundary: 'a boundary between texts',
  deltas: 'a part of the stream',
  'replay-truncated': 'what a truncated replay left out',
  beginning: 'what happened before this client came, tools above all',
  'snapshot-differs': 'text that the snapshot holds otherwise',
};

/** What was not seen of a degraded turn. */
export const lacksText = (lacks: readonly Lack[]): string => lacks.map((lack) => lackWords[lack]).join(', ');

const evidenceWords: Record<Evidence['sign'], (value: string) => string> = {
  'message.complete': (value) => `message.complete said ${value}`,
  'error-event': (value) => `an error event came${value === '' ? '' : `: ${value}`}`,
  'error-code': (value) => `the engine's error code is ${value}`,
  phrase: (value) => `the text says so${value === '' ? '' : `: ${value}`}`,
  'interrupt-sent': () => 'the client had sent session.interrupt',
  'interrupt-confirmed': () => 'the engine had confirmed session.interrupt',
  'displaced-by-queued-prompt': () => 'a queued prompt took its place',
  'budget-exhausted': () => 'the engine announced that the iteration budget is exhausted',
  'nothing-returned': (value) =>
    `the last status says that nothing was returned${value === '' ? '' : `: ${value}`}`,
  'empty-text': () => 'the final text is empty',
  'stalled-tool-call': () => 'the stream ended inside a tool call that never started',
  'idle-when-attached': () => 'the session was idle when a client attached again',
  'stored-answer': () => 'the stored rows hold the answer',
  'stored-error': () => 'the stored rows hold the error',
  'end-not-seen': () => 'its end was not seen',
};

export const evidenceText = ({ sign, value }: Evidence): string =>
  evidenceWords[sign](shown(value ?? '', 160));

export const differenceWords: Record<DifferenceCode, string> = {
  'missing-user': 'the prompt has no row of its own',
  'user-text-expanded': 'its row holds more or other text than was sent',
  'redirect-row': 'a prompt that redirected the running turn has a user row of its own',
  'missing-assistant': 'visible text that no row holds',
  'store-shorter': 'the row holds only a piece of the visible text',
  'split-differs': 'same text, cut into parts differently',
  'live-incomplete': 'the store holds text of the turn that the client never saw',
  'extra-assistant-row': 'an engine-made or empty answer row, or an answer nobody saw',
  'extra-control-row': 'a control prompt of the engine is stored as a user row',
  'reasoning-differs': 'the reasoning is not the same',
  'missing-tool-rows': 'tool calls that were only seen live',
  'extra-tool-rows': 'tool calls that are only stored',
  'dangling-tool-call': 'a stored call without a stored result',
  'truncated-result': 'a stored tool result was replaced by a note',
  'rewritten-by-compaction': 'its rows were folded into a summary',
  'ids-rotated': 'compaction moved the conversation to another stored id',
  'order-differs': 'the stored turns stand in another order',
  'unseen-turn': 'a stored turn that is not in the recording',
};

/** `2 tools (terminal ×2, 1 failed), 3 thoughts, 1 compression` */
export function summaryText(summary: TurnSummary): string {
  const names = Object.entries(summary.toolNames).map(([name, n]) =>
    n > 1 ? `${shown(name, 40)} ×${n}` : shown(name, 40),
  );
  const total = Object.values(summary.tools).reduce((sum, n) => sum + n, 0);
  const other = (['failed', 'denied', 'cancelled', 'running'] as const)
    .filter((status) => summary.tools[status] > 0)
    .map((status) => `${summary.tools[status]} ${status === 'running' ? 'not ended' : status}`);
  const named = names.length > 4 ? [...names.slice(0, 4), `${names.length - 4} more kinds`] : names;
  return [
    total === 0 ? '' : `${count(total, 'tool')} (${[...named, ...other].join(', ')})`,
    summary.reasoning === 0 ? '' : count(summary.reasoning, 'thought'),
    summary.compressions === 0 ? '' : count(summary.compressions, 'compression'),
    summary.retries === 0 ? '' : `${summary.retries} ${summary.retries === 1 ? 'retry' : 'retries'}`,
  ]
    .filter((text) => text !== '')
    .join(', ');
}

export const count = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`;

/** `65 ms`, `1.2 s`, `3 min 20 s` */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 100) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** `2 completed, 1 error`, in the order of the outcomes. */
export function outcomesText(outcomes: ReadonlyMap<Outcome, number>): string {
  return Object.keys(outcomeWords)
    .flatMap((word) => {
      const n = outcomes.get(word as Outcome) ?? 0;
      return n === 0 ? [] : [`${n} ${word}`];
    })
    .join(', ');
}

/** A turn without a submit in the recording may be the engine's own or another client's: the frames do not tell. */
export const promptText = (turn: Turn): string =>
  turn.origin === 'engine' ? '(not sent here)' : (turn.prompt ?? '(no text)');
