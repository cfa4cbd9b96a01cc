import type { CompatError, ErrorKind } from '../errors.ts';

/** The published table (docs/exit-codes in `--help`): the only file that maps outcomes to numbers. */
export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 10 | 70 | 130;

const ofError: Record<ErrorKind, ExitCode> = {
  usage: 2,
  unchecked: 3,
  refused: 4,
  'rolled-back': 5,
  'half-done': 6,
  interrupted: 130,
};

export const exitCodeOfError = (error: CompatError): ExitCode => ofError[error.kind];

const precedence: readonly ExitCode[] = [70, 130, 6, 5, 4, 1, 3, 2, 10, 0];

/** Of several targets: the first of 70, 130, 6, 5, 4, 1, 3, 2, 10, 0 that occurred. */
export const worstExitCode = (codes: readonly ExitCode[]): ExitCode =>
  precedence.find((code) => codes.includes(code)) ?? 0;

export const exitCodeHelp = `
Exit codes:
  0  compatible, or nothing to do
  1  needs a remedy, or incompatible (with --fail-on warn also a warning)
  2  usage or configuration error
  3  unknown: could not be checked
  4  refused to change anything (drift, conflict, lock, read-only, no consent)
  5  a change failed and was rolled back
  6  a change failed and could not be rolled back whole; the journal is named
  10 changes are pending (--detailed-exitcode)
  70 a bug in hermes-compat, or its output cannot be written
  130 interrupted
`;
