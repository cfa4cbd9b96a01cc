import type { Comparison, Outcome, Turn } from '../turn/index.ts';
import { timelineHtml } from './timeline-html.ts';
import { timelineHuman } from './timeline-human.ts';
import { timelineJson } from './timeline-json.ts';
import { timelineRows } from './timeline-rows.ts';
import type { Style } from './style.ts';

/** What is known only when the recording has ended. */
export interface TimelineEnd {
  turns: number;
  outcomes: ReadonlyMap<Outcome, number>;
  comparison: Comparison | null;
  /** Indexes of the turns that came out differently when the recording was fed twice; null: it was not. */
  changedByTwice: readonly number[] | null;
}

/**
 * Writes timelines piece by piece, so that a long recording needs no more memory than its open turns. One file a format; collected below.
 * `begin` and `end` stand around all recordings, `head` and `foot` around each.
 */
export interface TimelineWriter {
  begin(files: number): string;
  head(name: string, place: number): string;
  turn(turn: Turn, first: boolean): string;
  foot(end: TimelineEnd): string;
  end(): string;
}

export interface TimelineOptions {
  style: Style;
  /** Everything that happened above the final answer. */
  verbose: boolean;
  /** Only what stands at the end. */
  quiet: boolean;
  width: number;
}

const writers: Record<TimelineFormat, (options: TimelineOptions) => TimelineWriter> = {
  human: timelineHuman,
  json: timelineJson,
  rows: timelineRows,
  html: timelineHtml,
};

export const timelineFormats = ['human', 'json', 'rows', 'html'] as const;
export type TimelineFormat = (typeof timelineFormats)[number];

export const timelineWriter = (format: TimelineFormat, options: TimelineOptions): TimelineWriter =>
  writers[format](options);
