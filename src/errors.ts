/**
 * The closed set of errors that this program raises on purpose. Anything else that is thrown is a bug here (exit 70).
 *
 * - `usage`: an argument, file or setting is wrong (exit 2)
 * - `unchecked`: something could not be looked at, so there is no verdict (exit 3); `finding` names the code of CODES.md
 * - `refused`: we will not change this, and nothing was changed (exit 4); `finding` says why
 * - `rolled-back`: a change failed and everything is as it was (exit 5)
 * - `half-done`: a change failed and could not be undone whole; `journal` names where it stands (exit 6)
 * - `interrupted`: the user or a signal stopped us (exit 130)
 */
export type ErrorKind = 'usage' | 'unchecked' | 'refused' | 'rolled-back' | 'half-done' | 'interrupted';

export interface ErrorDetails {
  /** Finding code of CODES.md, where one fits. */
  finding?: string;
  /** Values for the sentence and for machines. Never a secret. */
  args?: Record<string, string | number | boolean | null>;
  /** What to do now: argv arrays, printed quoted. */
  commands?: string[][];
  /** Folder of the journal, for `half-done`. */
  journal?: string;
  cause?: unknown;
}

/** An error that a person can act on: what happened, where, why; `commands` say what to do. */
export class CompatError extends Error {
  readonly kind: ErrorKind;
  readonly details: ErrorDetails;

  constructor(kind: ErrorKind, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'CompatError';
    this.kind = kind;
    this.details = details;
  }
}

export const usageError = (message: string, details?: ErrorDetails): CompatError =>
  new CompatError('usage', message, details);
