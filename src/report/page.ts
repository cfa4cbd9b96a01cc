import type { Style } from './style.ts';
import { plain } from './style.ts';

export interface HumanOptions {
  style?: Style;
  /** Every check, every piece of evidence, every remedy, the transport decision. */
  verbose?: boolean;
  /** Columns; 80 unless the terminal says otherwise. */
  width?: number;
}

/** A report while it is being written. */
export interface Page {
  lines: string[];
  /** Commands that were printed already, so that the same fix is not told twice. */
  told: Set<string>;
  style: Style;
  verbose: boolean;
  width: number;
}

export const newPage = (options: HumanOptions): Page => ({
  lines: [],
  told: new Set(),
  style: options.style ?? plain,
  verbose: options.verbose ?? false,
  width: Math.max(40, options.width ?? 80),
});
